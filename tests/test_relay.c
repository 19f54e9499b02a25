/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said to a caller who may not listen. */
#include "relay.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cases.h"
#include "session/deadline.h"

struct ends {
	int fd[2];
};

static void close_ends(struct ends *ends)
{
	ctm_closep(&ends->fd[0]);
	ctm_closep(&ends->fd[1]);
}

#define PIPE(name)                                                   \
	CLEANUP(close_ends) struct ends name = { .fd = { -1, -1 } }; \
	cr_assert_eq(pipe2(name.fd, O_CLOEXEC), 0)

/* All that a reader gets. */
static size_t read_up(struct ends *ends, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	ctm_closep(&ends->fd[1]);
	while (len < size && (n = read(ends->fd[0], buf + len, size - len)) > 0) {
		len += (size_t)n;
	}
	return len;
}

Test(relay, order)
{
	static struct relay relay;
	char got[256] = "";
	PIPE(both);
	int other = fcntl(both.fd[1], F_DUPFD_CLOEXEC, 0);

	relay_add(&relay, both.fd[1], "one\n", 4);
	relay_add(&relay, both.fd[1], "two\n", 4);
	relay_add(&relay, other, "three\n", 6);
	relay_flush(&relay, 1000);
	relay_flush(&relay, 1000);
	relay_add_own(&relay, both.fd[1], "four\n", 5);
	relay_flush(&relay, 1000);
	ctm_closep(&other);
	(void)read_up(&both, got, sizeof(got) - 1);
	cr_assert_str_eq(got, "one\ntwo\nthree\nfour\n");
}

/* A reader as LXC's (lxc/src/lxc/utils.c run_buffer) takes ten pieces and no more. */
Test(relay, pieces)
{
	static struct relay relay;
	static char got[256 * 1024];
	char line[80];
	PIPE(ends);

	for (unsigned int i = 0; i < 5000; i++) {
		int n = snprintf(line, sizeof(line), "line %u, and something behind it\n", i);

		relay_add(&relay, ends.fd[1], line, (size_t)n);
	}
	relay_add_own(&relay, ends.fd[1], "the last word\n", 14);
	cr_assert_leq(relay.n, RELAY_PIECES);
	relay_flush(&relay, 1000);
	got[read_up(&ends, got, sizeof(got) - 1)] = '\0';
	cr_assert_leq(strlen(got), (size_t)10 * 4095);
	cr_assert(strncmp(got, "line 0,", 7) == 0);
	cr_assert_not_null(strstr(got, "ctmend: there was more\n"));
	cr_assert_not_null(strstr(got, "the last word\n"));
}

/* The work ends its words on one descriptor, the supervisor speaks on the other. */
Test(relay, own_words)
{
	static struct relay relay;
	static char text[RELAY_PIECES * RELAY_PIECE];
	static char got[2 * sizeof(text)];
	PIPE(out);
	PIPE(err);

	memset(text, 'x', sizeof(text));
	relay_add(&relay, out.fd[1], text, sizeof(text));
	relay_add_own(&relay, err.fd[1], "it is waited for\n", 17);
	relay_flush(&relay, 1000);
	relay_add(&relay, out.fd[1], text, sizeof(text));
	relay_add_own(&relay, err.fd[1], "the last word\n", 14);
	relay_flush(&relay, 1000);
	got[read_up(&out, got, sizeof(got) - 1)] = '\0';
	cr_assert_str_eq(strchr(got, 'c'), "ctmend: there was more\n");
	got[read_up(&err, got, sizeof(got) - 1)] = '\0';
	cr_assert_str_eq(got, "it is waited for\nthe last word\n");
}

/* Nobody reads, and there is no room. */
Test(relay, full)
{
	static struct relay relay;
	static char block[4096];
	PIPE(ends);
	int64_t begin;

	cr_assert_eq(fcntl(ends.fd[1], F_SETFL, O_NONBLOCK), 0);
	while (write(ends.fd[1], block, sizeof(block)) > 0) {
	}
	cr_assert_eq(fcntl(ends.fd[1], F_SETFL, 0), 0);
	relay_add(&relay, ends.fd[1], "one\n", 4);
	begin = ctm_clock_ms();
	relay_flush(&relay, 300);
	cr_assert_lt(ctm_clock_ms() - begin, 2000);

	/* two writers: what poll(2) has promised may be gone */
	begin = ctm_clock_ms();
	relay_interrupt_begin();
	cr_assert_lt(write(ends.fd[1], "x", 1), 0);
	relay_interrupt_end();
	cr_assert_lt(ctm_clock_ms() - begin, 2000);
}

Test(relay, closed)
{
	static struct relay relay;
	PIPE(ends);
	PIPE(other);
	char got[64] = "";

	(void)signal(SIGPIPE, SIG_IGN);
	ctm_closep(&ends.fd[0]);
	relay_add(&relay, ends.fd[1], "one\n", 4);
	relay_add(&relay, -1, "two\n", 4);
	relay_add(&relay, other.fd[1], "three\n", 6);
	relay_flush(&relay, 1000);
	(void)read_up(&other, got, sizeof(got) - 1);
	cr_assert_str_eq(got, "three\n");
}
