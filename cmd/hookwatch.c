/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watch over a hook's work, and end it in time. */
#include "hookwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/pathname.h"
#include "exit.h"
#include "relay.h"
#include "stop.h"
#include "syslog_line.h"
#include "target/hostlock.h"
#include "target/loopsearch.h"
#include "term.h"

CTM_HOST_PATHS

/* What the kernel gets to end a process that was killed, before it is left behind. */
#define LEAVE_MS 100
/* What is to be said may take this long, however little of the time is left. */
#define SAY_MS 1000
/* How long the kernel gets to clear a loop device; then it is somebody else's. */
#define SETTLE_MS 5000
/* After this long it is said what is waited for. */
#define PATIENCE_MS 2000

/* What the work tells, one datagram each. */
enum word_kind {
	WORD_LOCK, /* number: vmid; the answer has 0 or -errno, and why */
	WORD_SEEN, /* number: doubtful */
	WORD_HOLDS,
	WORD_LET_GO,
	WORD_CHANGES,
	WORD_CHANGED,
};

struct word {
	enum word_kind kind;
	int number;
	union {
		struct ctm_hooknote note; /* SEEN */
		char path[PATH_MAX];      /* HOLDS */
		struct ctm_err err;       /* LOCK, the answer */
	} u;
};

struct watching {
	const struct hookwatch_job *job;
	struct ctm_deadline time;
	struct relay relay;
	sigset_t mask; /* of the caller */
	pid_t pid;
	int pidfd;
	int out; /* our ends */
	int err;
	int talk;
	int lock; /* PVE's config flock, -1: not taken */

	bool has_seen;
	struct ctm_hooknote seen;
	bool doubtful;
	bool raw; /* an image or device is in work: there may be a loop or mount */
	char path[PATH_MAX];
	bool changes;
	bool changed;

	int64_t asked; /* when it was asked to end; 0: it was not */
	int64_t killed;
	bool by_signal; /* we were asked to end it */
	bool told;      /* what is waited for */
	bool ended;
	siginfo_t how;
};

/* --- the process that works ------------------------------------------------------------------- */

#define TALK_FD 3

