/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * undo: the record of a run, swapped, is a record of its own.
 */
#ifndef CTM_RUN_UNDO_H
#define CTM_RUN_UNDO_H

#include "base/err.h"
#include "run/history.h"
#include "run/outcome.h"
#include "run/repair.h"

/**
 * Which run would be taken back: typed (a name or number) or, when NULL, the newest one of the
 * volume (run->volume NULL: of any of the target's) that has changed something, is no undo and is
 * not taken back; an undo that was interrupted comes before it, since ctm_undo() finishes it.
 * CTM_REFUSED: there is none, or it was of another volume.
 */
int ctm_undo_choose(const struct ctm_run *run, const char *typed, struct ctm_run_info *ret,
		    struct ctm_err *err);

/** What an undo would do with one entry; as ctm_apply's, but nothing changes. */
typedef int (*ctm_undo_fn)(const struct ctm_entry *entry, void *arg);

/**
 * Shows each entry that an undo of this run would apply (before is what stands there now), for
 * --dry-run and the question. What has changed since is a conflict in out. Entries that are
 * already as before are left out.
 */
int ctm_undo_plan(const struct ctm_run *run, const char *name, ctm_undo_fn fn, void *arg,
		  struct ctm_outcome *out, struct ctm_err *err);

/**
 * Takes the run back, newest entry first; removed files come back, mtimes of their directories
 * too. What is not in the state the run left is a conflict, left and listed. The undo is a run
 * with a record of its own, so it can be undone by name. An undo that was interrupted is finished
 * instead. run->paths: a part alone, of a run that has ended (else CTM_REFUSED); what is left of it
 * can be taken back later.
 */
int ctm_undo(const struct ctm_run *run, const char *name, struct ctm_outcome *out,
	     struct ctm_err *err);

#endif
