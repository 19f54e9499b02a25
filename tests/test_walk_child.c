/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that reads the tree: what it has of its parent, how both end, and a tree that changes
 * under it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scan/scan.h"
#include "scan/spare_id.h"
#include "scratch.h"
#include "walking.h"

/* Far more than a pipe holds, so that the process waits for us. */
#define DIRS  100
#define FILES 80

static void plant_many(const struct scratch *s)
{
	char pad[200];

	memset(pad, 'n', sizeof(pad));
	for (int d = 0; d < DIRS; d++) {
		char name[256];

		(void)snprintf(name, sizeof(name), "tree/d%d", d);
		plant(s->path, name, NULL);
		for (int f = 0; f < FILES; f++) {
			int fd;

			(void)snprintf(name, sizeof(name), "tree/d%d/%.*s-%d", d, (int)sizeof(pad),
				       pad, f);
			fd = openat(s->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
			cr_assert_geq(fd, 0);
			cr_assert_eq(close(fd), 0);
		}
	}
}

static const struct ctm_scan_request all_of_it = { .want_all = true, .jobs = 1 };

/* The only child of this process. */
static pid_t find_child(void)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[64];
	int pid = 0;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	cr_assert_not_null(f, "%s", path);
	cr_assert_eq(fscanf(f, "%d", &pid), 1);
	return pid;
}

static bool has_children(void)
{
	return !(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* --- how it ends ------------------------------------------------------------------------------ */

static int stop_at_ten(const struct ctm_fact *fact, void *arg)
{
	int *n = arg;

	(void)fact;
	return ++*n == 10 ? -ECANCELED : 0;
}

Test(walk_child, we_stop_it)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	struct ctm_err err = { 0 };
	int n = 0;

	plant_many(&s);
	cr_assert_eq(walk_dir_with(s.path, &all_of_it, &got, stop_at_ten, &n, &err), -ECANCELED);
	cr_assert_eq(n, 10);
	cr_assert_eq(got.totals.entries, 0, "no totals of a walk that did not end");
	cr_assert_not(has_children());
}

static int ask(void *arg, struct ctm_err *err)
{
	(void)err;
	return *(const int *)arg;
}

static const struct {
	const char *name;
	int answer, r;
} answers[] = {
	{ "an error", -EDEADLK, -EDEADLK },
	{ "a one", 1, -ECANCELED },
	{ "a large one", 4096, -ECANCELED },
};

CASES(walk_child, the_caller_is_asked, answers)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	struct ctm_scan_request req = all_of_it;
	struct ctm_err err = { 0 };
	int answer = answers[*i].answer;

	plant_many(&s);
	req.interrupt = ask;
	req.interrupt_arg = &answer;
	cr_assert_eq(walk_dir_with(s.path, &req, &got, NULL, NULL, &err), answers[*i].r, "%s",
		     answers[*i].name);
	cr_assert_eq(got.totals.entries, 0, "%s", answers[*i].name);
	cr_assert_not(has_children(), "%s", answers[*i].name);
}

static int kill_it(const struct ctm_fact *fact, void *arg)
{
	int *signal_number = arg;

	(void)fact;
	if (*signal_number) {
		cr_assert_eq(kill(find_child(), *signal_number), 0);
		*signal_number = 0;
	}
	return 0;
}

static const struct {
	const char *name;
	int number;
	const char *msg;
} signals[] = {
	{ "kill", SIGKILL, "killed by signal 9" },
	{ "terminate", SIGTERM, "killed by signal 15" },
	{ "processor time", SIGXCPU, "took more processor time" },
};

CASES(walk_child, somebody_kills_it, signals)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	struct ctm_err err = { 0 };
	int number = signals[*i].number;

	plant_many(&s);
	cr_assert_eq(walk_dir_with(s.path, &all_of_it, &got, kill_it, &number, &err), -EIO, "%s",
		     signals[*i].name);
	cr_assert_not_null(strstr(err.msg, signals[*i].msg), "%s: %s", signals[*i].name, err.msg);
	cr_assert_not(has_children(), "%s", signals[*i].name);
}

Test(walk_child, somebody_stops_it, .timeout = 30)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	struct ctm_err err = { 0 };
	int number = SIGSTOP;

	plant_many(&s);
	cr_assert_eq(walk_dir_with(s.path, &all_of_it, &got, kill_it, &number, &err), -ETIME);
	cr_assert_not_null(strstr(err.msg, "is stopped"), "%s", err.msg);
	cr_assert_not(has_children());
}

