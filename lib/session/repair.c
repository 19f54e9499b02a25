/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session that repairs: plan under the lock, carry out, verify.
 */
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "run/effects.h"
#include "session/locked.h"

void ctm_done_free(struct ctm_done *done)
{
	ctm_exam_free(done->exam);
	ctm_outcome_done(&done->run);
	ctm_plan_free(done->left);
	*done = (struct ctm_done){ 0 };
}

bool ctm_done_partly(const struct ctm_done *done)
{
	/* Without a run there was nothing to change, but perhaps something to say. */
	const struct ctm_plan *now = done->left                      ? done->left :
				     done->run.run[0] || !done->exam ? NULL :
								       done->exam->plan;

	return ctm_outcome_partial(&done->run) || (now && ctm_plan_has_work(now));
}

static int look_read_only(struct ctm_exam *exam, const struct ctm_session_opts *opts,
			  bool *ret_stale, struct ctm_err *err)
{
	CLEANUP(ctm_attached_freep) struct ctm_attached *att = NULL;
	int r = ctm_attach(&opts->host, exam->volume, CTM_READ, &att, err);

	if (r == 0) {
		r = ctm_exam_look(exam, opts, att, err);
	}
	if (r == 0) {
		*ret_stale = ctm_attached_stale(att);
	}
	return r;
}

/* The words of the first finding of this code, or NULL. */
static const char *text_of(const struct ctm_plan *plan, enum ctm_finding_code code)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		if (plan->findings.v[i].code == code) {
			return plan->findings.v[i].text;
		}
	}
	return NULL;
}

int ctm_exam_agree(const struct ctm_exam *exam, const char *digest, struct ctm_err *err)
{
	const struct ctm_plan *plan = exam->plan;
	const char *text;
	int r;

	if (plan->refuse_tree) {
		text = text_of(plan, CTM_F_TREE_HOST);
		r = ctm_err_set(err, CTM_REFUSED, 0, "nothing was changed: %s",
				text ? text : "more than half of the volume would move");
		ctm_err_hint(err, "make a backup or a snapshot, then repeat with --convert");
		return r;
	}
	if (plan->refuse_held) {
		text = text_of(plan, CTM_F_PKG_HELD);
		r = ctm_err_set(err, CTM_REFUSED, 0, "a package manager's lock is held: %s",
				text ? text : "by a process on this host");
		ctm_err_hint(err, "wait for that process to end, or end it");
		return r;
	}
	if (digest && strcmp(digest, exam->digest) != 0) {
		return ctm_err_set(err, CTM_REFUSED, ESTALE,
				   "the plan is not the one that was agreed to, it is now %s",
				   exam->digest);
	}
	return 0;
}

/* Carries out the plan on the volume attached for writing, and looks again. */
static int carry_out(struct ctm_done *done, const struct ctm_session_opts *opts,
		     struct ctm_attached *att, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	CLEANUP(ctm_effects_done) struct ctm_effects fx = { .root = -1, .real = -1 };
	struct ctm_run run = { .ops = &ctm_effects_ops, .fs = &fx };
	char user[64];
	int r;

	ctm_locked_describe(done->exam, opts, user, &run);
	r = ctm_locked_state(done->exam, opts, true, &state, err);
	if (r == 0) {
		r = ctm_effects_init(&fx, ctm_attached_root(att),
				     done->exam->volume->kind != CTM_VOLUME_DIR, err);
	}
	if (r == 0) {
		run.state = state;
		r = ctm_repair(&run, done->exam->plan, done->exam->digest, &done->run, err);
	}
	if (r == 0) {
		r = ctm_exam_plan(done->exam, opts, att, &done->left, err);
	}
	return r;
}

static int repair_attached(struct ctm_done *done, const struct ctm_session_opts *opts,
			   const char *digest, bool stale, struct ctm_err *err)
{
	struct ctm_attached *att = NULL;
	int detach;
	int r = ctm_attach(&opts->host, done->exam->volume, CTM_WRITE, &att, err);

	if (r < 0) {
		return r;
	}
	if (stale) {
		/* The kernel has replayed the journal now: what was read before may be old. */
		r = ctm_exam_look(done->exam, opts, att, err);
		if (r == 0) {
			r = ctm_exam_agree(done->exam, digest, err);
		}
	}
	if (r == 0 && done->exam->plan->actions.n) {
		r = carry_out(done, opts, att, err);
	}
	detach = ctm_detach(att, r < 0 ? NULL : err);
	return r < 0 ? r : detach;
}

int ctm_session_repair(const char *name, const struct ctm_session_opts *opts, const char *digest,
		       struct ctm_done *ret, struct ctm_err *err)
{
	CLEANUP(ctm_guard_freep) struct ctm_guard *guard = NULL;
	bool stale = false;
	int r = ctm_exam_new(name, opts, &ret->exam, err);

	if (r == 0 && ret->exam->target->no_map) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "without a map nothing can be repaired");
		ctm_err_hint(err, "give --map or --ct-config; check shows which map it looks like");
	}
	if (r == 0 && ctm_exam_no_map(ret->exam)) {
		r = look_read_only(ret->exam, opts, &stale, err);
		return r;
	}
	if (r == 0) {
		r = ctm_locked_begin(name, opts, &ret->exam, &guard, err);
	}
	if (r == 0) {
		r = look_read_only(ret->exam, opts, &stale, err);
	}
	if (r == 0) {
		r = ctm_exam_agree(ret->exam, digest, err);
	}
	if (r < 0 || !ret->exam->plan->actions.n) {
		return r;
	}
	return repair_attached(ret, opts, digest, stale, err);
}
