/* SPDX-License-Identifier: GPL-3.0-or-later */
/* repair: a confirmed plan becomes a sealed record, and then the record is applied. */
#include "run/repair.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "run/apply_subvol.h"
#include "run/confirm.h"
#include "run/history.h"
#include "run/privileged.h"
#include "run/recording.h"

static int refuse(const struct ctm_plan *plan, struct ctm_err *err)
{
	if (plan->refuse_tree) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "the volume as a whole is shifted otherwise than its map says");
	}
	if (plan->refuse_held) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "a process holds a lock of the package manager");
	}
	return 0;
}

static int refuse_unfinished(const struct ctm_run *run, struct ctm_err *err)
{
	char name[CTM_RUN_NAME_MAX];
	int r = ctm_history_unfinished(run->state, run->volume, name, err);

	if (r <= 0) {
		return r;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "run %s was interrupted and has to be finished first",
			name);
	ctm_err_hint(err, "ctmend undo %s %s puts the volume back as it was before it", run->target,
		     name);
	return r;
}

/* Tells what could not be recorded; an error is one of the record, not of the entry. */
static int left(struct ctm_outcome *out, const struct ctm_action *action,
		const struct ctm_step *step, struct ctm_err *err)
{
	const struct ctm_result result = {
		.kind = step->did == CTM_DID_CONFLICT ? CTM_RESULT_CONFLICT : CTM_RESULT_FAILED,
		.path = action->path,
		.path_len = action->path_len,
		.what = step->what,
		.err = step->err,
		.dev = step->dev,
	};

	return ctm_outcome_add(out, &result) < 0 ? ctm_err_nomem(err) : 0;
}

static int record_one(struct ctm_recording *rec, const struct ctm_action *action,
		      struct ctm_outcome *out, struct ctm_err *err)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_entry entry;
	struct ctm_step step = ctm_confirm(rec->run->ops, rec->run->fs, action, &arena, &entry);
	int r;

	if (step.did == CTM_DID_NOTHING) {
		out->counts.already++;
		return 0;
	}
	if (step.did != CTM_DID_CHANGE) {
		return left(out, action, &step, err);
	}
	r = ctm_privileged_record(rec->run->ops, rec->run->fs, &entry, &rec->readable);
	if (r < 0) {
		step = r == -ESTALE ? ctm_step_conflict("changed") : ctm_step_fail(r, "read");
		return left(out, action, &step, err);
	}
	if (entry.kind == CTM_ENTRY_SET) {
		return ctm_recording_add(rec, &entry, err);
	}
	r = ctm_recording_save(rec, &entry, err);
	if (r == -ESTALE) {
		step = ctm_step_conflict("changed");
		r = left(out, action, &step, err);
	}
	return r;
}

/* Files go first; the root comes last, so that its owner tells of a complete repair. */
static int pass_of(const struct ctm_action *action)
{
	if (action->kind == CTM_ACT_REMOVE) {
		return 0;
	}
	return action->path_len > 0 ? 1 : 2;
}

/* Both sides of what is done in a subvolume. One that became writable meanwhile stays so. */
static int record_subvols(struct ctm_recording *rec, const struct ctm_plan *plan,
			  enum ctm_entry_kind kind, struct ctm_outcome *out, struct ctm_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->subvols.n; i++) {
		const struct ctm_plan_subvol *subvol = &plan->subvols.v[i];
		const struct ctm_action like = { .path = subvol->path,
						 .path_len = subvol->path_len };
		struct ctm_entry e;
		struct ctm_step step = ctm_confirm_subvol(rec->run->ops, rec->run->fs, subvol, &e);

		if (step.did == CTM_DID_CHANGE) {
			e.kind = kind;
			r = ctm_recording_add(rec, &e, err);
		} else if (kind == CTM_ENTRY_READONLY && step.did == CTM_DID_FAIL) {
			/* it would stay writable */
			r = ctm_err_set(err, CTM_SYS, step.err, "look at a subvolume again");
		} else if (step.did != CTM_DID_NOTHING && kind == CTM_ENTRY_WRITABLE) {
			r = left(out, &like, &step, err);
		}
	}
	return r;
}

static int record_all(struct ctm_recording *rec, const struct ctm_plan *plan,
		      struct ctm_outcome *out, struct ctm_err *err)
{
	int r = record_subvols(rec, plan, CTM_ENTRY_WRITABLE, out, err);

	if (r < 0) {
		return r;
	}
	for (int pass = 0; pass <= 2; pass++) {
		for (size_t i = 0; i < plan->actions.n; i++) {
			const struct ctm_action *action = &plan->actions.v[i];

			r = pass_of(action) == pass ? record_one(rec, action, out, err) : 0;
			if (r < 0) {
				return r;
			}
			ctm_spill_pass(plan->spill);
		}
	}
	return record_subvols(rec, plan, CTM_ENTRY_READONLY, out, err);
}

int ctm_repair(const struct ctm_run *run, const struct ctm_plan *plan, const char *digest,
	       struct ctm_outcome *out, struct ctm_err *err)
{
	CLEANUP(ctm_recording_done) struct ctm_recording rec = { .dir = -1 };
	int r = refuse(plan, err);

	if (r < 0 || plan->actions.n == 0) {
		return r;
	}
	r = refuse_unfinished(run, err);
	if (r < 0) {
		return r;
	}
	r = ctm_recording_begin(&rec, run, NULL, digest, err);
	if (r == 0) {
		r = record_all(&rec, plan, out, err);
	}
	if (r == 0 && ctm_recording_entries(&rec) > 0) {
		r = ctm_recording_seal(&rec, err);
	}
	if (r < 0) {
		return ctm_recording_failed(r, err);
	}
	return rec.sealed ? ctm_recording_apply(&rec, out, err) : 0;
}

int ctm_repair_resume(const struct ctm_run *run, const char *name, struct ctm_outcome *out,
		      struct ctm_err *err)
{
	return ctm_run_apply(run, name, true, out, err);
}
