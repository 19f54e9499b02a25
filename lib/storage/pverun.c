/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run a program and wait for it, for a limited time. */
#include "storage/pverun.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* What a program gets to end after SIGTERM, and the kernel after SIGKILL. */
#define GRACE_MS 2000

#define KEPT_FD 3

static char *const environment[] = {
	(char[]){ "PATH=/usr/sbin:/usr/bin:/sbin:/bin" },
	(char[]){ "LC_ALL=C" },
	(char[]){ "LVM_SUPPRESS_FD_WARNINGS=1" },
	NULL,
};

struct child {
	pid_t pid;
	int pidfd;
	int out; /* our ends of its pipes */
	int err;
	bool reaped;
};

static void child_done(struct child *child)
{
	ctm_closep(&child->pidfd);
	ctm_closep(&child->out);
	ctm_closep(&child->err);
}

/* --- start ---------------------------------------------------------------------------------- */

static int add_files(posix_spawn_file_actions_t *files, int out, int err, int keep)
{
	int r = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);

	r = r ? r : posix_spawn_file_actions_adddup2(files, out, 1);
	r = r ? r : posix_spawn_file_actions_adddup2(files, err, 2);
	if (r == 0 && keep >= 0) {
		r = posix_spawn_file_actions_adddup2(files, keep, KEPT_FD);
	}
	return r ? r :
		   posix_spawn_file_actions_addclosefrom_np(files,
							    keep < 0 ? KEPT_FD : KEPT_FD + 1);
}

static int add_attributes(posix_spawnattr_t *attr)
{
	sigset_t none;
	sigset_t all;
	int r;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	r = posix_spawnattr_setsigmask(attr, &none);
	r = r ? r : posix_spawnattr_setsigdefault(attr, &all);
	r = r ? r : posix_spawnattr_setpgroup(attr, 0);
	return r ? r :
		   posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							  POSIX_SPAWN_SETPGROUP);
}

/* argv is not written to; posix_spawn() has the type that execve() has. */
static char *const *unconst(const char *const argv[])
{
	union {
		const char *const *in;
		char *const *out;
	} u = { .in = argv };

	return u.out;
}

static int spawn(const char *const argv[], int out, int err, int keep, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r = posix_spawn_file_actions_init(&files);

	if (r) {
		return -r;
	}
	r = posix_spawnattr_init(&attr);
	if (r == 0) {
		r = add_files(&files, out, err, keep);
		r = r ? r : add_attributes(&attr);
		r = r ? r : posix_spawn(ret, argv[0], &files, &attr, unconst(argv), environment);
		(void)posix_spawnattr_destroy(&attr);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

static int start(const char *const argv[], int keep, struct child *child)
{
	int out[2];
	int err[2];
	int r;

	if (pipe2(out, O_CLOEXEC) < 0) {
		return -errno;
	}
	child->out = out[0];
	if (pipe2(err, O_CLOEXEC) < 0) {
		r = -errno;
		(void)close(out[1]);
		return r;
	}
	child->err = err[0];
	r = spawn(argv, out[1], err[1], keep, &child->pid);
	(void)close(out[1]);
	(void)close(err[1]);
	if (r < 0) {
		return r;
	}
	if (fcntl(child->out, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(child->err, F_SETFL, O_NONBLOCK) < 0) {
		return -errno;
	}
	/* glibc has it since 2.36 */
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return child->pidfd < 0 ? -errno : 0;
}

/* --- wait ----------------------------------------------------------------------------------- */

/* Adds what there is to read. 0; 1 at the end of the file; -errno. */
static int drain(int fd, struct ctm_buf *buf)
{
	for (;;) {
		char chunk[2048];
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n == 0) {
			return 1;
		}
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return errno == EAGAIN ? 0 : -errno;
		}
		if (ctm_buf_add(buf, chunk, (size_t)n) < 0) {
			return -ENOMEM;
		}
		if (buf->len > ((size_t)1 << 20)) {
			return 0; /* the caller looks at the size */
		}
	}
}

static void keep_tail(struct ctm_buf *buf)
{
	if (buf->len > CTM_PVERUN_ERRORS) {
		memmove(buf->p, buf->p + buf->len - CTM_PVERUN_ERRORS, CTM_PVERUN_ERRORS + 1);
		buf->len = CTM_PVERUN_ERRORS;
	}
}

/* Reads from a pipe that is ready and closes it at its end; poll(2) leaves out what is -1. */
static int take(int *fd, short ready, struct ctm_buf *buf)
{
	int r = ready && *fd >= 0 ? drain(*fd, buf) : 0;

	if (r == 1) {
		ctm_closep(fd);
	}
	return r < 0 ? r : 0;
}

static void reap(struct child *child, struct ctm_pverun *run)
{
	int status = 0;

	if (waitpid(child->pid, &status, WNOHANG) != child->pid) {
		return;
	}
	child->reaped = true;
	if (run->status == 0) {
		run->status = WIFEXITED(status) ? WEXITSTATUS(status) : CTM_PVERUN_KILLED;
	}
}

/* Until the program has ended: 0, or the time is over or it says too much: run->status. */
static int follow(struct child *child, int64_t end, size_t max, struct ctm_pverun *run)
{
	while (!child->reaped) {
		struct pollfd fds[] = {
			{ .fd = child->pidfd, .events = POLLIN },
			{ .fd = child->out, .events = POLLIN },
			{ .fd = child->err, .events = POLLIN },
		};
		int64_t left = end - ctm_clock_ms();
		int r = left > 0 ? poll(fds, ARRAY_LEN(fds), (int)left) : 0;

		if (r < 0 && errno != EINTR) {
			return -errno;
		}
		if (r == 0) {
			run->status = run->status ? run->status : CTM_PVERUN_TIMEOUT;
			return 0;
		}
		if (r < 0) {
			continue;
		}
		/* the process first, the pipes after it: what it wrote last is in them then */
		if (fds[0].revents) {
			reap(child, run);
		}
		r = take(&child->out, fds[0].revents | fds[1].revents, &run->output);
		r = r < 0 ? r : take(&child->err, fds[0].revents | fds[2].revents, &run->errors);
		if (r < 0) {
			return r;
		}
		keep_tail(&run->errors);
		if (run->output.len > max && run->status != CTM_PVERUN_TOO_LONG) {
			run->status = CTM_PVERUN_TOO_LONG;
			return 0;
		}
	}
	return 0;
}

/* The group, too: programs that it waits for. One that hangs in the kernel is left to it. */
static void end_group(struct child *child, size_t max, struct ctm_pverun *run)
{
	static const int signals[] = { SIGTERM, SIGKILL };

	for (size_t i = 0; i < ARRAY_LEN(signals) && !child->reaped; i++) {
		(void)kill(-child->pid, signals[i]);
		ctm_closep(&child->out);
		if (follow(child, ctm_clock_ms() + GRACE_MS, max, run) < 0) {
			continue;
		}
	}
}

int ctm_pverun(const char *const argv[], int keep, unsigned int seconds, size_t max,
	       struct ctm_pverun *ret)
{
	CLEANUP(child_done) struct child child = { .pidfd = -1, .out = -1, .err = -1 };
	int r = start(argv, keep, &child);

	if (r == 0) {
		r = follow(&child, ctm_clock_ms() + (int64_t)seconds * 1000, max, ret);
	}
	if (child.pid > 0 && !child.reaped) {
		end_group(&child, max, ret);
	}
	return r;
}
