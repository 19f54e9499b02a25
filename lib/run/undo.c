/* SPDX-License-Identifier: GPL-3.0-or-later */
/* undo: the record of a run, swapped, is a record of its own. */
#include "run/undo.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "run/recording.h"
#include "run/revert.h"

static int unreadable(const struct ctm_run_info *info, struct ctm_err *err)
{
	return info->status == CTM_RUN_NEWER ?
		       ctm_err_set(err, CTM_REFUSED, EPROTONOSUPPORT, "run %s: %s", info->name,
				   info->problem) :
		       ctm_err_set(err, CTM_CORRUPT, 0, "run %s: %s", info->name, info->problem);
}

static int choose_newest(const struct ctm_run *run, const struct ctm_history *history,
			 struct ctm_run_info *ret, struct ctm_err *err)
{
	for (size_t i = history->runs.n; i-- > 0;) {
		const struct ctm_run_info *info = &history->runs.v[i];

		if (!ctm_run_known(info)) {
			return unreadable(info, err);
		}
		if (run->volume && strcmp(info->volume, run->volume) != 0) {
			continue;
		}
		if (info->kind == CTM_RUN_UNDO ? info->status == CTM_RUN_INTERRUPTED :
						 info->status != CTM_RUN_UNDONE && info->changed) {
			*ret = *info;
			return 0;
		}
	}
	return ctm_err_set(err, CTM_REFUSED, 0, "there is no repair that could be taken back");
}

static int choose_named(const struct ctm_run *run, const struct ctm_history *history,
			const char *name, struct ctm_run_info *ret, struct ctm_err *err)
{
	const struct ctm_run_info *found = NULL;

	for (size_t i = 0; i < history->runs.n; i++) {
		if (strcmp(history->runs.v[i].name, name) == 0) {
			found = &history->runs.v[i];
		}
	}
	if (!found) {
		return ctm_err_set(err, CTM_CORRUPT, 0, "run %s: it is gone", name);
	}
	if (!ctm_run_known(found)) {
		return unreadable(found, err);
	}
	if (run->volume && strcmp(found->volume, run->volume) != 0) {
		return ctm_err_set(err, CTM_REFUSED, 0, "run %s was of volume %s, not of %s", name,
				   found->volume, run->volume);
	}
	*ret = *found;
	return 0;
}

int ctm_undo_choose(const struct ctm_run *run, const char *typed, struct ctm_run_info *ret,
		    struct ctm_err *err)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	char name[CTM_RUN_NAME_MAX] = "";
	int r = 0;

	if (typed) {
		r = ctm_state_find(run->state, typed, name, err);
	}
	if (r == 0) {
		r = ctm_history_read(run->state, &history, err);
	}
	if (r < 0) {
		return r;
	}
	return typed ? choose_named(run, &history, name, ret, err) :
		       choose_newest(run, &history, ret, err);
}

/* Only of a run that has ended can a part be taken back: the rest of it is to be done as it is. */
static int refuse_part(const struct ctm_run *run, const char *name, const struct ctm_reader *reader,
		       struct ctm_err *err)
{
	int r;

	if (run->n_paths == 0 || ctm_reader_end(reader, NULL)) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "run %s was interrupted: no part of it can be undone",
			name);
	ctm_err_hint(err, "ctmend repair finishes it, undo without --path takes it back");
	return r;
}

/* The record of the run that is taken back, proven to be of this volume. */
static int open_run(const struct ctm_run *run, const char *name, int *ret_dir,
		    struct ctm_reader **ret, struct ctm_err *err)
{
	int r = ctm_state_run_open(run->state, name, ret_dir, err);

	if (r == 0) {
		r = ctm_reader_open(*ret_dir, ret, err);
	}
	if (r == 0) {
		r = ctm_run_match(run, ctm_reader_header(*ret), err);
	}
	return r < 0 ? ctm_err_wrap(err, "run %s", name) : refuse_part(run, name, *ret, err);
}

/* The same command that was interrupted goes on where it was. */
static bool is_unfinished_undo(const struct ctm_reader *reader)
{
	return ctm_reader_header(reader)->kind == CTM_RUN_UNDO && !ctm_reader_end(reader, NULL);
}

