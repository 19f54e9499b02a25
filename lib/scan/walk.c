/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The walk as a source of facts: a process reads the tree, this side hands on what it says.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "scan/spare_id.h"
#include "scan/walk_state.h"

/* Longer than the pipe and than nearly all records. */
#define IN_FIRST ((size_t)256 << 10)
/*
 * What the pipe should hold, so that neither side waits for the other often (pipe-max-size,
 * proc(5)).
 */
#define PIPE_SIZE (1 << 20)
/*
 * Milliseconds without a word, which are nothing unusual in a healthy tree, after which we look
 * whether the process is stopped (SIGSTOP). When it is twice in a row it is given up. Ctrl-Z stops
 * the parent alone, and that only while it holds no lock.
 */
#define SILENCE 2000
/* How often the caller is asked whether to go on. */
#define STEP 500
/* Milliseconds for a killed process to be gone: only the kernel itself can hold it longer. */
#define END_MAX 5000

struct walk_source {
	struct ctm_source source;
	int rootfd; /* borrowed */
};

/* The process and what has arrived of what it says. */
struct reader {
	int pidfd; /* unlike a number it never comes to mean another process */
	int fd;
	const struct ctm_scan_request *req;
	bool interrupted; /* the error is the caller's own */
	struct ctm_pulse *pulse;
	unsigned int jobs;
	unsigned int patience; /* looks at a pulse that does not change */
	struct ctm_feed_in in;
	char *buf;
	size_t cap;
	size_t begin; /* unread bytes: buf[begin] up to buf[end] */
	size_t end;
};

static unsigned int online(void)
{
	cpu_set_t set;

	/* Also respects the limits of a cpuset, and needs no file. */
	if (sched_getaffinity(0, sizeof(set), &set) == 0) {
		return (unsigned int)CPU_COUNT(&set);
	}
	return 1;
}

/* A pipe. */
struct ends {
	int fd[2];
};

static void close_both(struct ends *ends)
{
	ctm_closep(&ends->fd[0]);
	ctm_closep(&ends->fd[1]);
}

/* Our side of the new process: its descriptor. */
static int watch(pid_t pid, int *ret, struct ctm_err *err)
{
	int fd = pidfd_open(pid, 0);

	if (fd < 0) {
		int failed = errno;

		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		return ctm_err_set(err, CTM_SYS, failed, "watch the walk's process");
	}
	*ret = fd;
	return 0;
}

/* Keeps the new process waiting until it is watched: one that is gone already has no descriptor. */
static void wait_for(int go[2])
{
	char byte;

	ctm_closep(&go[1]);
	while (read(go[0], &byte, 1) < 0 && errno == EINTR) {
	}
}

static pid_t spawn(const struct ctm_walk_birth *birth, const struct ctm_scan_request *req,
		   int go[2])
{
	sigset_t all, before;
	int failed;
	pid_t pid;

	/* No handler of ours may run in the new process. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	failed = errno;
	if (pid == 0) {
		wait_for(go);
		_exit(ctm_walk_child(birth, req));
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	errno = failed;
	return pid;
}

static int start(struct reader *reader, int rootfd, const struct ctm_scan_request *req,
		 struct ctm_err *err)
{
	CLEANUP(close_both) struct ends facts = { { -1, -1 } };
	CLEANUP(close_both) struct ends go = { { -1, -1 } };
	struct ctm_walk_birth birth = {
		.rootfd = rootfd,
		.parent = getpid(),
		.id = ctm_spare_id_host(),
		.jobs = reader->jobs,
	};
	pid_t pid;

	reader->pulse = ctm_pulse_new(reader->jobs);
	if (!reader->pulse) {
		return ctm_err_nomem(err);
	}
	if (pipe2(facts.fd, O_CLOEXEC) < 0 || pipe2(go.fd, O_CLOEXEC) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "make a pipe for the walk");
	}
	(void)fcntl(facts.fd[1], F_SETPIPE_SZ, PIPE_SIZE);
	birth.out = facts.fd[1];
	birth.pulse = reader->pulse;
	pid = spawn(&birth, req, go.fd);
	if (pid < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "start the walk's process");
	}
	reader->fd = TAKE_FD(facts.fd[0]);
	return watch(pid, &reader->pidfd, err);
}

static bool is_stopped(const struct reader *reader)
{
	siginfo_t info = { 0 };

	return waitid(P_PIDFD, (id_t)reader->pidfd, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

static int interrupt(struct reader *reader, struct ctm_err *err)
{
	const struct ctm_scan_request *req = reader->req;
	int r = req->interrupt ? req->interrupt(req->interrupt_arg, err) : 0;

	reader->interrupted = r != 0;
	return r > 0 ? -ECANCELED : r; /* above 0 fill() says that something came */
}

