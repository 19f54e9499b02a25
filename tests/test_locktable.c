/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/locktable.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

static const struct {
	const char *name;
	const char *line;
	bool ok;
	struct ctm_lock_row want;
} rows[] = {
	{ "flock",
	  "1: FLOCK  ADVISORY  WRITE 4711 00:18:1234 0 EOF",
	  true,
	  { CTM_LOCK_FLOCK, false, 4711, 0x18, 1234 } },
	{ "a waiter",
	  "1: -> FLOCK  ADVISORY  WRITE 4712 00:18:1234 0 EOF",
	  true,
	  { CTM_LOCK_FLOCK, true, 4712, 0x18, 1234 } },
	{ "a waiter's waiter",
	  "1:    -> FLOCK  ADVISORY  WRITE 4713 00:18:1234 0 EOF",
	  true,
	  { CTM_LOCK_FLOCK, true, 4713, 0x18, 1234 } },
	{ "fcntl, a range",
	  "17: POSIX  ADVISORY  READ  1 00:18:1 128 511",
	  true,
	  { CTM_LOCK_POSIX, false, 1, 0x18, 1 } },
	{ "an open file's",
	  "3: OFDLCK ADVISORY  READ  -1 00:06:1028 0 EOF",
	  true,
	  { CTM_LOCK_OFD, false, -1, 0x06, 1028 } },
	{ "a lease",
	  "4: LEASE  ACTIVE    READ  88 00:18:5 0 EOF",
	  true,
	  { CTM_LOCK_OTHER, false, 88, 0x18, 5 } },
	{ "a large inode",
	  "4: FLOCK  ADVISORY  READ  88 00:18:18446744073709551615 0 EOF",
	  true,
	  { CTM_LOCK_FLOCK, false, 88, 0x18, UINT64_MAX } },
	{ "no file", "5: FLOCK  ADVISORY  WRITE 88 <none>:0 0 EOF", false, { 0 } },
	{ "cut off", "5: FLOCK  ADVISORY  WRITE 88 00:18", false, { 0 } },
	{ "no number", "FLOCK  ADVISORY  WRITE 88 00:18:5 0 EOF", false, { 0 } },
	{ "empty", "", false, { 0 } },
};
CASES(locktable, row, rows)
{
	struct ctm_lock_row got = { 0 };
	bool ok = ctm_lock_row_parse(rows[*i].line, strlen(rows[*i].line), &got);

	cr_assert_eq(ok, rows[*i].ok, "%s", rows[*i].name);
	if (ok) {
		cr_assert_eq(got.kind, rows[*i].want.kind, "%s", rows[*i].name);
		cr_assert_eq(got.waits, rows[*i].want.waits, "%s", rows[*i].name);
		cr_assert_eq(got.pid, rows[*i].want.pid, "%s", rows[*i].name);
		cr_assert_eq(got.dev, rows[*i].want.dev, "%s", rows[*i].name);
		cr_assert_eq(got.ino, rows[*i].want.ino, "%s", rows[*i].name);
	}
}

#define HELD  "1: FLOCK  ADVISORY  WRITE 4711 00:18:1234 0 EOF\n"
#define OTHER "2: FLOCK  ADVISORY  WRITE 99 00:18:1235 0 EOF\n"

static const struct {
	const char *name;
	const char *text;
	pid_t want; /* 0: nobody */
} waiters[] = {
	{ "an empty table", "", 0 },
	{ "nobody", HELD OTHER, 0 },
	{ "one", HELD "1: -> FLOCK  ADVISORY  WRITE 50 00:18:1234 0 EOF\n" OTHER, 50 },
	{ "the first of two",
	  HELD "1: -> FLOCK  ADVISORY  READ  50 00:18:1234 0 EOF\n"
	       "1: -> FLOCK  ADVISORY  WRITE 51 00:18:1234 0 EOF\n",
	  50 },
	{ "for another file", HELD OTHER "2: -> FLOCK  ADVISORY  WRITE 51 00:18:1235 0 EOF\n", 0 },
	{ "on another device", HELD "3: -> FLOCK  ADVISORY  WRITE 51 00:19:1234 0 EOF\n", 0 },
	{ "for a lock of the other kind", HELD "3: -> POSIX  ADVISORY  WRITE 51 00:18:1234 0 EOF\n",
	  0 },
	{ "the last row without its end", HELD "1: -> FLOCK  ADVISORY  WRITE 50 00:18:1234 0 EOF",
	  50 },
};
CASES(locktable, waiter, waiters)
{
	const struct ctm_lock_row file = { .dev = makedev(0, 0x18), .ino = 1234 };
	const struct ctm_bytes text = { waiters[*i].text, strlen(waiters[*i].text) };
	pid_t got = 0;
	int r = ctm_locktable_waiter(text, &file, &got);

	cr_assert_eq(r, waiters[*i].want != 0, "%s", waiters[*i].name);
	cr_assert_eq(got, waiters[*i].want, "%s: %d", waiters[*i].name, (int)got);
}

/* A child that waits for the lock, as flock(2) without LOCK_NB does. */
static pid_t start_waiter(int dir)
{
	pid_t child = fork();

	cr_assert_geq(child, 0);
	if (child == 0) {
		int fd = openat(dir, "lock", O_RDWR);

		(void)flock(fd, LOCK_EX);
		_exit(0);
	}
	return child;
}

Test(locktable, the_kernels_own)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = openat(s.fd, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	const struct timespec step = { .tv_nsec = 10 * 1000000L };
	struct ctm_lock_row file = { 0 };
	struct stat st;
	pid_t child;
	pid_t got = 0;
	int r = 0;

	cr_assert_eq(ctm_locktable_of(fd, &file), -ENOENT);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(ctm_locktable_of(fd, &file), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(file.ino, st.st_ino);
	cr_assert_eq(file.pid, getpid());
	child = start_waiter(s.fd);
	for (unsigned int n = 0; n < 500 && r == 0; n++) {
		CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };

		cr_assert_eq(ctm_locktable_read(&text), 0);
		r = ctm_locktable_waiter((struct ctm_bytes){ text.p, text.len }, &file, &got);
		(void)nanosleep(&step, NULL);
	}
	cr_assert_eq(r, 1);
	cr_assert_eq(got, child);
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
}
