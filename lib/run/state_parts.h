/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the target's directory and the runs in it share.
 */
#ifndef CTM_RUN_STATE_PARTS_H
#define CTM_RUN_STATE_PARTS_H

#include <dirent.h>

#include "run/state.h"

#define CTM_STATE_NEW ".new-"
#define CTM_STATE_OLD ".old-"
/** Where records lie that were set aside: no run's name. */
#define CTM_STATE_ASIDE "set-aside"
#define CTM_STATE_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct ctm_state {
	int dir;     /* of the target */
	char *shown; /* its path, for messages */
};

/**
 * Opens the directory name in dir, never through a link; makes it first if asked. CTM_REFUSED
 * unless it is ours alone: another's, or one that others may write, could hold forged records.
 * -ENOENT (err untouched).
 */
int ctm_state_open_own(int dir, const char *name, const char *shown, bool make, int *ret,
		       struct ctm_err *err);
/** The number of a run's name, 0 for what is no such name. */
unsigned long ctm_state_run_number(const char *name);
/** Starts reading a target's directory; ctm_state_close_dir() ends it. */
int ctm_state_list(struct ctm_state *state, DIR **ret, struct ctm_err *err);
void ctm_state_close_dir(DIR **dir);
/** Adds the names in it for which wanted is true, NULL: that have no dot in front. Any order. */
int ctm_state_collect(struct ctm_state *state, bool (*wanted)(const char *name),
		      struct ctm_run_names *ret, struct ctm_err *err);
/** Removes a run's directory, whatever its name. Negative errno: something of it is left. */
int ctm_state_remove(struct ctm_state *state, const char *name);

#endif
