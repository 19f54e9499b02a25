/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session that takes a run back, and its preview.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "run/effects.h"
#include "run/undo.h"
#include "session/damaged.h"
#include "session/held.h"
#include "session/locked.h"
#include "session/reading.h"
#include "target/foreign.h"
#include "target/lockwatch.h"

/* What both need once the volume is attached. */
struct undoing {
	struct ctm_state *state;
	struct ctm_effects fx;
	struct ctm_run run;
	char user[64];
	struct ctm_run_info info;
	struct ctm_buf part; /* the paths of an undo of a part, in words */
};

static void undoing_done(struct undoing *u)
{
	ctm_effects_done(&u->fx);
	ctm_state_free(u->state);
	ctm_buf_done(&u->part);
}

static int take_paths(struct undoing *u, const struct ctm_session_opts *opts)
{
	int r = 0;

	for (size_t i = 0; i < opts->n_paths && r == 0; i++) {
		r = ctm_buf_addf(&u->part, "%s/%s", i ? " " : "", opts->paths[i]);
	}
	u->run.paths = opts->paths;
	u->run.n_paths = opts->n_paths;
	u->run.part = opts->n_paths ? u->part.p : NULL;
	return r;
}

static int begin(struct undoing *u, struct ctm_done *done, const struct ctm_session_opts *opts,
		 const char *typed, struct ctm_attached *att, bool write, struct ctm_err *err)
{
	int r;

	u->fx = (struct ctm_effects){ .root = -1, .real = -1 };
	done->exam->identity = *ctm_attached_identity(att);
	ctm_locked_describe(done->exam, opts, u->user, &u->run);
	r = ctm_locked_state(done->exam, opts, write, &u->state, err);
	if (r == 0) {
		r = ctm_effects_init(&u->fx, ctm_attached_root(att),
				     done->exam->volume->kind != CTM_VOLUME_DIR, err);
	}
	if (r < 0) {
		return r;
	}
	u->run.ops = &ctm_effects_ops;
	u->run.fs = &u->fx;
	u->run.state = u->state;
	r = take_paths(u, opts);
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	return ctm_undo_choose(&u->run, typed, &u->info, err);
}

static int count_entry(const struct ctm_entry *entry, void *arg)
{
	uint64_t *n = arg;

	(void)entry;
	(*n)++;
	return 0;
}

/*
 * Whether there is anything to do, from the volume as the kernel holds it read-only: the wrong one,
 * or one that is as before already, is not even mounted for writing. The end of an interrupted run
 * needs a record, whatever it changed; and without the journal's last writes nothing is certain.
 */
static int look_first(struct ctm_done *done, const struct ctm_session_opts *opts, const char *typed,
		      bool *ret_more, struct ctm_err *err)
{
	CLEANUP(ctm_attached_freep) struct ctm_attached *att = NULL;
	CLEANUP(undoing_done) struct undoing u = { .fx = { .root = -1, .real = -1 } };
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };
	uint64_t n = 0;
	int r = ctm_attach(&opts->host, done->exam->volume, CTM_READ, &att, err);

	if (r == 0) {
		r = begin(&u, done, opts, typed, att, false, err);
	}
	if (r == 0) {
		r = ctm_undo_plan(&u.run, u.info.name, count_entry, &n, &out, err);
	}
	if (r < 0) {
		return r;
	}
	*ret_more = n > 0 || u.info.status == CTM_RUN_INTERRUPTED || ctm_attached_stale(att) ||
		    (u.info.status == CTM_RUN_PARTLY_UNDONE && opts->n_paths == 0);
	if (!*ret_more) {
		(void)memccpy(out.undoes, u.info.name, '\0', sizeof(out.undoes) - 1);
		done->run = out;
		out = (struct ctm_outcome){ 0 };
	}
	return 0;
}

static int undo_attached(struct ctm_done *done, const struct ctm_session_opts *opts,
			 const char *typed, struct ctm_attached *att, struct ctm_err *err)
{
	CLEANUP(undoing_done) struct undoing u = { .fx = { .root = -1, .real = -1 } };
	int r = ctm_session_refuse_held(done->exam, att, err);

	if (r == 0) {
		r = begin(&u, done, opts, typed, att, true, err);
	}
	r = r < 0 ? r : ctm_undo(&u.run, u.info.name, &done->run, err);
	return r < 0 ? r : ctm_locked_retain(done->exam, u.state, &done->run, err);
}

