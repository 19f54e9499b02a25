/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history: the runs of a target and what became of them. */
#include "run/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "run/archive.h"

CTM_HOST_PATHS

void ctm_history_done(struct ctm_history *history)
{
	ctm_vec_done(&history->runs);
	free(TAKE_PTR(history->target));
}

const char *ctm_run_status_word(enum ctm_run_status status)
{
	static const char *const words[CTM_RUN_STATUS_N] = {
		[CTM_RUN_DONE] = "done",
		[CTM_RUN_PARTLY] = "partly",
		[CTM_RUN_INTERRUPTED] = "interrupted",
		[CTM_RUN_UNDONE] = "undone",
		[CTM_RUN_PARTLY_UNDONE] = "partly undone",
		[CTM_RUN_DAMAGED] = "damaged",
		[CTM_RUN_NEWER] = "newer",
	};

	return words[status];
}

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%.*s", (int)size - 1, from);
}

static uint64_t bytes_of(int dir)
{
	static const char *const files[] = { CTM_JOURNAL_FILE, CTM_ARCHIVE_REMOVED,
					     CTM_ARCHIVE_RESTORE };
	uint64_t n = 0;
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (fstatat(dir, files[i], &st, AT_SYMLINK_NOFOLLOW) == 0) {
			n += (uint64_t)st.st_blocks * 512;
		}
	}
	return n;
}

/* Nothing was done, but perhaps the half of an entry: these calls come behind a first one. */
static bool has_half(const struct ctm_reader *reader)
{
	static const char *const later[] = { "chmod", "acl", "capability", "verify" };

	for (uint64_t entry = 0; entry < ctm_reader_seal(reader)->entries; entry++) {
		const struct ctm_run_failure *f = ctm_reader_failure(reader, entry);

		for (size_t i = 0; f && f->errnum != 0 && i < ARRAY_LEN(later); i++) {
			if (strcmp(f->what, later[i]) == 0) {
				return true;
			}
		}
	}
	return false;
}

static void describe(const struct ctm_reader *reader, struct ctm_run_info *info)
{
	const struct ctm_run_header *h = ctm_reader_header(reader);
	const struct ctm_run_counts *end = ctm_reader_end(reader, NULL);

	info->kind = h->kind;
	info->time = h->time;
	copy(info->version, sizeof(info->version), h->version);
	copy(info->user, sizeof(info->user), h->user);
	copy(info->volume, sizeof(info->volume), h->volume);
	copy(info->digest, sizeof(info->digest), h->digest);
	copy(info->undoes, sizeof(info->undoes), h->undoes);
	info->from = h->from[0] != '\0';
	info->hook = strcmp(h->caller, "hook") == 0;
	info->part = h->part[0] != '\0';
	info->set = ctm_reader_count(reader, CTM_ENTRY_SET);
	info->removed = ctm_reader_count(reader, CTM_ENTRY_REMOVE);
	info->restored = ctm_reader_count(reader, CTM_ENTRY_RESTORE);
	if (!end) {
		info->status = CTM_RUN_INTERRUPTED;
		info->changed = true;
		info->open = true;
		return;
	}
	/* What a continued run found to be right was made so by its first part. */
	info->changed = end->done > 0 || (end->already > 0 && ctm_reader_continued(reader)) ||
			(end->failed > 0 && has_half(reader));
	info->counts = *end;
	info->status = end->conflicts > 0 || end->failed > 0 ? CTM_RUN_PARTLY : CTM_RUN_DONE;
}

static int read_run(struct ctm_state *state, const char *name, char **ret_target,
		    struct ctm_run_info *ret)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP_CLOSE int dir = -1;
	struct ctm_run_info info = { 0 };
	struct ctm_err why = { 0 };
	int r = ctm_state_run_open(state, name, &dir, &why);

	if (r == 0) {
		info.bytes = bytes_of(dir);
		r = ctm_reader_open(dir, &reader, &why);
	}
	if (r == -ENOMEM) {
		return r;
	}
	copy(info.name, sizeof(info.name), name);
	if (r < 0) {
		info.status = r == -EPROTONOSUPPORT ? CTM_RUN_NEWER : CTM_RUN_DAMAGED;
		info.open = dir < 0 || ctm_journal_has_end(dir) != 1;
		info.time = ctm_run_time(name);
		copy(info.problem, sizeof(info.problem), why.msg);
	} else {
		char *target = strdup(ctm_reader_header(reader)->target);

		if (!target) {
			return -ENOMEM;
		}
		free(*ret_target);
		*ret_target = target;
		describe(reader, &info);
	}
	*ret = info;
	return 0;
}

static struct ctm_run_info *find(const struct ctm_history *history, const char *name)
{
	for (size_t i = 0; i < history->runs.n; i++) {
		if (strcmp(history->runs.v[i].name, name) == 0) {
			return &history->runs.v[i];
		}
	}
	return NULL;
}

