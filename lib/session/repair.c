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
#include "run/history.h"
#include "session/damaged.h"
#include "session/locked.h"
#include "session/reading.h"
#include "session/unfinished.h"
#include "session/watch.h"
#include "session/watched.h"

void ctm_done_free(struct ctm_done *done)
{
	ctm_exam_free(done->exam);
	ctm_outcome_done(&done->finished);
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

	return done->started || ctm_outcome_partial(&done->finished) ||
	       ctm_outcome_partial(&done->run) || (now && ctm_plan_has_work(now));
}

static int look_read_only(struct ctm_exam *exam, const struct ctm_session_opts *opts,
			  bool *ret_stale, struct ctm_err *err)
{
	struct ctm_attached *att = NULL;
	int r;

	ctm_watched_hold(exam, opts);
	r = ctm_attach(&opts->host, exam->volume, CTM_READ, &att, err);
	if (r == 0) {
		r = ctm_watched_attached(exam, opts, att, err);
	}
	if (r == 0) {
		r = ctm_exam_look(exam, opts, att, err);
	}
	if (r == 0) {
		*ret_stale = ctm_attached_stale(att);
	}
	ctm_attached_freep(&att);
	ctm_watched_let_go(opts);
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

	if (exam->target->no_map && !exam->back) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "without a map nothing can be repaired");
		ctm_err_hint(err, "give --map or --ct-config; check shows which map it looks like");
		return r;
	}
	if (!plan) {
		return 0;
	}
	if (ctm_exam_no_map(exam)) {
		r = ctm_err_set(
			err, CTM_REFUSED, 0,
			"nothing was changed: the volume is shifted, the configuration says "
			"that it is not");
		ctm_err_hint(err, "correct the configuration; ctmend map %s says what is wrong",
			     exam->target->name);
		return r;
	}
	if (plan->refuse_tree) {
		text = text_of(plan, CTM_F_TREE_HOST);
		text = text ? text : text_of(plan, CTM_F_TREE_FIX);
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
		r = ctm_err_set(err, CTM_REFUSED, ESTALE,
				"the plan is not the one that was agreed to, it is now %s",
				exam->digest);
		ctm_err_hint(err, "look at it again with: ctmend diff %s", exam->target->name);
		return r;
	}
	return 0;
}

/* The volume attached for writing, with its records. */
struct work {
	const struct ctm_session_opts *opts;
	struct ctm_attached *att;
	struct ctm_state *state;
	struct ctm_effects fx;
	struct ctm_run run;
	char user[64];
};

static void work_done(struct work *w)
{
	ctm_effects_done(&w->fx);
	ctm_state_free(w->state);
	ctm_attached_freep(&w->att);
	ctm_watched_let_go(w->opts);
}

static int work_begin(struct work *w, struct ctm_done *done, const struct ctm_session_opts *opts,
		      struct ctm_err *err)
{
	int r = ctm_locked_state(done->exam, opts, true, &w->state, err);

	/* who it is may have to be asked of a server; so all that may wait comes first */
	ctm_locked_describe(done->exam, opts, w->user, &w->run);
	r = r < 0 ? r : ctm_watched_time(done->exam, opts, err);
	if (r == 0) {
		ctm_watched_hold(done->exam, opts);
		r = ctm_locked_attach(done->exam, opts, &w->att, err);
	}
	if (r == 0) {
		done->exam->alone = opts->starting && done->exam->volume->kind != CTM_VOLUME_DIR;
		done->exam->identity = *ctm_attached_identity(w->att);
		r = ctm_effects_init(&w->fx, ctm_attached_root(w->att),
				     done->exam->volume->kind != CTM_VOLUME_DIR, err);
	}
	w->run.ops = &ctm_effects_ops;
	w->run.fs = &w->fx;
	w->run.state = w->state;
	return r;
}

/* Takes a fresh look; what the user agreed to must still be what there is to do. */
static int look_again(struct ctm_done *done, const struct ctm_session_opts *opts,
		      const char *digest, struct ctm_attached *att, struct ctm_err *err)
{
	int r = ctm_exam_look(done->exam, opts, att, err);

	return r < 0 ? r : ctm_exam_agree(done->exam, digest, err);
}

static void tell_changes(const struct ctm_session_opts *opts)
{
	if (opts->watch) {
		opts->watch->changes(opts->watch->arg);
	}
}

/*
 * Finishes the run that the plan begins with, and plans anew. 1: what is to be done now was agreed
 * to: all of it stood in the plan that was shown, or nobody wanted to see one (digest NULL).
 */
static int finish_first(struct work *w, struct ctm_done *done, const struct ctm_session_opts *opts,
			const char *digest, struct ctm_err *err)
{
	CLEANUP(ctm_planp_free) struct ctm_plan *agreed = NULL;
	int r;

	tell_changes(opts);
	r = ctm_repair_resume(&w->run, done->exam->unfinished, &done->finished, err);

	if (r < 0 || done->finished.stopped) {
		return r;
	}
	agreed = TAKE_PTR(done->exam->plan);
	r = ctm_exam_look(done->exam, opts, w->att, err);
	if (r < 0) {
		return r;
	}
	return ctm_exam_agree(done->exam, NULL, NULL) == 0 &&
	       (!digest || ctm_plan_within(done->exam->plan, agreed));
}

