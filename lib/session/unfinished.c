/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of the volume that was interrupted. */
#include "session/unfinished.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "run/effects.h"
#include "run/recording.h"
#include "run/rest.h"
#include "session/damaged.h"
#include "session/locked.h"

struct looking {
	struct ctm_plan *plan;
	CTM_VEC(struct ctm_action) actions; /* in the plan's spill */
};

static void looking_done(struct looking *x)
{
	ctm_spill_vec_done(x->plan->spill, &x->actions);
}

static int keep_state(struct ctm_plan *plan, struct ctm_inode_state *s)
{
	struct ctm_bytes *all[] = { &s->acl_access, &s->acl_default, &s->caps };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (!all[i]->p) {
			continue;
		}
		all[i]->p = ctm_arena_dup(&plan->arena, all[i]->p, all[i]->len);
		if (!all[i]->p) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int add_entry(const struct ctm_entry *e, void *arg)
{
	struct looking *x = arg;
	struct ctm_action a = {
		.kind = e->kind == CTM_ENTRY_SET    ? CTM_ACT_SET :
			e->kind == CTM_ENTRY_REMOVE ? CTM_ACT_REMOVE :
						      CTM_ACT_RESTORE,
		.cause = CTM_F_RUN_UNFINISHED,
		.path = ctm_arena_dup(&x->plan->arena, e->ref.path, e->ref.path_len),
		.path_len = e->ref.path_len,
		.dev = e->ref.dev,
		.ino = e->kind == CTM_ENTRY_RESTORE ? 0 : e->ref.ino,
		.nlink = e->nlink,
		.names = e->names,
		.before = e->before,
		.after = e->after,
		.attr = e->kind == CTM_ENTRY_SET ? e->attr : 0,
		.size = e->size,
	};

	memcpy(a.sha256, e->sha256, sizeof(a.sha256));
	if (!a.path || keep_state(x->plan, &a.before) < 0 || keep_state(x->plan, &a.after) < 0) {
		return -ENOMEM;
	}
	ctm_spill_pass(x->plan->spill);
	return ctm_spill_push(x->plan->spill, &x->actions, &a);
}

/* What it was, and that the plan begins with it. */
static int note(struct ctm_exam *exam, const struct ctm_run_header *h,
		const struct ctm_outcome *out, size_t n)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	char when[32] = "an unknown time";
	const time_t time = (time_t)h->time;
	struct tm tm;
	int r;

	if (localtime_r(&time, &tm)) {
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	}
	r = ctm_buf_addf(&text, "%s %s of %s by ", h->kind == CTM_RUN_UNDO ? "undo" : "repair",
			 exam->unfinished, when);
	r = r < 0 ? r : ctm_path_escape(&text, h->user, strlen(h->user));
	r = r < 0 ? r :
		    ctm_buf_addf(&text,
				 "%s was interrupted; to finish it %zu of its changes are still "
				 "to be made",
				 exam->unfinished_hook ? " (hook)" : "", n);
	if (r == 0 && ctm_outcome_partial(out)) {
		r = ctm_buf_addf(&text,
				 ", and %" PRIu64 " entries have changed since and will be left",
				 out->counts.conflicts + out->counts.failed);
	}
	if (r == 0 && h->kind == CTM_RUN_UNDO) {
		r = ctm_buf_addf(&text, "; what is to repair after it is looked for then");
	}
	return r < 0 ? r : ctm_exam_note(exam, text.p);
}

static int take_over(struct ctm_exam *exam, struct ctm_reader *reader, struct ctm_attached *att,
		     struct ctm_err *err)
{
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };
	CLEANUP(looking_done) struct looking x = { .plan = exam->plan };
	const struct ctm_run_header *h = ctm_reader_header(reader);
	struct ctm_effects fx;
	int r = ctm_effects_init(&fx, ctm_attached_root(att), exam->volume->kind != CTM_VOLUME_DIR,
				 err);

	if (r < 0) {
		return r;
	}
	exam->unfinished_hook = strcmp(h->caller, "hook") == 0;
	r = ctm_run_rest(&ctm_effects_ops, &fx, reader, add_entry, &x, &out, err);
	ctm_effects_done(&fx);
	if (r == 0) {
		r = ctm_plan_take_over(exam->plan, x.actions.v, x.actions.n,
				       h->kind == CTM_RUN_UNDO);
	}
	if (r == 0) {
		r = note(exam, h, &out, x.actions.n);
	}
	return r == -ENOMEM ? ctm_err_nomem(err) : r;
}