/* Longer than one look at it, and shorter than two. */
static int stop_it_for_a_while(const struct ctm_fact *fact, void *arg)
{
	bool *done = arg;
	pid_t pid = find_child();

	(void)fact;
	if (!*done) {
		cr_assert_eq(kill(pid, SIGSTOP), 0);
		if (fork() == 0) {
			(void)usleep(2500000);
			(void)kill(pid, SIGCONT);
			_exit(0);
		}
		*done = true;
	}
	return 0;
}

Test(walk_child, somebody_lets_it_go_on, .timeout = 30)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	bool done = false;

	plant_many(&s);
	cr_assert_eq(walk_dir_with(s.path, &all_of_it, &got, stop_it_for_a_while, &done, NULL), 0);
	cr_assert_eq(got.totals.entries, DIRS * (FILES + 1) + 2);
}

/* Ctrl-C reaches both; what becomes of the walk is ours to decide. */
static int interrupt_it(const struct ctm_fact *fact, void *arg)
{
	bool *done = arg;

	(void)fact;
	if (!*done) {
		cr_assert_eq(kill(find_child(), SIGINT), 0);
		*done = true;
	}
	return 0;
}

Test(walk_child, ctrl_c_is_not_its_business)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	bool done = false;

	plant_many(&s);
	cr_assert_eq(walk_dir_with(s.path, &all_of_it, &got, interrupt_it, &done, NULL), 0);
	cr_assert_eq(got.totals.entries, DIRS * (FILES + 1) + 2);
}

static int tell_child(const struct ctm_fact *fact, void *arg)
{
	const int *fd = arg;
	pid_t pid = find_child();

	(void)fact;
	cr_assert_eq(write(*fd, &pid, sizeof(pid)), (ssize_t)sizeof(pid));
	(void)pause();
	return 0;
}

Test(walk_child, it_does_not_outlive_us, .timeout = 30)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	int fd[2], status;
	pid_t us, child;

	plant_many(&s);
	cr_assert_eq(pipe2(fd, O_CLOEXEC), 0);
	/* The orphan comes to us. */
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	us = fork();
	if (us == 0) {
		(void)walk_dir_with(s.path, &all_of_it, &got, tell_child, &fd[1], NULL);
		_exit(0);
	}
	cr_assert_eq(read(fd[0], &child, sizeof(child)), (ssize_t)sizeof(child));
	cr_assert_eq(kill(us, SIGKILL), 0);
	cr_assert_eq(waitpid(us, NULL, 0), us);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

Test(walk_child, nobody_waits_for_children)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);

	plant(s.path, "file", "x");
	cr_assert_neq(signal(SIGCHLD, SIG_IGN), SIG_ERR);
	cr_assert_eq(walk_dir(s.path, &all_of_it, &got), 0);
	cr_assert_eq(got.n, 2);
}

/* --- what it has ------------------------------------------------------------------------------ */

static int look_at_fds(const struct ctm_fact *fact, void *arg)
{
	const char *root = arg;
	char dir[64], link[PATH_MAX];
	DIR *d;
	const struct dirent *entry;

	(void)fact;
	(void)snprintf(dir, sizeof(dir), "/proc/%d/fd", find_child());
	d = opendir(dir);
	if (!d) {
		/* It cannot be looked into (PR_SET_DUMPABLE) without privileges. */
		cr_assert_neq(geteuid(), 0);
		return -ECANCELED;
	}
	while ((entry = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), entry->d_name, link, sizeof(link) - 1);

		if (n < 0) {
			continue;
		}
		link[n] = '\0';
		cr_assert(strncmp(link, root, strlen(root)) == 0 || strncmp(link, "pipe:", 5) == 0,
			  "descriptor %s: %s", entry->d_name, link);
	}
	cr_assert_eq(closedir(d), 0);
	return -ECANCELED;
}

Test(walk_child, has_the_root_and_the_pipe)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	/* Not close-on-exec, and some numbers apart. */
	int secret = open("/etc/passwd", O_RDONLY);
	int other = fcntl(secret, F_DUPFD, 200);

	cr_assert(secret >= 0 && other >= 200);
	plant_many(&s);
	cr_assert_eq(walk_dir_with(s.path, &all_of_it, &got, look_at_fds, s.path, NULL),
		     -ECANCELED);
}