static int tell(const struct word *word)
{
	ssize_t n;

	do {
		n = send(TALK_FD, word, sizeof(*word), MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int work_lock(unsigned int vmid, void *arg, struct ctm_err *err)
{
	struct word word = { .kind = WORD_LOCK, .number = (int)vmid };
	int r = tell(&word);
	ssize_t n = -1;

	(void)arg;
	while (r == 0 && (n = recv(TALK_FD, &word, sizeof(word), 0)) < 0 && errno == EINTR) {
	}
	if (r < 0 || n != (ssize_t)sizeof(word)) {
		return ctm_err_set(err, CTM_SYS, EPIPE, "ask for the configuration's lock");
	}
	if (word.number < 0 && word.number != -EWOULDBLOCK && err) {
		*err = word.u.err;
	}
	return word.number;
}

static void work_seen(const struct ctm_hooknote *note, bool doubtful, void *arg)
{
	(void)arg;
	(void)tell(&(struct word){ .kind = WORD_SEEN, .number = doubtful, .u.note = *note });
}

static void work_holds(const char *path, void *arg)
{
	struct word word = { .kind = path ? WORD_HOLDS : WORD_LET_GO };

	(void)arg;
	if (path) {
		(void)snprintf(word.u.path, sizeof(word.u.path), "%s", path);
	}
	(void)tell(&word);
}

static void work_changes(void *arg)
{
	(void)arg;
	(void)tell(&(struct word){ .kind = WORD_CHANGES });
}

/* Said before the second look: who is ended in that has said it. */
static void work_changed(const struct ctm_outcome *run, void *arg)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	const struct hookwatch_job *job = arg;

	if (!run->run[0]) {
		return;
	}
	if (!job->opts->quiet && ctm_text_escape(&name, job->name, strlen(job->name)) == 0) {
		printf("ctmend: %s: %" PRIu64 " entries repaired, %" PRIu64 " left (run %s)\n",
		       name.p, run->counts.done, run->counts.conflicts + run->counts.failed,
		       run->run);
		(void)fflush(stdout);
	}
	if (!run->stopped) {
		(void)tell(&(struct word){ .kind = WORD_CHANGED });
	}
}

/* None of the caller's descriptors stays: the caller waits until the last of them is closed. */
static int take_descriptors(int out, int err, int talk)
{
	int from[] = { open("/dev/null", O_RDONLY | O_CLOEXEC), out, err, talk };

	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		/* out of the way of the numbers that are wanted */
		from[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD_CLOEXEC, TALK_FD + 1);
		if (from[i] < 0) {
			return -errno;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		if (dup3(from[i], (int)i, i == TALK_FD ? O_CLOEXEC : 0) < 0) {
			return -errno;
		}
	}
	return close_range(TALK_FD + 1, ~0u, 0) < 0 ? -errno : 0;
}

static int work(const struct hookwatch_job *job, const struct ctm_deadline *time, pid_t parent)
{
	union {
		const void *in;
		void *out;
	} arg = { .in = job };
	const struct ctm_watch watch = {
		.lock = work_lock,
		.seen = work_seen,
		.holds = work_holds,
		.changes = work_changes,
		.changed = work_changed,
		.arg = arg.out,
	};
	sigset_t none;
	int status;

	/* a supervisor that is killed asks us to end like one that lives */
	if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0 || getppid() != parent) {
		return HOOK_NO_SETUP;
	}
	stop_on_signal(SIGTERM);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	status = job->work(&watch, time, job->arg);
	(void)fflush(stdout);
	return status;
}

/* --- start ------------------------------------------------------------------------------------ */

static volatile sig_atomic_t end_asked;

static void on_end(int number)
{
	(void)number;
	end_asked = 1;
}

static void listen_to_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_end };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct sigaction old;

		/* nohup(1) */
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
			(void)sigaction(numbers[i], &action, NULL);
		}
	}
	(void)signal(SIGPIPE, SIG_IGN);
}

/* When memory gets short, the work may go (main.c); not who answers to the caller. */
static void stay(void)
{
	CLEANUP_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, "0", 1);
	}
}

/* A pair of descriptors. */
struct pair {
	int fd[2];
};

static void close_pair(struct pair *pair)
{
	ctm_closep(&pair->fd[0]);
	ctm_closep(&pair->fd[1]);
}

static pid_t fork_work(struct watching *w, int out, int err, int talk)
{
	const pid_t self = getpid();
	pid_t pid;

	(void)fflush(stdout);
	(void)fflush(stderr);
	pid = fork();
	if (pid == 0) {
		_exit(take_descriptors(out, err, talk) < 0 ? HOOK_NO_SETUP :
							     work(w->job, &w->time, self));
	}
	return pid;
}

static int start(struct watching *w)
{
	CLEANUP(close_pair) struct pair out = { { -1, -1 } };
	CLEANUP(close_pair) struct pair err = { { -1, -1 } };
	CLEANUP(close_pair) struct pair talk = { { -1, -1 } };
	sigset_t all;

	if (pipe2(out.fd, O_CLOEXEC) < 0 || pipe2(err.fd, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk.fd) < 0) {
		return -errno;
	}
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &w->mask);
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it leaves no status */
	/* what the work has started becomes ours when the work ends */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	w->pid = fork_work(w, out.fd[1], err.fd[1], talk.fd[1]);
	if (w->pid < 0) {
		return -errno;
	}
	listen_to_signals();
	stay();
	w->out = TAKE_FD(out.fd[0]);
	w->err = TAKE_FD(err.fd[0]);
	w->talk = TAKE_FD(talk.fd[0]);
	w->pidfd = pidfd_open(w->pid, 0);
	if (w->pidfd < 0 || fcntl(w->out, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(w->err, F_SETFL, O_NONBLOCK) < 0) {
		return -errno;
	}
	return 0;
}