/*
 * Until there is something to read, or the end. -ETIME: the process is stopped; -ETIMEDOUT: it gets
 * nowhere. What counts is how often we have looked, so that the time does not pass in which both
 * are stopped, or the machine sleeps.
 */
static int wait_for_word(struct reader *reader, struct ctm_err *err)
{
	struct pollfd word = { .fd = reader->fd, .events = POLLIN };
	uint64_t last = ctm_pulse_sum(reader->pulse, reader->jobs);
	unsigned int still = 0;
	bool was_stopped = false;
	int silent = 0;

	for (;;) {
		uint64_t now;
		int r = interrupt(reader, err);
		int n = r == 0 ? poll(&word, 1, STEP) : 0;
		bool stopped;

		if (r != 0) {
			return r;
		}
		if (n > 0) {
			return 0;
		}
		if (n < 0) {
			if (errno != EINTR) {
				return -errno;
			}
			continue;
		}
		silent += STEP;
		if (silent < SILENCE) {
			continue;
		}
		silent = 0;
		stopped = is_stopped(reader);
		if (stopped && was_stopped) {
			return -ETIME;
		}
		was_stopped = stopped;
		now = ctm_pulse_sum(reader->pulse, reader->jobs);
		still = stopped || now != last ? 0 : still + 1;
		last = now;
		if (still >= reader->patience) {
			return -ETIMEDOUT;
		}
	}
}

/* Makes room and reads some more. 1: something came; 0: the end. err is set when interrupted. */
static int fill(struct reader *reader, struct ctm_err *err)
{
	ssize_t n;
	int r;

	if (reader->begin > 0) {
		memmove(reader->buf, reader->buf + reader->begin, reader->end - reader->begin);
		reader->end -= reader->begin;
		reader->begin = 0;
	}
	if (reader->end == reader->cap) {
		/* One record is longer than this; ctm_feed_next() knows how long one may be. */
		size_t cap = reader->cap ? 2 * reader->cap : IN_FIRST;
		char *buf = realloc(reader->buf, cap);

		if (!buf) {
			return -ENOMEM;
		}
		reader->buf = buf;
		reader->cap = cap;
	}
	r = wait_for_word(reader, err);
	if (r != 0) {
		return r;
	}
	do {
		n = read(reader->fd, reader->buf + reader->end, reader->cap - reader->end);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		return -errno;
	}
	reader->end += (size_t)n;
	return n > 0;
}

/* Why the process stopped talking in the middle. */
static int died(const siginfo_t *info, struct ctm_err *err)
{
	if (info->si_code == CLD_EXITED) {
		return ctm_err_set(err, CTM_SYS, EIO,
				   "the walk's process ended early with status %d",
				   info->si_status);
	}
	if ((info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED) &&
	    info->si_status == SIGXCPU) {
		return ctm_err_set(err, CTM_SYS, EIO,
				   "the walk's process took more processor time than a file system "
				   "with so much on it can need, and was ended");
	}
	if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED) {
		return ctm_err_set(err, CTM_SYS, EIO, "the walk's process was killed by signal %d",
				   info->si_status);
	}
	return ctm_err_set(err, CTM_SYS, EIO, "the walk's process ended early");
}

/*
 * Makes sure that the process is gone, and takes its status. Whatever it was doing, nobody listens
 * any more. One that is ending already keeps the status it ends with. No status, with SIGCHLD
 * ignored, or of one that waits in the kernel for a device and is left to it: all zero.
 */
static siginfo_t reap(struct reader *reader)
{
	struct pollfd ended = { .fd = reader->pidfd, .events = POLLIN };
	siginfo_t info = { 0 };
	int r;

	(void)pidfd_send_signal(reader->pidfd, SIGKILL, NULL, 0);
	do {
		r = poll(&ended, 1, END_MAX);
	} while (r < 0 && errno == EINTR);
	do {
		r = waitid(P_PIDFD, (id_t)reader->pidfd, &info, WEXITED | WNOHANG);
	} while (r < 0 && errno == EINTR);
	ctm_closep(&reader->pidfd);
	return info;
}

