/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One walk, from the root's descriptor to the last record. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/walk_state.h"

CTM_TREE_CALLS

/* What a process has open beside directories: standard streams, root, pipe, and some to spare. */
#define FDS_RESERVED 16
/* What a worker has open beyond the budget: its directory, and a file at a rule's path. */
#define FDS_WORKER ((size_t)2)
#define FDS_MAX    1024

static void worker_done(struct ctm_worker *w)
{
	ctm_tally_done(&w->tally);
	ctm_feed_out_done(&w->out);
	ctm_buf_done(&w->path);
	ctm_buf_done(&w->step);
	free(w->list);
	free(w->values);
	free(w->entries);
}

static int worker_init(struct ctm_worker *w, struct ctm_walk *walk, int out, unsigned int number,
		       struct ctm_pulse *pulse)
{
	*w = (struct ctm_worker){
		.walk = walk,
		.fd = -1,
		.list = malloc(CTM_WALK_LIST_MAX),
		.values = malloc(3 * (size_t)CTM_FEED_VALUE_MAX),
		.entries = malloc(CTM_WALK_BLOCK),
	};
	w->found_end = &w->found;
	ctm_sieve_init(&w->sieve, walk->req);
	w->pulse = pulse ? &pulse[number] : &w->unseen;
	ctm_feed_out_init(&w->out, out, &walk->out_lock, (uint16_t)number);
	return w->list && w->values && w->entries ? 0 : -ENOMEM;
}

static void work(struct ctm_worker *w)
{
	int r = 0;

	while (r == 0 && ctm_walk_next(w)) {
		r = ctm_walk_dir(w);
	}
	if (r == 0) {
		r = ctm_feed_flush(&w->out);
	}
	if (r < 0) {
		ctm_walk_abort(w->walk, -r, r == -ENOMEM ? "memory" : "write");
	}
	ctm_walk_give(w);
	ctm_walk_speak_of(w, NULL);
}

static void *worker_main(void *arg)
{
	struct ctm_worker *w = arg;

	/* A working directory of its own: threads share one otherwise. */
	if (unshare(CLONE_FS) < 0) {
		ctm_walk_abort(w->walk, errno, "thread");
		return NULL;
	}
	work(w);
	return NULL;
}

/*
 * The first worker is the thread that calls; some more is better than none, so a failure to start
 * one is no error.
 */
static void run(struct ctm_walk *walk, struct ctm_worker *workers)
{
	unsigned int n = 1;

	while (n < walk->jobs &&
	       pthread_create(&workers[n].thread, NULL, worker_main, &workers[n]) == 0) {
		n++;
	}
	work(&workers[0]);
	for (unsigned int i = 1; i < n; i++) {
		(void)pthread_join(workers[i].thread, NULL);
	}
}

static int open_root(struct ctm_walk *walk, struct ctm_worker *w, int rootfd)
{
	CLEANUP_CLOSE int fd = ctm_walk_openat(w, rootfd, ".", O_RDONLY | O_DIRECTORY);
	struct statx stx;
	struct statfs sfs;

	if (fd < 0) {
		return fd;
	}
	walk->is_btrfs = fstatfs(fd, &sfs) == 0 && sfs.f_type == BTRFS_SUPER_MAGIC;
	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID, &stx) <
	    0) {
		return -errno;
	}
	walk->has_mnt_id = (stx.stx_mask & STATX_MNT_ID) != 0;
	walk->mnt_id = stx.stx_mnt_id;
	walk->root = ctm_dirnode_new(NULL, "", 0, makedev(stx.stx_dev_major, stx.stx_dev_minor),
				     stx.stx_ino);
	if (!walk->root) {
		return -ENOMEM;
	}
	walk->root->rule = w->sieve.rules ? ctm_rules_root() : NULL;
	walk->nodes = 1;
	/* Never idle, so never closed. */
	(void)ctm_dirfds_put(&walk->fds, walk->root, TAKE_FD(fd));
	return 0;
}

