/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long records are kept.
 */
#ifndef CTM_RUN_RETAIN_H
#define CTM_RUN_RETAIN_H

#include "base/err.h"
#include "run/history.h"

struct ctm_retention {
	unsigned int runs; /* that many stay of those of a target that people made, and of hooks' */
	unsigned int days; /* but for those that are older */
	/* and that many of those in which a hook has changed no inode and but removed files */
	unsigned int lock_runs;
};
/* what stays after a repair, and the defaults of --prune */
#define CTM_RETAIN_RUNS      20
#define CTM_RETAIN_DAYS      90
#define CTM_RETAIN_LOCK_RUNS 5

/**
 * Sets .expired of the runs that need not be kept: beyond the newest .runs or .lock_runs of their
 * sort, or older than .days. The three sorts are counted apart. A container can plant a lock before
 * each of its starts, for the hook to remove: that pushes out neither what a person did nor what a
 * hook has repaired.
 * Always kept are: the newest run, so that numbers go on; what has no end, or cannot be read, so
 * that this is not known; a run that an unfinished undo takes back; and an undo whose run is kept,
 * or that run would count as not undone. now: seconds since 1970; of a clock that went backwards no
 * run is old.
 */
void ctm_retain_mark(struct ctm_history *history, const struct ctm_retention *keep, int64_t now);

/** Told of each run that goes, before it does. */
typedef void (*ctm_retain_fn)(const struct ctm_run_info *run, void *arg);

/**
 * Removes what need not be kept (state opened for writing), oldest first. Where nothing can be due
 * no record is read. fn may be NULL.
 */
int ctm_retain(struct ctm_state *state, const struct ctm_retention *keep, int64_t now,
	       ctm_retain_fn fn, void *arg, struct ctm_err *err);

#endif
