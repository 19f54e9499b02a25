/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history: the runs of a target and what became of them.
 */
#ifndef CTM_RUN_HISTORY_H
#define CTM_RUN_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "run/journal.h"
#include "run/state.h"

enum ctm_run_status {
	CTM_RUN_DONE,        /* ended, nothing was left */
	CTM_RUN_PARTLY,      /* ended, something was left */
	CTM_RUN_INTERRUPTED, /* has no end */
	CTM_RUN_UNDONE,      /* taken back by a later run, as far as nobody has changed it since */
	CTM_RUN_PARTLY_UNDONE, /* a part of it was: undo --path */
	/*
	 * Its record cannot be read, .problem says why; of what the record has nothing is known.
	 * NEWER: a newer program made it.
	 */
	CTM_RUN_DAMAGED,
	CTM_RUN_NEWER,
	CTM_RUN_STATUS_N
};
/** The word for it: "done", "partly undone". */
const char *ctm_run_status_word(enum ctm_run_status status);

#define CTM_RUN_VOLUME_MAX 32

struct ctm_run_info {
	char name[CTM_RUN_NAME_MAX];
	enum ctm_run_status status;
	enum ctm_run_kind kind;
	int64_t time; /* seconds since 1970 */
	char version[32];
	char user[64];
	char volume[CTM_RUN_VOLUME_MAX]; /* its key */
	char digest[33];
	char undoes[CTM_RUN_NAME_MAX];    /* an undo: the run it took back */
	char undone_by[CTM_RUN_NAME_MAX]; /* CTM_RUN_UNDONE, CTM_RUN_PARTLY_UNDONE */
	bool hook;                        /* made by a hook, not by a person */
	bool from;                        /* with --from-map */
	bool part;                        /* an undo of a part */
	/* It has no end that can be read: CTM_RUN_INTERRUPTED, also when it was undone since. */
	bool open;
	bool expired; /* set by ctm_retain_mark() */
	uint64_t set; /* entries by kind */
	uint64_t removed;
	uint64_t restored;
	struct ctm_run_counts counts; /* of an ended run */
	bool changed;                 /* something of the volume, or perhaps: there is no end */
	uint64_t bytes;               /* on disk: record and saved files */
	char problem[160];
};
/** Whether the record could be read. */
static inline bool ctm_run_known(const struct ctm_run_info *info)
{
	return info->status != CTM_RUN_DAMAGED && info->status != CTM_RUN_NEWER;
}

struct ctm_history {
	CTM_VEC(struct ctm_run_info) runs; /* oldest first */
	char *target; /* as the newest of them names it; NULL: none that can be read */
};

void ctm_history_done(struct ctm_history *history);
int ctm_history_read(struct ctm_state *state, struct ctm_history *ret, struct ctm_err *err);
/**
 * 1 and the name of the newest run of the volume that was interrupted, 0: there is none.
 * CTM_REFUSED: there is one that may be, and cannot be read.
 */
int ctm_history_unfinished(struct ctm_state *state, const char *volume,
			   char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err);
/** Whether the run was taken back, and nothing that it had changed was left out. */
bool ctm_history_all_back(const struct ctm_history *history, const struct ctm_run_info *run);
/**
 * The same for the newest repair that gave inodes of the volume the owners that this map says, and
 * was not wholly taken back, ended or interrupted. CTM_REFUSED: there may be one, and it cannot be
 * read.
 */
int ctm_history_moved(struct ctm_state *state, const char *volume, const struct ctm_idmap *map,
		      char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err);
/** The same for the newest run that was made with --from-map and interrupted. */
int ctm_history_unfinished_from(struct ctm_state *state, const char *volume,
				char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err);

#endif
