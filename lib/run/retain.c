/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long records are kept. */
#include "run/retain.h"

#include <string.h>

#include "base/cleanup.h"

#define DAY 86400

/* Runs of one sort do not push out those of another. */
enum sort {
	BY_PEOPLE,
	BY_HOOK,      /* it has repaired what only the host can have damaged */
	LOCK_BY_HOOK, /* it has only removed files, which a container can cause at each start */
	SORTS,
};

static enum sort sort_of(const struct ctm_run_info *run)
{
	return !run->hook ? BY_PEOPLE : run->set > 0 ? BY_HOOK : LOCK_BY_HOOK;
}

/* newer: how many of the same sort are. */
static bool is_due(size_t newer, enum sort sort, int64_t time, const struct ctm_retention *keep,
		   int64_t now)
{
	return newer >= (sort == LOCK_BY_HOOK ? keep->lock_runs : keep->runs) ||
	       now - time > (int64_t)keep->days * DAY;
}

/*
 * Whether an unfinished undo takes this run back, it is the undo of a run that stays, or it alone
 * tells that ids were moved by --from-map, which must not be done twice.
 */
static bool is_needed(const struct ctm_history *history, const struct ctm_run_info *run)
{
	if (run->from && run->kind == CTM_RUN_REPAIR && run->changed &&
	    !ctm_history_all_back(history, run)) {
		return true;
	}
	for (size_t i = 0; i < history->runs.n; i++) {
		const struct ctm_run_info *other = &history->runs.v[i];

		if ((other->open && strcmp(other->undoes, run->name) == 0) ||
		    (!other->expired && strcmp(run->undoes, other->name) == 0)) {
			return true;
		}
	}
	return false;
}

void ctm_retain_mark(struct ctm_history *history, const struct ctm_retention *keep, int64_t now)
{
	size_t n = history->runs.n;
	size_t newer[SORTS] = { 0 }; /* what cannot be read is of none */

	for (size_t i = 0; i < n; i++) {
		const struct ctm_run_info *run = &history->runs.v[i];

		newer[sort_of(run)] += ctm_run_known(run);
	}
	/* An undo comes behind the run that it takes back, which is decided by then. */
	for (size_t i = 0; i < n; i++) {
		struct ctm_run_info *run = &history->runs.v[i];
		const enum sort sort = sort_of(run);

		newer[sort] -= ctm_run_known(run);
		run->expired = i + 1 < n && !run->open && ctm_run_known(run) &&
			       is_due(newer[sort], sort, run->time, keep, now) &&
			       !is_needed(history, run);
	}
}

/* By its header; what cannot be read is kept whatever is said here. */
static bool is_hooks(struct ctm_state *state, const char *run)
{
	CLEANUP_CLOSE int dir = -1;

	return ctm_state_run_open(state, run, &dir, NULL) == 0 && ctm_journal_by_hook(dir) == 1;
}

/* The header does not say what a hook has done, so some of its runs may be due before they are. */
static bool any_due(struct ctm_state *state, const struct ctm_run_names *names,
		    const struct ctm_retention *keep, int64_t now)
{
	size_t n = names->names.n;
	size_t newer[SORTS] = { 0 };

	for (size_t i = n; i-- > 0;) {
		const char *run = names->names.v[i];
		const enum sort sort = is_hooks(state, run) ? LOCK_BY_HOOK : BY_PEOPLE;

		if (i + 1 < n && is_due(newer[sort], sort, ctm_run_time(run), keep, now)) {
			return true;
		}
		newer[sort]++;
	}
	return false;
}

int ctm_retain(struct ctm_state *state, const struct ctm_retention *keep, int64_t now,
	       ctm_retain_fn fn, void *arg, struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names names = { 0 };
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	int r = ctm_state_runs(state, &names, err);

	if (r < 0 || !any_due(state, &names, keep, now)) {
		return r;
	}
	r = ctm_history_read(state, &history, err);
	if (r < 0) {
		return r;
	}
	ctm_retain_mark(&history, keep, now);
	for (size_t i = 0; i < history.runs.n && r == 0; i++) {
		const struct ctm_run_info *run = &history.runs.v[i];

		if (run->expired) {
			if (fn) {
				fn(run, arg);
			}
			r = ctm_state_forget(state, run->name, err);
		}
	}
	return r;
}