/* A finding that no action cures: of a run that was interrupted, and is not of this volume, say. */
static int cannot(struct ctm_exam *exam, const char *name, const struct ctm_err *why,
		  struct ctm_err *err)
{
	int r;

	exam->unfinished_err = *why;
	if (why->code == CTM_CORRUPT) {
		ctm_damaged_step(exam->target->name, name, &exam->unfinished_err);
		r = ctm_damaged_note_run(exam, name, why->msg, exam->plan);
	} else {
		r = ctm_plan_note(exam->plan, CTM_F_RUN_UNFINISHED, NULL, 0, why->msg);
	}
	r = r < 0 ? r : ctm_plan_settle(exam->plan);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

/* The records themselves are not to be used. A check goes on without them. */
static int cannot_open(struct ctm_exam *exam, const struct ctm_err *why, struct ctm_err *err)
{
	exam->unfinished_err = *why;
	return ctm_damaged_note_place(why, exam->plan) < 0 ? ctm_err_nomem(err) : 0;
}

/*
 * Records that cannot be read are findings, whatever became of their runs. A hook has no time for
 * that, and nobody to tell: to it those alone matter that may be unfinished, and they do by why.
 */
static int note_damaged(struct ctm_exam *exam, const struct ctm_session_opts *opts,
			struct ctm_state *state, struct ctm_err *why, struct ctm_err *err)
{
	int r;

	if (why->code == CTM_OK && (opts->hook || ctm_state_busy(state))) {
		return 0;
	}
	ctm_damaged_hint(state, exam->target->name, why);
	exam->unfinished_err = *why;
	r = ctm_damaged_note(exam, state, exam->plan, err);
	return r;
}

static int open_record(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		       struct ctm_state *state, const char *name, struct ctm_reader **ret,
		       struct ctm_err *err)
{
	CLEANUP_CLOSE int dir = -1;
	struct ctm_run run;
	char user[64];
	int r = ctm_state_run_open(state, name, &dir, err);

	if (r == 0) {
		r = ctm_reader_open(dir, ret, err);
	}
	if (r == 0) {
		run = (struct ctm_run){ 0 };
		ctm_locked_describe(exam, opts, user, &run);
		r = ctm_run_match(&run, ctm_reader_header(*ret), err);
	}
	if (r == 0) {
		r = ctm_damaged_verify(dir, *ret, err);
	}
	return r < 0 ? ctm_err_wrap(err, "run %s", name) : 0;
}

int ctm_unfinished_look(struct ctm_exam *exam, const struct ctm_session_opts *opts,
			struct ctm_attached *att, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	struct ctm_err why = { 0 };
	char name[CTM_RUN_NAME_MAX];
	int damaged;
	int r = ctm_locked_state(exam, opts, false, &state, &why);

	exam->unfinished[0] = '\0';
	exam->unfinished_err = (struct ctm_err){ 0 };
	if (r == -ENOENT) {
		return 0;
	}
	if (r < 0) {
		return r == -ENOMEM ? ctm_err_nomem(err) : cannot_open(exam, &why, err);
	}
	r = ctm_history_unfinished(state, exam->volume->key, name, &why);
	if (r == -ENOMEM) {
		return ctm_err_nomem(err);
	}
	damaged = note_damaged(exam, opts, state, &why, err);
	if (damaged < 0 || r <= 0) {
		return damaged;
	}
	if (!exam->to_repair && ctm_state_busy(state)) {
		r = ctm_exam_note(exam, "a repair or undo of it is going on: what is read here can "
					"change meanwhile");
		return r < 0 ? ctm_err_nomem(err) : 0;
	}
	r = open_record(exam, opts, state, name, &reader, &why);
	if (r < 0) {
		return r == -ENOMEM ? ctm_err_nomem(err) : cannot(exam, name, &why, err);
	}
	memcpy(exam->unfinished, name, sizeof(name));
	return take_over(exam, reader, att, err);
}

int ctm_unfinished_agree(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			 struct ctm_err *err)
{
	int r;

	if (exam->unfinished_err.code != CTM_OK) {
		if (err) {
			*err = exam->unfinished_err;
		}
		return exam->unfinished_err.num ? -exam->unfinished_err.num : -EPERM;
	}
	if (!exam->unfinished[0] || !opts->hook || exam->unfinished_hook) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "run %s was interrupted, and is no hook's to finish",
			exam->unfinished);
	ctm_err_hint(err, "ctmend repair %s finishes it, ctmend undo %s takes it back",
		     exam->target->name, exam->target->name);
	return r;
}
