/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long records are kept.
 */
#ifndef CTM_RUN_RETAIN_H
#define CTM_RUN_RETAIN_H

#include "base/err.h"
#include "run/history.h"

struct ctm_retention {
	unsigned int runs;      /* that many stay of those of a target that people made */
	unsigned int days;      /* but for those that are older */
	unsigned int hook_runs; /* and that many of those that hooks made */
};
/* what stays after a repair, and the defaults of --prune */
#define CTM_RETAIN_RUNS      20
#define CTM_RETAIN_DAYS      90
#define CTM_RETAIN_HOOK_RUNS 5

/**
 * Sets .expired of the runs that need not be kept: beyond the newest .runs or .hook_runs of their
 * sort, or older than .days. The two are counted apart, so that no start of a container, which may
 * bring a hook's run about, pushes out what a person did.
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