/* The budget, and no more workers than it can feed. */
static void set_budget(struct ctm_walk *walk)
{
	struct rlimit limit = { .rlim_cur = 256 };
	size_t jobs = walk->jobs ? walk->jobs : 1;
	size_t max;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	max = limit.rlim_cur < FDS_MAX ? (size_t)limit.rlim_cur : FDS_MAX;
	max = max > FDS_RESERVED ? max - FDS_RESERVED : 1;
	/* At least as many for the cache as for the workers' own. */
	while (jobs > 1 && jobs * 2 * FDS_WORKER > max) {
		jobs--;
	}
	walk->fds.budget = max > jobs * FDS_WORKER ? max - jobs * FDS_WORKER : 1;
	walk->jobs = (unsigned int)jobs;
}

static int tell_totals(struct ctm_walk *walk, struct ctm_worker *workers, unsigned int jobs)
{
	struct ctm_scan_totals totals = { 0 };
	int r;

	for (unsigned int i = 0; i < jobs; i++) {
		ctm_tally_merge(&walk->tally, &workers[i].tally);
	}
	r = ctm_tally_finish(&walk->tally, &totals);
	if (r == 0) {
		r = ctm_feed_totals(&workers[0].out, &totals);
	}
	if (r == 0) {
		r = ctm_feed_end(&workers[0].out);
	}
	if (r == 0) {
		r = ctm_feed_flush(&workers[0].out);
	}
	ctm_scan_totals_done(&totals);
	return r;
}

/* Nothing runs any more: what is left after a failure needs no order. */
static void walk_done(struct ctm_walk *walk)
{
	struct ctm_dirnode *dead = NULL;

	while (walk->pending) {
		struct ctm_dirnode *next = walk->pending->next;

		ctm_dirnode_unref(walk->pending, &dead);
		walk->pending = next;
	}
	if (walk->root) {
		ctm_dirnode_unref(walk->root, &dead);
	}
	ctm_walk_bury(dead);
	ctm_tally_done(&walk->tally);
	(void)pthread_mutex_destroy(&walk->out_lock);
	(void)pthread_mutex_destroy(&walk->lock);
	(void)pthread_cond_destroy(&walk->more);
}

static int walk_all(struct ctm_walk *walk, struct ctm_worker *workers, int rootfd)
{
	int r = open_root(walk, &workers[0], rootfd);

	if (r < 0) {
		ctm_walk_abort(walk, -r, "open");
		return r;
	}
	r = ctm_walk_starts(&workers[0]);
	if (r < 0) {
		ctm_walk_abort(walk, -r, r == -ENOMEM ? "memory" : "write");
		return r;
	}
	run(walk, workers);
	return -walk->failed;
}

int ctm_walk_tree(int rootfd, int out, const struct ctm_scan_request *req, unsigned int jobs,
		  struct ctm_pulse *pulse)
{
	struct ctm_walk walk = {
		.req = req,
		.jobs = jobs,
		.out_lock = PTHREAD_MUTEX_INITIALIZER,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.more = PTHREAD_COND_INITIALIZER,
	};
	struct ctm_worker *workers;
	int r = 0;

	set_budget(&walk);
	workers = calloc(walk.jobs ? walk.jobs : 1, sizeof(*workers));
	if (!workers) {
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < walk.jobs; i++) {
		int one = worker_init(&workers[i], &walk, out, i, pulse);

		r = r < 0 ? r : one;
	}
	if (r < 0) {
		ctm_walk_abort(&walk, -r, "memory");
	} else {
		r = walk_all(&walk, workers, rootfd);
	}
	if (r == 0) {
		r = tell_totals(&walk, workers, walk.jobs);
	} else {
		/* Best effort: when the pipe is gone there is nobody to tell. */
		(void)ctm_feed_fail(&workers[0].out, walk.failed, walk.failed_op);
		(void)ctm_feed_flush(&workers[0].out);
	}
	walk_done(&walk);
	for (unsigned int i = 0; i < walk.jobs; i++) {
		worker_done(&workers[i]);
	}
	free(workers);
	return r;
}
