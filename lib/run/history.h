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
	/* its record cannot be read: .problem says why, only .name is set besides */
	CTM_RUN_DAMAGED,
};

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
	char undone_by[CTM_RUN_NAME_MAX]; /* CTM_RUN_UNDONE */
	uint64_t set;                     /* entries by kind */
	uint64_t removed;
	uint64_t restored;
	struct ctm_run_counts counts; /* of an ended run */
	bool changed;                 /* something of the volume, or perhaps: there is no end */
	uint64_t bytes;               /* on disk: record and saved files */
	char problem[160];
};

struct ctm_history {
	CTM_VEC(struct ctm_run_info) runs; /* oldest first */
};

void ctm_history_done(struct ctm_history *history);
int ctm_history_read(struct ctm_state *state, struct ctm_history *ret, struct ctm_err *err);
/** 1 and the name of the newest run of the volume that was interrupted, 0: there is none. */
int ctm_history_unfinished(struct ctm_state *state, const char *volume,
			   char ret[static CTM_RUN_NAME_MAX], struct ctm_err *err);

#endif
