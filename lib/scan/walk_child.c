/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that reads a hostile tree. It has the root's descriptor and the pipe, and nothing
 * else of its parent: a bug in here must not become anybody's way to the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/confine.h"
#include "scan/walk_state.h"

/*
 * Where the two descriptors are in the new process. Standard error is the root, too: what the C
 * library has to say in an emergency goes nowhere, instead of to a file of the caller's, or to a
 * directory that happens to get the number.
 */
#define ROOT_FD  STDIN_FILENO
#define OUT_FD   STDOUT_FILENO
#define FIRST_FD (STDERR_FILENO + 1)

static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL ||
	       sig == SIGABRT || sig == SIGTRAP || sig == SIGSYS;
}

/*
 * Handlers of the parent are about the parent; those of faults may be a sanitizer's and stay.
 * Ctrl-C and Ctrl-Z go to both processes: what follows from them is the parent's to decide. One
 * that holds a lock does not let itself be stopped, and cannot go on without what we read.
 */
static void reset_signals(void)
{
	const int ignored[] = { SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU };
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		if (!is_fault(sig)) {
			/* KILL, STOP and those of the C library refuse; so be it. */
			(void)sigaction(sig, &action, NULL);
		}
	}
	action.sa_handler = SIG_IGN;
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++) {
		(void)sigaction(ignored[i], &action, NULL);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * The descriptors may be any in the parent, also each other's new place: first out of the way, then
 * in.
 */
static int keep_two(int rootfd, int out)
{
	int root = fcntl(rootfd, F_DUPFD_CLOEXEC, FIRST_FD);
	int pipe = fcntl(out, F_DUPFD_CLOEXEC, FIRST_FD);

	if (root < 0 || pipe < 0 || dup3(root, ROOT_FD, O_CLOEXEC) < 0 ||
	    dup3(pipe, OUT_FD, O_CLOEXEC) < 0 || dup3(root, STDERR_FILENO, O_CLOEXEC) < 0 ||
	    close_range(FIRST_FD, ~0u, 0) < 0) {
		return -errno;
	}
	return 0;
}

/* In here, because a file system that does not answer keeps whoever asks it. */
static int put_on_leash(unsigned int threads)
{
	struct ctm_leash leash;
	int r = ctm_leash_for(ROOT_FD, threads, &leash);

	return r < 0 ? r : ctm_leash_put(0, &leash);
}

/* Why there is no walk. */
static void tell(int out, int err, const char *op)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ctm_feed_out feed;

	ctm_feed_out_init(&feed, out, &lock, 0);
	(void)ctm_feed_fail(&feed, err, op);
	(void)ctm_feed_flush(&feed);
	ctm_feed_out_done(&feed);
}

int ctm_walk_child(const struct ctm_walk_birth *birth, const struct ctm_scan_request *req)
{
	const char *op = "confine: descriptors";
	int r;

	reset_signals();
	r = keep_two(birth->rootfd, birth->out);
	if (r < 0) {
		tell(birth->out, -r, op);
		return CTM_WALK_EXIT_SETUP;
	}
	op = "confine: limits";
	r = put_on_leash(birth->jobs);
	if (r < 0) {
		tell(OUT_FD, -r, op);
		return CTM_WALK_EXIT_SETUP;
	}
	r = ctm_confine(ROOT_FD, birth->parent, birth->id, &op);
	if (r < 0) {
		tell(OUT_FD, -r, op);
		return CTM_WALK_EXIT_SETUP;
	}
	return ctm_walk_tree(ROOT_FD, OUT_FD, req, birth->jobs, birth->pulse) < 0 ?
		       CTM_WALK_EXIT_FAILED :
		       0;
}