/* stale: what was seen read-only may be old. */
static int work_through(struct work *w, struct ctm_done *done, const struct ctm_session_opts *opts,
			const char *digest, bool stale, struct ctm_err *err)
{
	int go_on = 1;
	struct ctm_session_opts later = *opts;
	int r = work_begin(w, done, opts, err);

	if (r == 0 && stale) {
		r = look_again(done, opts, digest, w->att, err);
	}
	if (r == 0 && done->exam->unfinished[0]) {
		/* What a run with --from-map has moved already is not to be moved again. */
		const bool dropped = opts->from_map && !done->exam->from;

		later.from_map = done->exam->from ? opts->from_map : NULL;
		go_on = finish_first(w, done, &later, digest, err);
		r = go_on < 0 ? go_on : 0;
		/* By the map alone the ids that it names mean others. */
		go_on = go_on && !dropped;
		/* There may be one more, that this one had taken back. */
		done->finished.unfinished |= r == 0 && !done->finished.stopped &&
					     done->exam->unfinished[0];
	}
	if (r < 0) {
		return r;
	}
	/* What could not be finished comes first the next time, too. */
	if (go_on && done->exam->plan->actions.n && !done->finished.unfinished) {
		w->run.from = done->exam->from;
		tell_changes(opts);
		r = ctm_repair(&w->run, done->exam->plan, done->exam->digest, &done->run, err);
	}
	if (r == 0 && opts->watch) {
		opts->watch->changed(done->run.run[0] ? &done->run : &done->finished,
				     opts->watch->arg);
	}
	/* who has asked to stop does not wait for a scan */
	if (r == 0 && !done->finished.stopped && !done->run.stopped) {
		/* By the map alone: where the ids came from, they are no more. */
		later.from_map = NULL;
		r = ctm_exam_plan(done->exam, &later, w->att, &done->left, err);
	}
	if (r == 0 && done->left && !opts->hook) {
		r = ctm_damaged_note(done->exam, w->state, done->left, err);
	}
	return r < 0 ? r : ctm_locked_retain(done->exam, w->state, &done->run, err);
}

static int repair_attached(struct ctm_done *done, const struct ctm_session_opts *opts,
			   const char *digest, bool stale, struct ctm_err *err)
{
	CLEANUP(work_done) struct work w = { .opts = opts, .fx = { .root = -1, .real = -1 } };
	int r = work_through(&w, done, opts, digest, stale, err);

	if (r < 0) {
		return r;
	}
	ctm_effects_done(&w.fx);
	w.fx = (struct ctm_effects){ .root = -1, .real = -1 };
	r = ctm_detach(TAKE_PTR(w.att), err);
	return r < 0 ? r : ctm_locked_started(done->exam, opts, &done->started, err);
}

/* Nothing to shift, or nothing to shift by. */
static int look_without_map(struct ctm_done *done, const struct ctm_session_opts *opts,
			    struct ctm_err *err)
{
	CLEANUP(ctm_reading_done) struct ctm_reading reading = { 0 };
	bool stale;
	int r = ctm_exam_agree(done->exam, NULL, err);

	if (r == 0 && opts->starting) {
		/* who starts the container holds its lock, and waits for us */
		r = look_read_only(done->exam, opts, &stale, err);
	} else if (r == 0) {
		ctm_watched_hold(done->exam, opts);
		r = ctm_reading_begin(done->exam, opts, &reading, err);
		r = r < 0 ? r : ctm_exam_look(done->exam, opts, reading.att, err);
		r = r < 0 ? r : ctm_reading_end(done->exam, &reading, err);
		ctm_reading_done(&reading);
		ctm_watched_let_go(opts);
	}
	return r < 0 ? r : ctm_exam_agree(done->exam, NULL, err);
}

/* What a repair finds out before it changes anything. */
struct due {
	struct ctm_guard *guard;
	bool stale; /* what was seen read-only may be old */
};

static void due_done(struct due *due)
{
	ctm_guard_freep(&due->guard);
}

/*
 * 1: there is something to change, or the journal keeps it from being known that there is not, and
 * the guard is held; 0: there is nothing.
 */
static int find_due(const char *name, const struct ctm_session_opts *opts, const char *digest,
		    struct ctm_done *done, struct due *due, struct ctm_err *err)
{
	int r = ctm_exam_new(name, opts, &done->exam, err);

	if (r == 0 && ctm_exam_no_map(done->exam)) {
		return look_without_map(done, opts, err);
	}
	if (r == 0) {
		r = ctm_watched_begin(done->exam, opts, err);
	}
	if (r == 0) {
		r = ctm_locked_begin(name, opts, &done->exam, &due->guard, err);
	}
	if (r == 0) {
		done->exam->to_repair = true;
		r = look_read_only(done->exam, opts, &due->stale, err);
	}
	if (r == 0) {
		r = ctm_exam_agree(done->exam, digest, err);
	}
	if (r == 0) {
		r = ctm_unfinished_agree(done->exam, opts, err);
	}
	return r < 0 ? r :
		       done->exam->plan->actions.n || done->exam->unfinished[0] ||
			       done->exam->dirty;
}

int ctm_session_repair_due(const char *name, const struct ctm_session_opts *opts,
			   const char *digest, bool *ret, struct ctm_err *err)
{
	CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
	CLEANUP(due_done) struct due due = { .guard = NULL };
	int r = find_due(name, opts, digest, &done, &due, err);

	if (r < 0) {
		return r;
	}
	*ret = r > 0;
	return 0;
}

int ctm_session_repair(const char *name, const struct ctm_session_opts *opts, const char *digest,
		       struct ctm_done *ret, struct ctm_err *err)
{
	CLEANUP(due_done) struct due due = { .guard = NULL };
	int r = find_due(name, opts, digest, ret, &due, err);

	if (r > 0) {
		r = repair_attached(ret, opts, digest, due.stale, err);
	}
	if (r == 0) {
		ctm_watched_forget(ret->exam, opts);
	}
	return r < 0 ? r : ctm_exam_unguard(ret->exam, TAKE_PTR(due.guard), err);
}
