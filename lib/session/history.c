/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runs recorded for a target.
 */
#include "session/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "run/state.h"
#include "session/damaged.h"

static int dir_of(const char *name, const struct ctm_session_opts *opts, struct ctm_buf *ret,
		  struct ctm_err *err)
{
	int r = ctm_state_name(ctm_target_kind_of(&opts->host, name), name, ret);

	return r == 0       ? 0 :
	       r == -ENOMEM ? ctm_err_nomem(err) :
			      ctm_err_set(err, CTM_SYS, r, "'%s'", name);
}

/* kept NULL: the runs alone. */
static int read_dir(const char *dir, const struct ctm_session_opts *opts, struct ctm_history *ret,
		    struct ctm_kept *kept, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	int r = ctm_state_open_read(&opts->host, dir, &state, err);

	if (r == -ENOENT) {
		*ret = (struct ctm_history){ 0 };
		return 0;
	}
	r = r < 0 ? r : ctm_history_read(state, ret, err);
	if (r == 0 && kept) {
		r = ctm_state_aside(state, &kept->aside, err);
		kept->path = strdup(ctm_state_path(state));
		r = r == 0 && !kept->path ? ctm_err_nomem(err) : r;
	}
	return r;
}

int ctm_session_history(const char *name, const struct ctm_session_opts *opts,
			struct ctm_history *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	int r = dir_of(name, opts, &dir, err);

	return r < 0 ? r : read_dir(dir.p, opts, ret, NULL, err);
}

static void kept_done(struct ctm_kept *kept)
{
	free(kept->dir);
	free(kept->name);
	free(kept->path);
	ctm_run_names_done(&kept->aside);
	ctm_history_done(&kept->history);
	*kept = (struct ctm_kept){ 0 };
}

void ctm_kept_list_done(struct ctm_kept_list *list)
{
	for (size_t i = 0; i < list->v.n; i++) {
		kept_done(&list->v.v[i]);
	}
	ctm_vec_done(&list->v);
}

/* -ENOMEM alone; all else is the target's own error. */
static int add(struct ctm_kept_list *list, const char *name, const char *dir,
	       const struct ctm_session_opts *opts)
{
	CLEANUP(kept_done) struct ctm_kept kept = { .dir = strdup(dir) };
	const char *shown = name;
	int r = kept.dir ? read_dir(dir, opts, &kept.history, &kept, &kept.err) : -ENOMEM;

	if (r == -ENOMEM) {
		return r;
	}
	if (!shown) {
		shown = kept.history.target ? kept.history.target : dir;
	}
	kept.name = strdup(shown);
	r = kept.name ? ctm_vec_push(&list->v, &kept) : -ENOMEM;
	if (r == 0) {
		kept = (struct ctm_kept){ 0 };
	}
	return r;
}

int ctm_session_kept(const char *name, const struct ctm_session_opts *opts,
		     struct ctm_kept_list *ret, struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names dirs = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	int r;

	if (name) {
		r = dir_of(name, opts, &dir, err);
		return r < 0 ? r : add(ret, name, dir.p, opts) == -ENOMEM ? ctm_err_nomem(err) : 0;
	}
	r = ctm_state_targets(&opts->host, &dirs, err);
	for (size_t i = 0; r == 0 && i < dirs.names.n; i++) {
		r = add(ret, NULL, dirs.names.v[i], opts);
		r = r < 0 ? ctm_err_nomem(err) : 0;
	}
	return r;
}

int ctm_session_prune(const struct ctm_kept *kept, const struct ctm_session_opts *opts,
		      const struct ctm_retention *keep, ctm_retain_fn fn, void *arg,
		      struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	int r = ctm_state_open_kept(&opts->host, kept->dir, opts->wait, &state, err);

	if (r == -ENOENT) {
		return 0;
	}
	return r < 0 ? r : ctm_retain(state, keep, time(NULL), fn, arg, err);
}

void ctm_run_view_done(struct ctm_run_view *view)
{
	ctm_reader_free(view->reader);
	*view = (struct ctm_run_view){ 0 };
}

/* What became of the run is known from all of them. */
static int find_info(struct ctm_state *state, const char *run, struct ctm_run_info *ret,
		     struct ctm_err *err)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	int r = ctm_history_read(state, &history, err);

	for (size_t i = 0; r == 0 && i < history.runs.n; i++) {
		if (strcmp(history.runs.v[i].name, run) == 0) {
			*ret = history.runs.v[i];
			return 0;
		}
	}
	return r < 0 ? r : ctm_err_set(err, CTM_REFUSED, ENOENT, "run %s: it is gone", run);
}

int ctm_session_run(const char *name, const struct ctm_session_opts *opts, const char *typed,
		    struct ctm_run_view *ret, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	CLEANUP_CLOSE int fd = -1;
	char run[CTM_RUN_NAME_MAX];
	int r = dir_of(name, opts, &dir, err);

	if (r == 0) {
		r = ctm_state_open_read(&opts->host, dir.p, &state, err);
		if (r == -ENOENT) {
			return ctm_err_set(err, CTM_REFUSED, ENOENT,
					   "no repair of it is recorded on this host");
		}
	}
	if (r == 0) {
		r = ctm_state_find(state, typed, run, err);
	}
	if (r == 0) {
		r = find_info(state, run, &ret->info, err);
	}
	if (r == 0) {
		r = ctm_state_run_open(state, run, &fd, err);
	}
	if (r == 0) {
		r = ctm_reader_open(fd, &ret->reader, err);
	}
	if (r < 0 && fd >= 0) {
		(void)ctm_err_wrap(err, "run %s", run);
		ctm_damaged_hint(state, name, err);
	}
	return r;
}
