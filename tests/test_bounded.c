/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/bounded.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

static int say_words(int out, void *arg)
{
	const char *words = arg;

	return ctm_bounded_say(out, words, strlen(words));
}

static int fail(int out, void *arg)
{
	(void)arg;
	(void)ctm_bounded_say(out, "half", 4);
	return -ENOTUNIQ;
}

static int hang(int out, void *arg)
{
	int r = ctm_bounded_say(out, "half", 4);

	(void)arg;
	while (r == 0) {
		(void)pause();
	}
	return r;
}

static int chatter(int out, void *arg)
{
	const struct timespec step = { .tv_nsec = 20 * 1000000L };

	int r;

	(void)arg;
	do {
		(void)nanosleep(&step, NULL);
		r = ctm_bounded_say(out, ".", 1);
	} while (r == 0);
	return r;
}

static int die(int out, void *arg)
{
	(void)out;
	(void)arg;
	(void)kill(getpid(), SIGKILL);
	return 0;
}

static const struct {
	const char *name;
	ctm_bounded_fn fn;
	struct ctm_bounded limits;
	int want;
	const char *text; /* NULL: whatever */
} rows[] = {
	{ "an answer", say_words, { 0 }, 0, "some words" },
	{ "an answer in time", say_words, { .total_ms = 5000, .silent_ms = 5000 }, 0, NULL },
	{ "an error", fail, { .total_ms = 5000 }, -ENOTUNIQ, "half" },
	{ "nothing more", hang, { .total_ms = 100 }, -ETIME, "half" },
	{ "silence", hang, { .silent_ms = 100 }, -ETIME, "half" },
	{ "chatter", chatter, { .total_ms = 150, .silent_ms = 5000 }, -ETIME, NULL },
	{ "its death", die, { .total_ms = 5000 }, -EPIPE, "" },
};
CASES(bounded, ask, rows)
{
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	char words[] = "some words";
	int r = ctm_bounded_ask(rows[*i].fn, words, &rows[*i].limits, &got);

	cr_assert_eq(r, rows[*i].want, "%s: %d", rows[*i].name, r);
	cr_assert(!rows[*i].text || (got.len == strlen(rows[*i].text) &&
				     memcmp(got.p ? got.p : "", rows[*i].text, got.len) == 0),
		  "%s: %.*s", rows[*i].name, (int)got.len, got.p ? got.p : "");
}

static int keep_nothing(int out, void *arg)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int n = 0;

	(void)arg;
	while (dir && (entry = readdir(dir))) {
		n += entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != dirfd(dir);
	}
	return ctm_bounded_say(out, &n, sizeof(n));
}

Test(bounded, the_child_holds_no_descriptor_but_the_pipe)
{
	SCRATCH(s);
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	const struct ctm_bounded limits = { .total_ms = 5000 };
	CLEANUP_CLOSE int fd = openat(s.fd, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	int n;

	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(ctm_bounded_ask(keep_nothing, NULL, &limits, &got), 0);
	cr_assert_eq(got.len, sizeof(n));
	memcpy(&n, got.p, sizeof(n));
	cr_assert_eq(n, 1, "%d descriptors", n);
}

static void count(void *arg)
{
	(*(int *)arg)++;
}

Test(bounded, the_caller_hears_that_it_takes_long)
{
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	int ticks = 0;
	const struct ctm_bounded limits = { .total_ms = 1500, .tick = count, .tick_arg = &ticks };

	cr_assert_eq(ctm_bounded_ask(hang, NULL, &limits, &got), -ETIME);
	cr_assert_eq(ticks, 1);
}