/* From the newest to the oldest, so that an undo that was itself taken back counts no more. */
static void link_undos(struct ctm_history *history)
{
	for (size_t i = history->runs.n; i-- > 0;) {
		const struct ctm_run_info *undo = &history->runs.v[i];
		struct ctm_run_info *undone;

		/* Where a call failed (no room, say) it may work the next time. */
		if (!ctm_run_known(undo) || undo->kind != CTM_RUN_UNDO || undo->counts.failed > 0 ||
		    (undo->status != CTM_RUN_DONE && undo->status != CTM_RUN_PARTLY)) {
			continue;
		}
		undone = find(history, undo->undoes);
		if (undone && ctm_run_known(undone) && undone->status != CTM_RUN_UNDONE &&
		    !(undo->part && undone->status == CTM_RUN_PARTLY_UNDONE)) {
			undone->status = undo->part ? CTM_RUN_PARTLY_UNDONE : CTM_RUN_UNDONE;
			copy(undone->undone_by, sizeof(undone->undone_by), undo->name);
		}
	}
}

int ctm_history_read(struct ctm_state *state, struct ctm_history *ret, struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names names = { 0 };
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	int r = ctm_state_runs(state, &names, err);

	for (size_t i = 0; r == 0 && i < names.names.n; i++) {
		struct ctm_run_info info;

		r = read_run(state, names.names.v[i], &history.target, &info);
		if (r == 0) {
			r = ctm_vec_push(&history.runs, &info);
		}
		if (r < 0) {
			r = ctm_err_nomem(err);
		}
	}
	if (r < 0) {
		return r;
	}
	link_undos(&history);
	*ret = history;
	history = (struct ctm_history){ 0 };
	return 0;
}

/* The usual case costs a look at the last bytes of each record, not a reading of all of them. */
static int all_ended(struct ctm_state *state, bool *ret, struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names names = { 0 };
	bool all = true;
	int r = ctm_state_runs(state, &names, err);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; all && i < names.names.n; i++) {
		CLEANUP_CLOSE int dir = -1;

		/* what cannot be opened may be anything */
		all = ctm_state_run_open(state, names.names.v[i], &dir, NULL) == 0 &&
		      ctm_journal_has_end(dir) == 1;
	}
	*ret = all;
	return 0;
}

int ctm_history_unfinished(struct ctm_state *state, const char *volume,
			   char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	bool ended = false;
	int r = all_ended(state, &ended, err);

	if (r < 0 || ended) {
		return r;
	}
	r = ctm_history_read(state, &history, err);
	if (r < 0) {
		return r;
	}
	for (size_t i = history.runs.n; i-- > 0;) {
		const struct ctm_run_info *info = &history.runs.v[i];

		if (!ctm_run_known(info) && info->open) {
			return ctm_err_set(err, CTM_REFUSED, EPROTONOSUPPORT,
					   "run %s may be unfinished, and its record cannot be "
					   "read: %s",
					   info->name, info->problem);
		}
		if (info->status == CTM_RUN_INTERRUPTED && strcmp(info->volume, volume) == 0) {
			copy(ret, CTM_RUN_NAME_MAX, info->name);
			return 1;
		}
	}
	return 0;
}

int ctm_history_unfinished_from(struct ctm_state *state, const char *volume,
				char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	bool ended = false;
	int r = all_ended(state, &ended, err);

	if (r < 0 || ended) {
		return r;
	}
	r = ctm_history_read(state, &history, err);
	for (size_t i = history.runs.n; r == 0 && i-- > 0;) {
		const struct ctm_run_info *info = &history.runs.v[i];

		if (info->status == CTM_RUN_INTERRUPTED && info->from &&
		    strcmp(info->volume, volume) == 0) {
			copy(ret, CTM_RUN_NAME_MAX, info->name);
			return 1;
		}
	}
	return r;
}

/* Whether the run was made under the map of this text. */
static int made_under(struct ctm_state *state, const char *name, const char *map,
		      struct ctm_err *err)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP_CLOSE int dir = -1;
	int r = ctm_state_run_open(state, name, &dir, err);

	r = r < 0 ? r : ctm_reader_open(dir, &reader, err);
	return r < 0 ? r : strcmp(ctm_reader_header(reader)->map, map) == 0;
}

bool ctm_history_all_back(const struct ctm_history *history, const struct ctm_run_info *run)
{
	const struct ctm_run_info *undo =
		run->status == CTM_RUN_UNDONE ? find(history, run->undone_by) : NULL;

	return undo && undo->counts.conflicts == 0;
}

int ctm_history_moved(struct ctm_state *state, const char *volume, const struct ctm_idmap *map,
		      char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_history_read(state, &history, err);

	if (r == 0 && ctm_idmap_format(map, &text) < 0) {
		r = ctm_err_nomem(err);
	}
	for (size_t i = history.runs.n; r == 0 && i-- > 0;) {
		const struct ctm_run_info *info = &history.runs.v[i];

		if (!ctm_run_known(info)) {
			return ctm_err_set(err, CTM_REFUSED, 0,
					   "run %s may have moved ids, and its record cannot be "
					   "read: %s",
					   info->name, info->problem);
		}
		if (info->kind != CTM_RUN_REPAIR || ctm_history_all_back(&history, info) ||
		    !info->changed || info->set == 0 || strcmp(info->volume, volume) != 0) {
			continue;
		}
		r = made_under(state, info->name, text.p ? text.p : "", err);
		if (r > 0) {
			copy(ret, CTM_RUN_NAME_MAX, info->name);
		}
	}
	return r;
}
