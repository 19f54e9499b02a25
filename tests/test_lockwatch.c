/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/lockwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

/* Looks until it has been at it for so long or the answer is other than 0; returns that. */
static int look_for(struct ctm_lockwatch *watch, double seconds, struct ctm_err *err)
{
	const struct timespec step = { .tv_nsec = 20 * 1000000L };
	int r = 0;

	for (double at = 0; r == 0 && at < seconds; at += 0.02) {
		r = ctm_lockwatch_look(watch, err);
		(void)nanosleep(&step, NULL);
	}
	return r;
}

static pid_t start(int dir, bool polls)
{
	const struct timespec step = { .tv_nsec = 10 * 1000000L };
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0) {
		int fd = openat(dir, "lock", O_RDWR);

		while (flock(fd, LOCK_EX | (polls ? LOCK_NB : 0)) < 0) {
			(void)nanosleep(&step, NULL);
		}
		_exit(0);
	}
	return child;
}

static void end(pid_t child)
{
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
}

static const struct {
	const char *name;
	bool waits;
	bool polls;
	double seconds; /* that are looked */
	int want;
} rows[] = {
	{ "nobody", false, false, 1, 0 },
	{ "one who polls", true, true, 4.5, 0 },
	{ "one who waits, at first", true, false, 2, 0 },
	{ "one who waits", true, false, 8, -CTM_LOCKWATCH_YIELD },
};
CASES(lockwatch, look, rows)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = openat(s.fd, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	struct ctm_lockwatch watch;
	struct ctm_err err = { 0 };
	char want[64] = "";
	pid_t child = 0;

	cr_assert_eq(flock(fd, LOCK_EX), 0);
	ctm_lockwatch_begin(&watch, fd);
	cr_assert(watch.on);
	if (rows[*i].waits) {
		child = start(s.fd, rows[*i].polls);
	}
	cr_assert_eq(look_for(&watch, rows[*i].seconds, &err), rows[*i].want, "%s: %s",
		     rows[*i].name, err.msg);
	if (rows[*i].want < 0) {
		(void)snprintf(want, sizeof(want), "process %d (", (int)child);
		cr_assert_eq(strncmp(err.msg, want, strlen(want)), 0, "%s", err.msg);
		cr_assert_eq(err.code, CTM_SYS);
		cr_assert_eq(err.num, CTM_LOCKWATCH_YIELD);
	}
	if (child > 0) {
		end(child);
	}
	ctm_lockwatch_end(&watch);
	cr_assert_eq(ctm_lockwatch_look(&watch, &err), 0, "nothing is held any more");
}

Test(lockwatch, no_lock_no_watch)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = openat(s.fd, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	struct ctm_lockwatch watch;

	ctm_lockwatch_begin(&watch, fd);
	cr_assert(!watch.on);
}