/* What /proc/PID/status must say of a walk that root started. */
static const char *const confined[] = {
	"\nGroups:\t \n",
	"\nCapInh:\t0000000000000000\n",
	"\nCapPrm:\t0000000000000004\n", /* 1 << CAP_DAC_READ_SEARCH */
	"\nCapEff:\t0000000000000004\n",
	"\nCapBnd:\t0000000000000000\n",
	"\nCapAmb:\t0000000000000000\n",
	"\nNoNewPrivs:\t1\n",
	"\nSeccomp:\t2\n",
};

/* All four of them, and of no other process when it was chosen. */
static void check_ids(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned int id[4];

	cr_assert(at &&
		  sscanf(at + strlen(key), "%u %u %u %u", &id[0], &id[1], &id[2], &id[3]) == 4);
	cr_assert(id[0] >= CTM_SPARE_FIRST && id[0] <= CTM_SPARE_LAST, "%s %u", key, id[0]);
	cr_assert(id[1] == id[0] && id[2] == id[0] && id[3] == id[0]);
}

static int count_entries(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *entry;
	int n = 0;

	cr_assert_not_null(d);
	while ((entry = readdir(d))) {
		n += entry->d_name[0] != '.';
	}
	cr_assert_eq(closedir(d), 0);
	return n;
}

#define THREADS 3

/* Of every thread. On a busy machine the first one speaks before the last one is there. */
static int look_at_status(const struct ctm_fact *fact, void *arg)
{
	int *n_threads = arg;
	const pid_t pid = find_child();
	char dir[64], path[PATH_MAX], text[8192];
	const struct dirent *entry;
	DIR *d;

	(void)fact;
	(void)snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	for (int i = 0; i < 1000 && count_entries(dir) < THREADS; i++) {
		(void)usleep(10000);
	}
	d = opendir(dir);
	cr_assert_not_null(d);
	while ((entry = readdir(d))) {
		CLEANUP_FCLOSE FILE *f = NULL;

		if (entry->d_name[0] == '.') {
			continue;
		}
		(void)snprintf(path, sizeof(path), "%s/%s/status", dir, entry->d_name);
		f = fopen(path, "re");
		cr_assert_not_null(f, "%s", path);
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		check_ids(text, "\nUid:");
		check_ids(text, "\nGid:");
		for (size_t i = 0; i < ARRAY_LEN(confined); i++) {
			cr_assert_not_null(strstr(text, confined[i]), "%s has not%s", path,
					   confined[i]);
		}
		(*n_threads)++;
	}
	cr_assert_eq(closedir(d), 0);
	return -ECANCELED;
}

Test(walk_child, is_somebody_else)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	struct ctm_scan_request req = all_of_it;
	int n = 0;

	if (geteuid() != 0) {
		cr_skip("only root can become somebody else");
	}
	req.jobs = THREADS;
	plant_many(&s);
	cr_assert_eq(walk_dir_with(s.path, &req, &got, look_at_status, &n, NULL), -ECANCELED);
	cr_assert_eq(n, THREADS);
}

Test(walk_child, low_descriptors_are_free)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	int saved[3];

	plant(s.path, "file", "x");
	for (int fd = 0; fd < 3; fd++) {
		saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		cr_assert_geq(saved[fd], 10);
		cr_assert_eq(close(fd), 0);
	}
	cr_assert_eq(walk_dir(s.path, &all_of_it, &got), 0);
	for (int fd = 0; fd < 3; fd++) {
		cr_assert_eq(dup2(saved[fd], fd), fd);
	}
	cr_assert_eq(got.n, 2);
}

/* --- a tree that changes ---------------------------------------------------------------------- */

enum change { REMOVED, LINK, FILE_INSTEAD, OTHER_DIRECTORY };

struct changing {
	const struct scratch *s;
	enum change change;
	bool done;
};

/*
 * The process waits with a full pipe in one of the first directories; something happens to all of
 * them, seen or not.
 */