/*
 * The volume of the run that is meant, where the user has named none. Nothing is found: ret is "",
 * and the reason comes to light where the rootfs is asked for.
 */
static void find_volume(const char *name, const struct ctm_session_opts *opts, const char *typed,
			char ret[static CTM_RUN_VOLUME_MAX])
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	struct ctm_run run = { .volume = NULL };
	struct ctm_run_info info;

	ret[0] = '\0';
	if (opts->volume || ctm_state_name(ctm_target_kind_of(&opts->host, name), name, &dir) < 0 ||
	    ctm_state_open_read(&opts->host, dir.p, &state, NULL) < 0) {
		return;
	}
	run.state = state;
	if (ctm_undo_choose(&run, typed, &info, NULL) == 0) {
		(void)snprintf(ret, CTM_RUN_VOLUME_MAX, "%s", info.volume);
	}
}

int ctm_session_undo(const char *name, const struct ctm_session_opts *opts, const char *typed,
		     struct ctm_done *ret, struct ctm_err *err)
{
	CLEANUP(ctm_guard_freep) struct ctm_guard *guard = NULL;
	struct ctm_session_opts with = *opts;
	struct ctm_attached *att = NULL;
	char volume[CTM_RUN_VOLUME_MAX];
	bool more = false;
	int detach;
	int r;

	find_volume(name, opts, typed, volume);
	with.volume = volume[0] ? volume : opts->volume;
	opts = &with;
	r = ctm_locked_begin(name, opts, &ret->exam, &guard, err);
	if (r == 0) {
		r = look_first(ret, opts, typed, &more, err);
	}
	if (r < 0) {
		ctm_damaged_hint_undo(name, opts, typed, err);
	}
	if (r < 0 || !more) {
		return r;
	}
	r = ctm_locked_attach(ret->exam, opts, &att, err);
	if (r < 0) {
		return r;
	}
	r = undo_attached(ret, opts, typed, att, err);
	if (r < 0) {
		ctm_damaged_hint_undo(name, opts, typed, err);
	}
	detach = ctm_detach(att, r < 0 ? NULL : err);
	r = r < 0 ? r : detach;
	r = r < 0 ? r : ctm_locked_started(ret->exam, opts, &ret->started, err);
	return r < 0 ? r : ctm_exam_unguard(ret->exam, TAKE_PTR(guard), err);
}

/* The caller's function, and whether somebody waits for the lock meanwhile. */
struct previewing {
	ctm_undo_fn fn;
	void *arg;
	struct ctm_exam *exam;
	struct ctm_err why;
};

static int preview_entry(const struct ctm_entry *entry, void *arg)
{
	struct previewing *p = arg;
	int r = ctm_exam_interrupt(p->exam, &p->why);

	return r < 0 ? r : p->fn(entry, p->arg);
}

int ctm_session_undo_preview(const char *name, const struct ctm_session_opts *opts,
			     const char *typed, ctm_undo_fn fn, void *arg,
			     struct ctm_run_info *ret_run, struct ctm_done *ret,
			     struct ctm_err *err)
{
	CLEANUP(ctm_reading_done) struct ctm_reading reading = { 0 };
	CLEANUP(undoing_done) struct undoing u = { .fx = { .root = -1, .real = -1 } };
	struct ctm_session_opts with = *opts;
	char volume[CTM_RUN_VOLUME_MAX];
	int r;

	find_volume(name, opts, typed, volume);
	with.volume = volume[0] ? volume : opts->volume;
	opts = &with;
	r = ctm_exam_new(name, opts, &ret->exam, err);
	if (r == 0) {
		r = ctm_foreign_refuse(&opts->host, ret->exam->target, ret->exam->volume, err);
	}
	if (r == 0) {
		r = ctm_reading_begin(ret->exam, opts, &reading, err);
	}
	if (r == 0) {
		r = begin(&u, ret, opts, typed, reading.att, false, err);
	}
	if (r == 0) {
		struct previewing p = { .fn = fn, .arg = arg, .exam = ret->exam };

		*ret_run = u.info;
		r = ctm_undo_plan(&u.run, u.info.name, preview_entry, &p, &ret->run, err);
		if (r < 0 && p.why.num == CTM_LOCKWATCH_YIELD && err) {
			*err = p.why;
		}
	}
	if (ret->exam) {
		ret->exam->guard = NULL;
	}
	if (r < 0) {
		ctm_damaged_hint_undo(name, opts, typed, err);
	}
	return r;
}
