/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runs recorded for a target, whether or not it is still there.
 */
#ifndef CTM_SESSION_HISTORY_H
#define CTM_SESSION_HISTORY_H

#include "run/history.h"
#include "run/retain.h"
#include "session/session.h"

/** An empty history is no error. */
int ctm_session_history(const char *name, const struct ctm_session_opts *opts,
			struct ctm_history *ret, struct ctm_err *err);

/** What is recorded of one target. */
struct ctm_kept {
	char *dir;  /* of its records, below the state directory */
	char *name; /* of the target, as the user or else the newest record has it */
	struct ctm_history history;
	struct ctm_run_names aside; /* those that were moved aside (session/damaged.h) */
	char *path;                 /* of the directory of its records; NULL: there is none */
	struct ctm_err err;         /* why there is no history; code CTM_OK: there is */
};
struct ctm_kept_list {
	CTM_VEC(struct ctm_kept) v;
};
void ctm_kept_list_done(struct ctm_kept_list *list);
/** Of the target of this name, or, NULL, of each that has records; what is wrong with one is in its
 * .err and stops no other. */
int ctm_session_kept(const char *name, const struct ctm_session_opts *opts,
		     struct ctm_kept_list *ret, struct ctm_err *err);

/**
 * Removes the records of one target that need not be kept (run/retain.h), under its lock, for which
 * opts->wait counts; fn is told of each. No records are no error.
 */
int ctm_session_prune(const struct ctm_kept *kept, const struct ctm_session_opts *opts,
		      const struct ctm_retention *keep, ctm_retain_fn fn, void *arg,
		      struct ctm_err *err);

/** The record of one run, open for reading. Zero-initialise. */
struct ctm_run_view {
	struct ctm_run_info info;
	struct ctm_reader *reader;
};
void ctm_run_view_done(struct ctm_run_view *view);
/** typed: its name or number. Errors as of ctm_state_find() and ctm_reader_open(). */
int ctm_session_run(const char *name, const struct ctm_session_opts *opts, const char *typed,
		    struct ctm_run_view *ret, struct ctm_err *err);

#endif