/* --- listen ----------------------------------------------------------------------------------- */

static int take_lock(struct watching *w, unsigned int vmid, struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = -1;
	int r = ctm_hostlock_config_open(&w->job->opts->session.host, vmid, &fd, err);

	if (r < 0 || w->lock >= 0) {
		return r;
	}
	r = ctm_hostlock_within(fd, 0);
	if (r == 0) {
		w->lock = TAKE_FD(fd);
	} else if (r != -EWOULDBLOCK) {
		r = ctm_err_set(err, CTM_SYS, r, "lock the configuration of CT %u", vmid);
	}
	return r;
}

/* The work may have been left behind with a copy of nothing of ours, but be sure. */
static void give_lock_back(struct watching *w)
{
	if (w->lock >= 0) {
		(void)flock(w->lock, LOCK_UN);
	}
	ctm_closep(&w->lock);
}

static void take_word(struct watching *w, const struct word *word)
{
	struct word answer = { .kind = WORD_LOCK };

	switch (word->kind) {
	case WORD_LOCK:
		answer.number = take_lock(w, (unsigned int)word->number, &answer.u.err);
		(void)send(w->talk, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
		break;
	case WORD_SEEN:
		if (w->seen.has_root && !word->u.note.has_root) {
			break;
		}
		w->has_seen = true;
		w->doubtful = word->number != 0;
		w->seen = word->u.note;
		break;
	case WORD_HOLDS:
		w->raw = true;
		memcpy(w->path, word->u.path, sizeof(w->path));
		break;
	case WORD_LET_GO:
		w->raw = false;
		break;
	case WORD_CHANGES:
		w->changes = true;
		w->changed = false;
		break;
	case WORD_CHANGED:
		w->changed = true;
		break;
	}
}

static void take_words(struct watching *w)
{
	struct word word;
	ssize_t n;

	while (w->talk >= 0 && (n = recv(w->talk, &word, sizeof(word), MSG_DONTWAIT)) >= 0) {
		if (n == (ssize_t)sizeof(word)) {
			take_word(w, &word);
		} else {
			ctm_closep(&w->talk);
		}
	}
}

static void take_text(struct watching *w, int *fd, int to)
{
	char text[RELAY_PIECE];
	ssize_t n;

	while (*fd >= 0 && (n = read(*fd, text, sizeof(text))) != 0) {
		if (n > 0) {
			relay_add(&w->relay, to, text, (size_t)n);
		} else if (errno != EINTR) {
			return;
		}
	}
	ctm_closep(fd);
}

static void take_all(struct watching *w)
{
	take_words(w);
	take_text(w, &w->out, STDOUT_FILENO);
	take_text(w, &w->err, STDERR_FILENO);
}

/* Whether the work has ended; then what it has left running goes as well. */
static void take_end(struct watching *w)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PIDFD, (id_t)w->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    info.si_pid == 0) {
		return;
	}
	/* while it is not reaped, its number means no other group */
	(void)kill(-w->pid, SIGKILL);
	w->ended = waitid(P_PIDFD, (id_t)w->pidfd, &w->how, WEXITED | WNOHANG) == 0;
}

/* Until there is something new, at most ms milliseconds. */
static void look(struct watching *w, int64_t ms)
{
	struct pollfd fds[] = {
		{ .fd = w->pidfd, .events = POLLIN },
		{ .fd = w->talk, .events = POLLIN },
		{ .fd = w->out, .events = POLLIN },
		{ .fd = w->err, .events = POLLIN },
	};
	const struct timespec limit = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	(void)ppoll(fds, ARRAY_LEN(fds), &limit, &w->mask);
	/* the process first: what it said last is there then */
	if (fds[0].revents) {
		take_end(w);
	}
	take_all(w);
}

/* --- end -------------------------------------------------------------------------------------- */

