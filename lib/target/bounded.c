/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fork, listen, give up. */
#include "target/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* What no honest answer is longer than. */
#define ANSWER_MAX ((size_t)16 << 20)
/* How long a killed child gets to go away; what does not is stuck and stays behind. */
#define REAP_MS 200
#define TICK_MS 1000
/* Where the pipe is in the child; standard input, output and error are closed. */
#define OUT_FD 3

int ctm_bounded_say(int out, const void *p, size_t len)
{
	const char *at = p;

	while (len > 0) {
		ssize_t n = write(out, at, len);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return -errno;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* --- the child ------------------------------------------------------------------------------- */

/*
 * Nothing of ours: a child that is stuck for ever would hold a lock for ever, and the pipes on
 * which somebody waits for our end.
 */
static bool let_go(int out)
{
	return dup3(out, OUT_FD, O_CLOEXEC) == OUT_FD || out == OUT_FD;
}

static void run_child(ctm_bounded_fn fn, void *arg, int out, pid_t parent)
{
	int32_t status;
	int r;

	if (!let_go(out)) {
		_exit(1);
	}
	for (int fd = 0; fd < OUT_FD; fd++) {
		(void)close(fd);
	}
	if (close_range(OUT_FD + 1, ~0u, 0) < 0) {
		_exit(1);
	}
	/* who waits for all of our group (a hook's supervisor) does not wait for one left behind */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent) {
		_exit(1);
	}
	r = fn(OUT_FD, arg);
	/* the last four bytes */
	status = r;
	_exit(ctm_bounded_say(OUT_FD, &status, sizeof(status)) < 0);
}

static pid_t spawn(ctm_bounded_fn fn, void *arg, int out)
{
	const pid_t parent = getpid();
	sigset_t all;
	sigset_t before;
	int failed;
	pid_t pid;

	/* They stay blocked in the child: no handler of ours runs, and Ctrl-Z is not for it. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	failed = errno;
	if (pid == 0) {
		run_child(fn, arg, out, parent);
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	errno = failed;
	return pid;
}

/* --- the parent ------------------------------------------------------------------------------ */

struct listening {
	const struct ctm_bounded *limits;
	int64_t begun;
	int64_t heard; /* when something was said last */
	int64_t ticked;
};

static int64_t left_of(unsigned int limit, int64_t since, int64_t now)
{
	if (limit == 0) {
		return INT64_MAX;
	}
	return now - since >= limit ? 0 : limit - (now - since);
}

/* Until there is something to read. -ETIME. */
static int wait_for_word(struct listening *l, int fd)
{
	struct pollfd word = { .fd = fd, .events = POLLIN };

	for (;;) {
		int64_t now = ctm_clock_ms();
		int64_t total = left_of(l->limits->total_ms, l->begun, now);
		int64_t silent = left_of(l->limits->silent_ms, l->heard, now);
		int64_t left = total < silent ? total : silent;
		int n = poll(&word, 1, (int)(left < TICK_MS ? left : TICK_MS));

		if (n > 0) {
			return 0;
		}
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		now = ctm_clock_ms();
		if (l->limits->tick && now - l->ticked >= TICK_MS) {
			l->ticked = now;
			l->limits->tick(l->limits->tick_arg);
		}
		if (n == 0 && left == 0) {
			return -ETIME;
		}
	}
}

static int listen_to(struct listening *l, int fd, struct ctm_buf *ret)
{
	char chunk[16384];

	for (;;) {
		int r = wait_for_word(l, fd);
		ssize_t n;

		if (r < 0) {
			return r;
		}
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (n == 0) {
			return 0;
		}
		if (n < 0) {
			continue;
		}
		l->heard = ctm_clock_ms();
		if (ret->len + (size_t)n > ANSWER_MAX) {
			return -EFBIG;
		}
		r = ctm_buf_add(ret, chunk, (size_t)n);
		if (r < 0) {
			return r;
		}
		/* one that never stops talking has a deadline, too */
		if (left_of(l->limits->total_ms, l->begun, l->heard) == 0) {
			return -ETIME;
		}
	}
}

/* One that sleeps in the kernel does not go away by being killed, and is not waited for. */
static void reap(pid_t pid)
{
	const struct timespec step = { .tv_nsec = 2 * 1000000L };

	(void)kill(pid, SIGKILL);
	for (unsigned int waited = 0; waited < REAP_MS; waited += 2) {
		pid_t r = waitpid(pid, NULL, WNOHANG);

		if (r == pid || (r < 0 && errno != EINTR)) {
			return;
		}
		(void)nanosleep(&step, NULL);
	}
}

int ctm_bounded_ask(ctm_bounded_fn fn, void *arg, const struct ctm_bounded *limits,
		    struct ctm_buf *ret)
{
	struct listening l = { .limits = limits, .begun = ctm_clock_ms() };
	CLEANUP_CLOSE int in = -1;
	CLEANUP_CLOSE int out = -1;
	int32_t status;
	int ends[2];
	pid_t pid;
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		return -errno;
	}
	in = ends[0];
	out = ends[1];
	l.heard = l.begun;
	l.ticked = l.begun;
	pid = spawn(fn, arg, out);
	if (pid < 0) {
		return -errno;
	}
	ctm_closep(&out);
	r = listen_to(&l, in, ret);
	reap(pid);
	if (r < 0) {
		return r;
	}
	if (ret->len < sizeof(status)) {
		return -EPIPE;
	}
	ret->len -= sizeof(status);
	memcpy(&status, ret->p + ret->len, sizeof(status));
	return status;
}