static int change_all(const struct ctm_fact *fact, void *arg)
{
	struct changing *c = arg;

	(void)fact;
	for (int d = 0; d < DIRS && !c->done; d++) {
		char name[64], away[64];

		(void)snprintf(name, sizeof(name), "tree/d%d", d);
		(void)snprintf(away, sizeof(away), "away/d%d", d);
		cr_assert_eq(renameat(c->s->fd, name, c->s->fd, away), 0);
		switch (c->change) {
		case REMOVED:
			break;
		case LINK:
			cr_assert_eq(symlinkat("../secret", c->s->fd, name), 0);
			break;
		case FILE_INSTEAD:
			plant(c->s->path, name, "x");
			break;
		case OTHER_DIRECTORY:
			plant(c->s->path, name, NULL);
			(void)snprintf(name, sizeof(name), "tree/d%d/planted", d);
			plant(c->s->path, name, "x");
			break;
		}
	}
	c->done = true;
	return 0;
}

static const struct {
	const char *name;
	enum change change;
	int err; /* of those that were not seen yet */
} changes[] = {
	{ "moved away", REMOVED, 0 },
	{ "a link in its place", LINK, ENOTDIR },
	{ "a file in its place", FILE_INSTEAD, ENOTDIR },
	{ "another directory in its place", OTHER_DIRECTORY, ESTALE },
};

CASES(walk_child, waiting_directories_change, changes)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	struct changing c = { .s = &s, .change = changes[*i].change };
	const char *const start = "tree";
	struct ctm_scan_request req = all_of_it;
	size_t errors = 0, dirs = 0;

	plant_many(&s);
	plant(s.path, "away", NULL);
	plant(s.path, "secret/planted", "x");
	req.starts = &start;
	req.n_starts = 1;
	cr_assert_eq(walk_dir_with(s.path, &req, &got, change_all, &c, NULL), 0, "%s",
		     changes[*i].name);
	for (size_t k = 0; k < got.n; k++) {
		const struct seen *seen = &got.v[k];

		cr_assert_null(strstr(seen->path, "planted"), "%s: %s", changes[*i].name,
			       seen->path);
		dirs += S_ISDIR(seen->st.st_mode);
		if (seen->kind == CTM_FACT_ERROR) {
			cr_assert_eq(seen->err, changes[*i].err, "%s: %s", changes[*i].name,
				     seen->path);
			cr_assert_str_eq(seen->op, "open");
			errors++;
		}
	}
	cr_assert_eq(dirs, DIRS + 1, "%s: all were seen by name", changes[*i].name);
	cr_assert_lt(got.totals.entries, DIRS * (FILES + 1) + 1, "%s: not all were entered",
		     changes[*i].name);
	cr_assert_eq(got.totals.errors, errors, "%s", changes[*i].name);
	cr_assert(changes[*i].err == 0 ? errors == 0 : errors > 0, "%s: %zu errors",
		  changes[*i].name, errors);
}

/* Another process exchanges directories, links and files all the time. */
static void churn(const struct scratch *s)
{
	int r = 0;

	for (unsigned int k = 0; r <= 0; k++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "tree/d%u", k / 4 % 8);
		switch (k % 4) {
		case 0:
			r = renameat(s->fd, name, s->fd, "away/x");
			break;
		case 1:
			r = symlinkat("../secret", s->fd, name);
			break;
		case 2:
			r = unlinkat(s->fd, name, 0);
			break;
		default:
			r = renameat(s->fd, "away/x", s->fd, name);
			break;
		}
	}
}

Test(walk_child, a_restless_tree)
{
	in_memory();
	SCRATCH(s);
	pid_t pid;

	for (int d = 0; d < 8; d++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "tree/d%d/sub/file", d);
		plant(s.path, name, "x");
	}
	plant(s.path, "away", NULL);
	plant(s.path, "secret/planted", "x");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		churn(&s);
	}
	for (int round = 0; round < 100; round++) {
		SIGHT(got);
		const char *const start = "tree";
		const struct ctm_scan_request req = {
			.want_all = true, .jobs = 2, .starts = &start, .n_starts = 1
		};

		cr_assert_eq(walk_dir(s.path, &req, &got), 0);
		for (size_t k = 0; k < got.n; k++) {
			const int err = got.v[k].err;

			cr_assert_null(strstr(got.v[k].path, "planted"), "%s", got.v[k].path);
			cr_assert(err == 0 || err == ELOOP || err == ESTALE || err == ENOTDIR,
				  "%s: %s", got.v[k].path, strerror(err));
		}
	}
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}