/* The supervisor's own words, here and in the system's log. */
static void say(struct watching *w, const struct ctm_err *err)
{
	struct ctm_buf lines = { 0 };

	if (term_error_lines(w->job->name, err, &lines) == 0) {
		relay_add_own(&w->relay, STDERR_FILENO, lines.p, lines.len);
	}
	ctm_buf_done(&lines);
	relay_interrupt_begin();
	syslog_plain("hook", w->job->name, err->msg);
	relay_interrupt_end();
}

/* For who looks at a start that does not go on. */
static void tell_wait(struct watching *w)
{
	struct ctm_err err = { 0 };

	if (w->told) {
		return;
	}
	w->told = true;
	(void)ctm_err_set(&err, CTM_REFUSED, EBUSY,
			  "process %d does not let go of '%s' yet: it is waited for, "
			  "since a start would make use of what is attached",
			  (int)w->pid, w->path);
	say(w, &err);
	relay_flush(&w->relay, SAY_MS);
}

/* What is due. Returns when to look again, -1: there is nothing to wait for. */
static int64_t act(struct watching *w, int64_t now)
{
	const int64_t stop = w->doubtful ? ctm_deadline_stop_early(&w->time) :
					   ctm_deadline_stop(&w->time);
	const int64_t grace = ctm_deadline_grace(&w->time);
	int64_t last;

	if (!w->asked && (end_asked || now >= stop)) {
		w->by_signal = now < stop;
		w->asked = now;
		(void)kill(w->pid, SIGTERM);
	}
	if (!w->asked) {
		return stop;
	}
	/* to sync and unmount takes longer than to end */
	last = w->asked + (w->raw ? 2 * grace : grace);
	if (!w->killed && now >= last) {
		w->killed = now;
		(void)kill(-w->pid, SIGKILL);
		(void)kill(w->pid, SIGKILL);
	}
	if (!w->killed) {
		return last;
	}
	if (!w->raw) {
		return now >= w->killed + LEAVE_MS ? -1 : w->killed + LEAVE_MS;
	}
	if (now >= w->killed + PATIENCE_MS) {
		tell_wait(w);
	}
	return now + PATIENCE_MS;
}

static void follow(struct watching *w)
{
	while (!w->ended) {
		const int64_t now = ctm_clock_ms();
		const int64_t next = act(w, now);

		if (next < 0) {
			return;
		}
		look(w, next > now ? next - now : 0);
	}
}

/*
 * Whoever was killed has let go of its descriptors, and with them of mounts and loop devices,
 * before it can be waited for; so it is enough to have all of the session's processes. A loop
 * device that udev looks at meanwhile is cleared a little later.
 */
static void settle(struct watching *w)
{
	const struct timespec step = { .tv_nsec = 10 * 1000000L };
	siginfo_t info;
	int64_t since = ctm_clock_ms();

	while (w->raw) {
		info.si_pid = 0;
		if (waitid(P_PGID, (id_t)w->pid, &info, WEXITED | WNOHANG) < 0 && errno == ECHILD) {
			break;
		}
		if (ctm_clock_ms() - since > PATIENCE_MS) {
			tell_wait(w);
		}
		if (info.si_pid == 0) {
			(void)nanosleep(&step, NULL);
		}
	}
	since = ctm_clock_ms();
	while (w->raw && w->path[0] && ctm_loopsearch_path(w->path) &&
	       ctm_clock_ms() - since < SETTLE_MS) {
		(void)nanosleep(&step, NULL);
	}
}

/* --- how it ended ----------------------------------------------------------------------------- */

/* The next hook shall not use up its time for nothing. */
static void leave_note(struct watching *w)
{
	const struct ctm_host *host = &w->job->opts->session.host;
	struct ctm_err err = { 0 };

	if (w->has_seen && ctm_hooknote_write(host, &w->seen, &err) < 0) {
		say(w, &err);
	}
}

