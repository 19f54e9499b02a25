/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/procs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"

static pid_t start_child(void)
{
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	return child;
}

static void end_child(pid_t child)
{
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(procs, parents)
{
	pid_t child = start_child();
	pid_t parent = 0;

	cr_assert_eq(ctm_procs_parent(getpid(), &parent), 0);
	cr_assert_eq(parent, getppid());
	cr_assert_eq(ctm_procs_parent(child, &parent), 0);
	cr_assert_eq(parent, getpid());
	cr_assert(ctm_procs_is_ancestor(getppid()));
	cr_assert(ctm_procs_is_ancestor(1));
	cr_assert(!ctm_procs_is_ancestor(child), "a child");
	cr_assert(!ctm_procs_is_ancestor(getpid()), "ourselves");
	cr_assert(!ctm_procs_is_ancestor(0));
	cr_assert(!ctm_procs_is_ancestor(-1));
	end_child(child);
	cr_assert_eq(ctm_procs_parent(child, &parent), -ESRCH);
}

/*
 * A process may call itself anything, also what looks like the end of the name in /proc/PID/stat.
 */
static const struct {
	const char *comm;
	const char *shown;
} names[] = {
	{ "bash", "bash" },        { "a) R 1 (b", "a) R 1 (b" }, { "x\ny", "x\\ny" },
	{ "\033[1m", "\\x1b[1m" }, { "end ", "end\\x20" },
};
CASES(procs, names, names)
{
	char shown[CTM_PROC_NAME];
	pid_t parent = 0;

	cr_assert_eq(prctl(PR_SET_NAME, names[*i].comm), 0);
	ctm_procs_name(getpid(), shown);
	cr_assert_str_eq(shown, names[*i].shown);
	cr_assert_eq(ctm_procs_parent(getpid(), &parent), 0);
	cr_assert_eq(parent, getppid(), "%s", names[*i].shown);
}

Test(procs, the_name_of_nobody)
{
	char shown[CTM_PROC_NAME];
	pid_t child = start_child();

	end_child(child);
	ctm_procs_name(child, shown);
	cr_assert_str_eq(shown, "?");
}

static int find(pid_t pid, void *arg)
{
	return pid == *(const pid_t *)arg ? 42 : 0;
}

static int count(pid_t pid, void *arg)
{
	(void)pid;
	++*(unsigned int *)arg;
	return 0;
}

Test(procs, each)
{
	pid_t child = start_child();
	unsigned int n = 0;

	cr_assert_eq(ctm_procs_each(find, &child), 42);
	cr_assert_eq(ctm_procs_each(count, &n), 0);
	cr_assert_geq(n, 2);
	end_child(child);
	cr_assert_eq(ctm_procs_each(find, &child), 0);
}
