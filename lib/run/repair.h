/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * repair: a confirmed plan becomes a sealed record, and then the record is applied.
 */
#ifndef CTM_RUN_REPAIR_H
#define CTM_RUN_REPAIR_H

#include "base/err.h"
#include "plan/plan.h"
#include "run/ops.h"
#include "run/outcome.h"
#include "run/state.h"
#include "run/stop.h"
#include "target/identity.h"

/**
 * What repair and undo need to know of the run they make; all borrowed. The volume is attached for
 * writing and the guard held.
 *
 *	ctm_state_name(target->kind, target->name, &name)
 *	ctm_state_open(host, name.p, wait, &state, &err)
 *	ctm_effects_init(&fx, ctm_attached_root(att), vol->kind != CTM_VOLUME_DIR, &err)
 *	struct ctm_run run = { .state = state, .ops = &ctm_effects_ops, .fs = &fx, ... }
 *	ctm_repair(&run, plan, digest, &outcome, &err)
 */
struct ctm_run {
	struct ctm_state *state; /* opened for writing */
	const struct ctm_ops *ops;
	void *fs;
	const struct ctm_identity *identity;
	const struct ctm_idmap *map;  /* NULL, undo alone: not known, the record's is taken */
	const char *target;           /* as the user named it */
	const char *volume;           /* "rootfs" */
	const char *user;             /* ctm_run_user() */
	const char *options;          /* the command line's words that mattered, "" for none */
	const struct ctm_idmap *from; /* --from-map, for the record; NULL: none */
	const char *caller;           /* "hook"; NULL: a person */
	/* Undo of a part: entries at and below these paths; part: the same in words. */
	const char *const *paths;
	size_t n_paths;
	const char *part;
	struct ctm_stop *stop; /* NULL: nobody asks */
	ctm_progress_fn progress;
	void *progress_arg;
};

/**
 * Records and applies a finished and inspected plan (its digest: ctm_plan_digest()). Each inode is
 * opened and read again: what is not as the plan saw it is a conflict and left. Nothing of the
 * volume has changed when the record cannot be written. A plan without actions does nothing and
 * leaves no record. CTM_REFUSED: the plan itself refuses (tree.host, held lock), or an earlier run
 * was interrupted.
 */
int ctm_repair(const struct ctm_run *run, const struct ctm_plan *plan, const char *digest,
	       struct ctm_outcome *out, struct ctm_err *err);

/**
 * Finishes an interrupted run (ctm_history_unfinished()) from its record, be it a repair or an
 * undo. The disk is believed, not the marks: what is neither before, after nor on its way is a
 * conflict.
 */
int ctm_repair_resume(const struct ctm_run *run, const char *name, struct ctm_outcome *out,
		      struct ctm_err *err);

/**
 * Who asked for it, for the record and the syslog: SUDO_USER, else the login uid's name, else the
 * user's own.
 */
void ctm_run_user(char ret[static 64]);

#endif