/* It was ended by us. */
static int conclude_ended(struct watching *w)
{
	const unsigned int seconds = w->job->opts->max_time;
	struct ctm_err err = { 0 };
	char why[96] = "it was asked to end";

	if (!w->by_signal) {
		(void)snprintf(why, sizeof(why), "its time, %u s, was over", seconds);
	}
	if (w->changed) {
		(void)ctm_err_set(&err, CTM_PARTIAL, ETIME,
				  "all is changed, but not looked at again: %s", why);
	} else if (w->changes) {
		(void)ctm_err_set(&err, CTM_PARTIAL, ETIME,
				  "not all is repaired: %s; the next start goes on with it", why);
		ctm_err_hint(&err, "or stop it and use: ctmend repair %s", w->job->name);
	} else {
		(void)ctm_err_set(&err, CTM_REFUSED, ETIME, "nothing was changed: %s%s", why,
				  w->doubtful ? ", as at an earlier start: the volume has not "
						"answered yet" :
						"");
		ctm_err_hint(&err, "stop it and use: ctmend repair %s", w->job->name);
	}
	say(w, &err);
	if (!w->ended) {
		(void)ctm_err_set(&err, CTM_REFUSED, 0,
				  "process %d is left behind: it was killed, and ends when the "
				  "kernel lets it",
				  (int)w->pid);
		say(w, &err);
	}
	if (!w->changes && !w->doubtful && !w->by_signal) {
		leave_note(w);
	}
	return term_status(&err);
}

/* It had nothing yet to say so itself. */
static int conclude_no_setup(struct watching *w)
{
	struct ctm_err err = { 0 };

	(void)ctm_err_set(
		&err, CTM_SYS, 0,
		"nothing was changed: the process that does the work could not be set up");
	ctm_err_hint(&err, "look at the limits of the caller: ulimit -n");
	say(w, &err);
	return EXIT_FAILED;
}

static int conclude(struct watching *w)
{
	struct ctm_err err = { 0 };

	if (w->ended && w->how.si_code == CLD_EXITED) {
		switch (w->how.si_status) {
		case HOOK_TOO_LATE:
			leave_note(w);
			return EXIT_REFUSED;
		case HOOK_AS_BEFORE:
			return EXIT_REFUSED;
		case HOOK_NO_SETUP:
			return conclude_no_setup(w);
		case EXIT_CLEAN:
		case EXIT_PARTLY:
			if (w->has_seen) {
				ctm_hooknote_remove(&w->job->opts->session.host, w->seen.target);
			}
			return w->how.si_status;
		default:
			return w->how.si_status;
		}
	}
	if (w->asked) {
		return conclude_ended(w);
	}
	(void)ctm_err_set(&err, CTM_SYS, EIO,
			  "the process that did the work was killed by signal %d",
			  w->how.si_status);
	ctm_err_hint(&err, "stop it and use: ctmend check %s", w->job->name);
	say(w, &err);
	return EXIT_FAILED;
}

int hookwatch_run(const struct hookwatch_job *job)
{
	struct watching w = {
		.job = job,
		.time = ctm_deadline_start(job->opts->max_time),
		.pidfd = -1,
		.out = -1,
		.err = -1,
		.talk = -1,
		.lock = -1,
	};
	struct ctm_err err = { 0 };
	int status = EXIT_FAILED;
	int r = start(&w);

	if (r < 0) {
		(void)ctm_err_set(&err, CTM_SYS, r, "start the work");
		say(&w, &err);
		if (w.pid > 0) {
			(void)kill(w.pid, SIGKILL);
		}
	} else {
		follow(&w);
		settle(&w);
		take_all(&w);
		give_lock_back(&w);
		status = conclude(&w);
	}
	relay_flush(&w.relay, SAY_MS);
	ctm_closep(&w.pidfd);
	ctm_closep(&w.out);
	ctm_closep(&w.err);
	ctm_closep(&w.talk);
	return status;
}