static int show_rest(struct ctm_reader *reader, ctm_undo_fn fn, void *arg, struct ctm_err *err)
{
	struct ctm_entry entry;
	uint64_t index;
	int r;

	while ((r = ctm_reader_next(reader, &entry, &index, err)) == 1) {
		r = ctm_reader_is_done(reader, index) ? 0 : fn(&entry, arg);
		if (r < 0) {
			break;
		}
	}
	return r;
}

int ctm_undo_plan(const struct ctm_run *run, const char *name, ctm_undo_fn fn, void *arg,
		  struct ctm_outcome *out, struct ctm_err *err)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP_CLOSE int dir = -1;
	int r = open_run(run, name, &dir, &reader, err);

	if (r < 0) {
		return r;
	}
	return is_unfinished_undo(reader) ? show_rest(reader, fn, arg, err) :
					    ctm_revert(run, reader, fn, arg, out, err);
}

struct recorder {
	struct ctm_recording rec;
	struct ctm_outcome *out;
	struct ctm_err *err;
};

static int record(const struct ctm_entry *entry, void *arg)
{
	struct recorder *to = arg;
	const struct ctm_result changed = {
		.kind = CTM_RESULT_CONFLICT,
		.path = entry->ref.path,
		.path_len = entry->ref.path_len,
		.what = "changed",
	};
	int r;

	if (entry->kind != CTM_ENTRY_REMOVE) {
		return ctm_recording_add(&to->rec, entry, to->err);
	}
	r = ctm_recording_save(&to->rec, entry, to->err);
	if (r == -ESTALE) {
		r = ctm_outcome_add(to->out, &changed) < 0 ? ctm_err_nomem(to->err) : 0;
	}
	return r;
}

static bool was_undone_in_parts(const struct ctm_run *run, const char *name)
{
	struct ctm_run_info info = { .status = CTM_RUN_DONE };

	return run->n_paths == 0 && ctm_undo_choose(run, name, &info, NULL) == 0 &&
	       info.status == CTM_RUN_PARTLY_UNDONE;
}

static int record_all(const struct ctm_run *run, int dir, struct ctm_reader *reader,
		      struct recorder *to)
{
	int r = ctm_revert(run, reader, record, to, to->out, to->err);

	if (r == 0 && ctm_recording_entries(&to->rec) > 0 &&
	    ctm_reader_count(reader, CTM_ENTRY_REMOVE) > 0) {
		r = ctm_recording_link_saved(&to->rec, dir, ctm_reader_seal(reader)->removed_sha256,
					     to->err);
	}
	if (r < 0) {
		return r;
	}
	/*
	 * A run that changes nothing leaves no record; but one that was interrupted before it had
	 * changed anything needs one to be over, and so does one of which all parts were undone.
	 */
	if (ctm_recording_entries(&to->rec) > 0 || !ctm_reader_end(reader, NULL) ||
	    was_undone_in_parts(run, ctm_reader_header(reader)->run)) {
		r = ctm_recording_seal(&to->rec, to->err);
	}
	return r;
}

int ctm_undo(const struct ctm_run *run, const char *name, struct ctm_outcome *out,
	     struct ctm_err *err)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP_CLOSE int dir = -1;
	struct recorder to = { .rec = { .dir = -1 }, .out = out, .err = err };
	int r = open_run(run, name, &dir, &reader, err);

	if (r == 0 && is_unfinished_undo(reader)) {
		(void)memccpy(out->undoes, ctm_reader_header(reader)->undoes, '\0',
			      sizeof(out->undoes) - 1);
		return ctm_run_apply(run, name, true, out, err);
	}
	if (r == 0) {
		r = ctm_recording_begin(&to.rec, run, ctm_reader_header(reader),
					ctm_reader_header(reader)->digest, err);
	}
	if (r < 0) {
		return r;
	}
	(void)memccpy(out->undoes, name, '\0', sizeof(out->undoes) - 1);
	r = record_all(run, dir, reader, &to);
	if (r < 0) {
		r = ctm_recording_failed(r, err);
	} else if (to.rec.sealed) {
		r = ctm_recording_apply(&to.rec, out, err);
	}
	ctm_recording_done(&to.rec);
	return r;
}
