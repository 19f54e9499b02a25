/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/lockholder.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

enum how { NO_LOCK, FLOCK, FLOCK_SHARED, FCNTL, FCNTL_RANGE, FCNTL_READ, OPEN_FILE };

static int take(int fd, enum how how)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	switch (how) {
	case NO_LOCK:
		return 0;
	case FLOCK:
		return flock(fd, LOCK_EX);
	case FLOCK_SHARED:
		return flock(fd, LOCK_SH);
	case FCNTL_RANGE: /* dpkg locks the whole file, others a byte far out */
		lock.l_start = 1 << 30;
		lock.l_len = 1;
		return fcntl(fd, F_SETLK, &lock);
	case FCNTL_READ:
		lock.l_type = F_RDLCK;
		return fcntl(fd, F_SETLK, &lock);
	case FCNTL:
		return fcntl(fd, F_SETLK, &lock);
	case OPEN_FILE:
		return fcntl(fd, F_OFD_SETLK, &lock);
	}
	return -1;
}

/* A child that has the file open and holds the lock; returns when it does. */
static pid_t start_holder(int dir, enum how how)
{
	int ready[2];
	char byte;
	pid_t child;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		int fd = openat(dir, "file", O_RDWR);

		(void)prctl(PR_SET_NAME, "lock keeper");
		if (fd < 0 || take(fd, how) < 0 || write(ready[1], "", 1) != 1) {
			_exit(1);
		}
		pause();
		_exit(0);
	}
	(void)close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1, "the child has no lock");
	(void)close(ready[0]);
	return child;
}

static const struct {
	const char *name;
	enum how how;
	bool held;
	const char *word;
} rows[] = {
	{ "open, not locked", NO_LOCK, false, NULL },
	{ "flock", FLOCK, true, "flock" },
	{ "shared flock", FLOCK_SHARED, true, "flock" },
	{ "fcntl", FCNTL, true, "fcntl" },
	{ "fcntl of one byte", FCNTL_RANGE, true, "fcntl" },
	{ "fcntl for reading", FCNTL_READ, true, "fcntl" },
	{ "lock of an open file", OPEN_FILE, true, "fcntl" },
};
CASES(lockholder, find, rows)
{
	SCRATCH(s);
	CLEANUP_CLOSE int made = openat(s.fd, "file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	CLEANUP_CLOSE int fd = openat(s.fd, "file", O_RDONLY | O_CLOEXEC);
	struct ctm_lockholder who = { .pid = -7 };
	bool held = !rows[*i].held;
	pid_t child = start_holder(s.fd, rows[*i].how);

	cr_assert_eq(ctm_lockholder_find(fd, &held, &who), 0, "%s", rows[*i].name);
	cr_assert_eq(held, rows[*i].held, "%s", rows[*i].name);
	if (held) {
		cr_assert_eq(who.pid, child, "%s: %d", rows[*i].name, (int)who.pid);
		cr_assert_str_eq(who.name, "lock keeper", "%s", rows[*i].name);
		cr_assert_str_eq(who.how, rows[*i].word, "%s", rows[*i].name);
	} else {
		cr_assert_eq(who.pid, -7, "%s: result written", rows[*i].name);
	}
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_eq(ctm_lockholder_find(fd, &held, &who), 0);
	cr_assert(!held, "%s: it ended with its holder", rows[*i].name);
	cr_assert_eq(flock(made, LOCK_EX | LOCK_NB), 0, "%s: the question left a lock",
		     rows[*i].name);
}
