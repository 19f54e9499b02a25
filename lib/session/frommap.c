/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --from-map, and what earlier runs mean for it.
 */
#include "session/frommap.h"

#include <errno.h>

#include "base/cleanup.h"
#include "run/history.h"
#include "session/damaged.h"
#include "session/examine.h"
#include "session/locked.h"

/* 1 with the records of the target, 0: there are none. */
static int open_records(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			struct ctm_state **ret, struct ctm_err *err)
{
	struct ctm_err why = { 0 };
	int r = ctm_locked_state(exam, opts, false, ret, &why);

	if (r == -ENOENT) {
		return 0;
	}
	if (r < 0 && err) {
		*err = why;
	}
	return r < 0 ? r : 1;
}

static int unfinished(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	int r = open_records(exam, opts, &state, err);

	return r <= 0 ? r : ctm_history_unfinished_from(state, exam->volume->key, ret, err);
}

int ctm_frommap_adopt(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_err *err)
{
	char name[CTM_RUN_NAME_MAX];
	struct ctm_err why = { 0 };
	struct ctm_idmap *map;
	int r = opts->from_map ? 1 : unfinished(exam, opts, name, &why);

	/* Without a map nothing is changed, so a look needs no records. */
	if (r < 0 && (r == -ENOMEM || ctm_exam_note(exam, why.msg) < 0)) {
		return ctm_err_nomem(err);
	}
	if (r <= 0) {
		return 0;
	}
	map = ctm_idmap_new();
	if (!map || ctm_idmap_add_identity(map) < 0) {
		ctm_idmap_free(map);
		return ctm_err_nomem(err);
	}
	for (size_t i = 0; i < exam->target->volumes.n; i++) {
		struct ctm_volume *volume = &exam->target->volumes.v[i];

		if (volume == exam->volume) {
			ctm_idmap_free(volume->map);
			volume->map = TAKE_PTR(map);
		}
	}
	ctm_idmap_free(map);
	exam->back = true;
	return 0;
}

/* An id that an earlier run has put in its place would be taken for one of the other map. */
static int refuse_again(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			const struct ctm_idmap *from, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	char name[CTM_RUN_NAME_MAX];
	int r = ctm_idmap_carries_twice(from, exam->volume->map) ?
			open_records(exam, opts, &state, err) :
			0;

	r = r <= 0 ? r : ctm_history_moved(state, exam->volume->key, exam->volume->map, name, err);
	if (r < 0 && state) {
		ctm_damaged_hint(state, exam->target->name, err);
	}
	if (r <= 0) {
		return r;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"run %s has moved ids to where --from-map would move them once more", name);
	ctm_err_hint(err, "if it was the wrong map: ctmend undo %s %s, then try again",
		     exam->target->name, name);
	return r;
}

static int note_unfinished(struct ctm_exam *exam, const char *name, struct ctm_err *err)
{
	char text[160];

	(void)snprintf(text, sizeof(text),
		       "run %s with --from-map was interrupted: a repair finishes it from its "
		       "record, and moves nothing by --from-map again",
		       name);
	return ctm_exam_note(exam, text) < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_frommap_decide(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		       struct ctm_err *err)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = NULL;
	char name[CTM_RUN_NAME_MAX];
	int r;

	ctm_idmap_free(exam->from);
	exam->from = NULL;
	if (!opts->from_map) {
		return 0;
	}
	r = unfinished(exam, opts, name, err);
	if (r != 0) {
		return r < 0 ? r : note_unfinished(exam, name, err);
	}
	r = ctm_idmap_parse_spec(opts->from_map, &from, err);
	r = r < 0 ? r : refuse_again(exam, opts, from, err);
	if (r < 0) {
		return r;
	}
	exam->from = TAKE_PTR(from);
	return 0;
}