/* The next message; CTM_FEED_MORE: there is none, the pipe's other end is closed. */
static int receive(struct reader *reader, struct ctm_feed_msg *ret, struct ctm_err *err)
{
	for (;;) {
		size_t used;
		int r = ctm_feed_next(&reader->in, reader->buf + reader->begin,
				      reader->end - reader->begin, &used, ret);

		if (r == -ENOMEM) {
			return ctm_err_nomem(err);
		}
		if (r < 0) {
			return ctm_err_set(err, CTM_SYS, -r, "the walk's process sent nonsense");
		}
		reader->begin += used;
		if (ret->kind != CTM_FEED_MORE) {
			return 0;
		}
		r = fill(reader, err);
		if (reader->interrupted) {
			return r;
		}
		if (r == -ETIME) {
			return ctm_err_set(err, CTM_SYS, ETIME,
					   "the walk's process is stopped and does not go on");
		}
		if (r == -ETIMEDOUT) {
			return ctm_err_set(err, CTM_SYS, ETIME,
					   "the walk's process has read nothing new for %u seconds",
					   reader->patience * (SILENCE / 1000));
		}
		if (r < 0) {
			return ctm_err_set(err, CTM_SYS, r, "read from the walk's process");
		}
		if (r == 0) {
			return 0;
		}
	}
}

/* A fact of an inode that is not below a start path would be one that the user did not name. */
static bool was_asked_for(const struct ctm_scan_request *req, const struct ctm_fact *fact)
{
	if (req->want_none) {
		return false;
	}
	for (size_t i = 0; i < req->n_starts; i++) {
		const char *start = req->starts[i];
		const size_t len = strlen(start);

		if (ctm_path_within(fact->path, fact->path_len, start, len) ||
		    (fact->kind != CTM_FACT_INODE &&
		     ctm_path_within(start, len, fact->path, fact->path_len))) {
			return true;
		}
	}
	return req->n_starts == 0;
}

static int drain(struct reader *reader, const struct ctm_scan_request *req, ctm_fact_fn fn,
		 void *arg, struct ctm_err *err)
{
	struct ctm_feed_msg msg;

	for (;;) {
		siginfo_t info;
		int r = receive(reader, &msg, err);

		if (r < 0) {
			return r;
		}
		switch (msg.kind) {
		case CTM_FEED_FACT:
			if (!was_asked_for(req, &msg.fact)) {
				return ctm_err_set(err, CTM_SYS, EBADMSG,
						   "the walk's process sent what nobody asked for");
			}
			r = fn(&msg.fact, arg);
			if (r < 0) {
				return ctm_err_set(err, CTM_SYS, r, "judge an entry");
			}
			break;
		case CTM_FEED_END:
			return 0;
		case CTM_FEED_FAIL:
			return ctm_err_set(err, CTM_SYS, msg.err, "walk the tree: %s", msg.op);
		case CTM_FEED_MORE:
			info = reap(reader);
			return died(&info, err);
		}
	}
}

static void reader_done(struct reader *reader)
{
	if (reader->pidfd >= 0) {
		(void)reap(reader);
	}
	ctm_closep(&reader->fd);
	ctm_pulse_free(reader->pulse, reader->jobs);
	ctm_feed_in_done(&reader->in);
	free(reader->buf);
}

static int walk_scan(struct ctm_source *src, const struct ctm_scan_request *req, ctm_fact_fn fn,
		     void *arg, struct ctm_scan_totals *ret, struct ctm_err *err)
{
	const struct walk_source *walk = (const struct walk_source *)src;
	const unsigned int patience = req->patience ? req->patience : CTM_LEASH_SILENCE;
	CLEANUP(reader_done)
	struct reader reader = {
		.pidfd = -1,
		.fd = -1,
		.req = req,
		.jobs = req->jobs ? req->jobs : online(),
		.patience = (patience + SILENCE / 1000 - 1) / (SILENCE / 1000),
	};
	int r;

	if (reader.jobs > CTM_FEED_STREAMS_MAX) {
		reader.jobs = CTM_FEED_STREAMS_MAX;
	}
	if (ctm_feed_in_init(&reader.in, reader.jobs) < 0) {
		return ctm_err_nomem(err);
	}
	r = start(&reader, walk->rootfd, req, err);
	if (r == 0) {
		r = drain(&reader, req, fn, arg, err);
	}
	if (r == 0) {
		*ret = reader.in.totals;
		reader.in.totals = (struct ctm_scan_totals){ 0 };
	}
	return r;
}

static void walk_free(struct ctm_source *src)
{
	free(src);
}

static const struct ctm_source_ops walk_ops = {
	.name = "walk",
	.scan = walk_scan,
	.free = walk_free,
};

int ctm_walk_new(int rootfd, struct ctm_source **ret, struct ctm_err *err)
{
	struct walk_source *walk = malloc(sizeof(*walk));

	if (!walk) {
		return ctm_err_nomem(err);
	}
	*walk = (struct walk_source){ .source = { .ops = &walk_ops }, .rootfd = rootfd };
	*ret = &walk->source;
	return 0;
}
