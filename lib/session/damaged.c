/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that cannot be read, and what a person can do about them. */
#include "session/damaged.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "run/archive.h"
#include "run/history.h"
#include "run/undo.h"

void ctm_damaged_step(const char *target, const char *run, struct ctm_err *err)
{
	ctm_err_hint(err,
		     "put its files back from a backup, or move them aside: "
		     "ctmend history --set-aside %s %s",
		     target, run);
}

/* Its bytes may be good: only moving them aside is offered, no backup. */
static void newer_step(const char *target, const char *run, struct ctm_err *err)
{
	ctm_err_hint(err,
		     "use the ctmend that made it, or a newer one, or move it aside: "
		     "ctmend history --set-aside %s %s",
		     target, run);
}

static int note_run(const struct ctm_exam *exam, enum ctm_finding_code code, const char *run,
		    const char *problem, struct ctm_plan *plan)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_buf_addf(&text,
			     "run %s: %s; to move it aside: ctmend history --set-aside %s %s", run,
			     problem, exam->target->name, run);

	return r < 0 ? r : ctm_plan_note(plan, code, NULL, 0, text.p);
}

int ctm_damaged_note_run(const struct ctm_exam *exam, const char *run, const char *problem,
			 struct ctm_plan *plan)
{
	return note_run(exam, CTM_F_RUN_DAMAGED, run, problem, plan);
}

int ctm_damaged_note(const struct ctm_exam *exam, struct ctm_state *state, struct ctm_plan *plan,
		     struct ctm_err *err)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	int r = ctm_history_read(state, &history, err);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; r == 0 && i < history.runs.n; i++) {
		const struct ctm_run_info *run = &history.runs.v[i];

		if (run->status == CTM_RUN_DAMAGED) {
			r = note_run(exam, CTM_F_RUN_DAMAGED, run->name, run->problem, plan);
		} else if (run->status == CTM_RUN_NEWER) {
			r = note_run(exam, CTM_F_RUN_NEWER, run->name, run->problem, plan);
		}
	}
	r = r < 0 ? r : ctm_plan_settle(plan);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_damaged_note_place(const struct ctm_err *why, struct ctm_plan *plan)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_buf_addf(&text, "%s%s%s", why->msg, why->hint[0] ? "; " : "", why->hint);

	r = r < 0 ? r : ctm_plan_note(plan, CTM_F_RUN_RECORDS, NULL, 0, text.p);
	return r < 0 ? r : ctm_plan_settle(plan);
}

void ctm_damaged_hint(struct ctm_state *state, const char *target, struct ctm_err *err)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };

	if (!err || err->hint[0] || ctm_history_read(state, &history, NULL) < 0) {
		return;
	}
	for (size_t i = history.runs.n; i-- > 0;) {
		const struct ctm_run_info *run = &history.runs.v[i];

		if (ctm_run_known(run) || !strstr(err->msg, run->name)) {
			continue;
		}
		if (run->status == CTM_RUN_NEWER) {
			newer_step(target, run->name, err);
		} else {
			ctm_damaged_step(target, run->name, err);
		}
		return;
	}
}

static int open_kept(const char *name, const struct ctm_session_opts *opts, bool write,
		     struct ctm_state **ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	int r = ctm_state_name(ctm_target_kind_of(&opts->host, name), name, &dir);

	if (r < 0) {
		return r == -ENOMEM ? ctm_err_nomem(err) :
				      ctm_err_set(err, CTM_SYS, r, "'%s'", name);
	}
	r = write ? ctm_state_open_kept(&opts->host, dir.p, opts->wait, ret, err) :
		    ctm_state_open_read(&opts->host, dir.p, ret, err);
	return r == -ENOENT ? ctm_err_set(err, CTM_REFUSED, ENOENT,
					  "no repair of it is recorded on this host") :
			      r;
}

void ctm_damaged_hint_undo(const char *target, const struct ctm_session_opts *opts,
			   const char *typed, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	struct ctm_run run = { .volume = opts->volume };
	struct ctm_run_info info;

	if (!err || err->hint[0] || (err->code != CTM_CORRUPT && err->num != EPROTONOSUPPORT) ||
	    open_kept(target, opts, false, &state, NULL) < 0) {
		return;
	}
	run.state = state;
	if (err->code == CTM_CORRUPT && ctm_undo_choose(&run, typed, &info, NULL) == 0) {
		/* its record can be read: the saved files it was */
		ctm_damaged_step(target, info.name, err);
		return;
	}
	ctm_damaged_hint(state, target, err);
}

static bool has_saved(const uint8_t sha256[static 32])
{
	static const uint8_t none[32];

	return memcmp(sha256, none, sizeof(none)) != 0;
}

int ctm_damaged_verify(int dir, const struct ctm_reader *reader, struct ctm_err *err)
{
	const struct ctm_run_seal *seal = ctm_reader_seal(reader);
	int r = 0;

	if (has_saved(seal->removed_sha256)) {
		r = ctm_archive_verify(dir, CTM_ARCHIVE_REMOVED, seal->removed_sha256, err);
	}
	if (r == 0 && has_saved(seal->restore_sha256)) {
		r = ctm_archive_verify(dir, CTM_ARCHIVE_RESTORE, seal->restore_sha256, err);
	}
	if (r == -ENOENT && err) {
		err->code = CTM_CORRUPT; /* what is missing is as bad */
	}
	return r;
}

static int refuse_whole(const char *target, const char *run, const struct ctm_reader *reader,
			struct ctm_err *err)
{
	int r;

	if (ctm_reader_end(reader, NULL)) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "the record of run %s is not damaged", run);
		ctm_err_hint(err, "ctmend history %s %s shows what it changed", target, run);
		return r;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"the record of run %s is not damaged, and the run is not finished", run);
	ctm_err_hint(err, "ctmend repair %s finishes it, ctmend undo %s %s takes it back", target,
		     target, run);
	return r;
}

/* Out of memory, or of descriptors: says nothing about the record. */
static bool is_passing(int r)
{
	return r == -ENOMEM || r == -EMFILE || r == -ENFILE;
}

/* 0: the record is damaged, or of a newer program: its bytes are kept for that. */
static int look_at(struct ctm_state *state, const char *target, const char *run,
		   struct ctm_err *err)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP_CLOSE int dir = -1;
	struct ctm_err why = { 0 };
	int r = ctm_state_run_open(state, run, &dir, &why);

	r = r < 0 ? r : ctm_reader_open(dir, &reader, &why);
	if (r == 0) {
		r = ctm_damaged_verify(dir, reader, &why);
	}
	if (r == 0) {
		return refuse_whole(target, run, reader, err);
	}
	if (is_passing(r)) {
		return ctm_err_set(err, CTM_SYS, r, "look at the record of run %s", run);
	}
	return 0;
}

int ctm_session_set_aside(const char *name, const struct ctm_session_opts *opts, const char *typed,
			  char run[static CTM_RUN_NAME_MAX], struct ctm_buf *ret,
			  struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	int r = open_kept(name, opts, true, &state, err);

	r = r < 0 ? r : ctm_state_find(state, typed, run, err);
	r = r < 0 ? r : look_at(state, name, run, err);
	return r < 0 ? r : ctm_state_set_aside(state, run, ret, err);
}
