/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state directory: <sysroot>/var/lib/ctmend/<target>/<run>/, and who may write there.
 *
 * A target's directory is locked (flock) by who writes its records. A run's directory has the name
 * "<number>-<UTC time>", for example 0007-20250131T235959Z; the number counts up, so that the order
 * of runs survives a clock that jumps. It is built under the name ".new-<run>" and renamed when its
 * record is complete and on stable storage: a directory without the dot is a whole record. One that
 * is to go is renamed to ".old-<run>" first, so that it is gone as a whole or not at all. A damaged
 * one that a person has moved out of the way lies in "set-aside", and is no run any more.
 */
#ifndef CTM_RUN_STATE_H
#define CTM_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "target/host.h"
#include "target/target.h"

#define CTM_RUN_NAME_MAX 40

struct ctm_state;

/**
 * The directory name of a target: a PVE container's number, a plain container's name, or a path
 * (made real first, so that two names of one path share their records). Other bytes than letters,
 * digits and "._-" are written %XX, also the first one of what else would start with a dot or be
 * taken for a number; what gets too long ends in its SHA-256. -ENOMEM.
 */
int ctm_state_name(enum ctm_target_kind kind, const char *target, struct ctm_buf *ret);

/**
 * For writing: makes what is missing, waits up to wait seconds for the target's lock (CTM_REFUSED:
 * another repair or undo holds it), sweeps away what a killed run left under a ".new-" or ".old-"
 * name.
 */
int ctm_state_open(const struct ctm_host *host, const char *name, unsigned int wait,
		   struct ctm_state **ret, struct ctm_err *err);
/** The same where there are records already; makes nothing: -ENOENT (err untouched). */
int ctm_state_open_kept(const struct ctm_host *host, const char *name, unsigned int wait,
			struct ctm_state **ret, struct ctm_err *err);
/** For reading, without lock; -ENOENT (err untouched) when there are no records. */
int ctm_state_open_read(const struct ctm_host *host, const char *name, struct ctm_state **ret,
			struct ctm_err *err);
/** Whether somebody holds the lock of the target, of whose records these are for reading. */
bool ctm_state_busy(struct ctm_state *state);
void ctm_state_free(struct ctm_state *state);
static inline void ctm_state_freep(struct ctm_state **state)
{
	ctm_state_free(*state);
}

/** Names of complete runs, oldest first. Zero-initialise; ctm_run_names_done() frees. */
struct ctm_run_names {
	CTM_VEC(char *) names;
};
int ctm_state_runs(struct ctm_state *state, struct ctm_run_names *ret, struct ctm_err *err);
void ctm_run_names_done(struct ctm_run_names *names);
/** Directory names of all targets that have records, in the order of their bytes. */
int ctm_state_targets(const struct ctm_host *host, struct ctm_run_names *ret, struct ctm_err *err);
/** When a run began by its name, in seconds since 1970. -EINVAL: it is no run's name. */
int64_t ctm_run_time(const char *run);
/** The run a person means: its name, or its number alone ("7"). -ENOENT with CTM_REFUSED. */
int ctm_state_find(struct ctm_state *state, const char *typed, char ret[static CTM_RUN_NAME_MAX],
		   struct ctm_err *err);
/** Directory descriptor of a run; the caller closes it. */
int ctm_state_run_open(struct ctm_state *state, const char *run, int *ret, struct ctm_err *err);

/** Begins a run: a new ".new-" directory (0700); the caller closes the descriptor. */
int ctm_state_begin(struct ctm_state *state, char ret_run[static CTM_RUN_NAME_MAX], int *ret_dirfd,
		    struct ctm_err *err);
/** The files in it are written and synced: gives it its name, and syncs that. */
int ctm_state_commit(struct ctm_state *state, const char *run, int dirfd, struct ctm_err *err);
/** Removes a run that was begun and not committed. */
void ctm_state_abandon(struct ctm_state *state, const char *run);
/**
 * Removes a run's record for good. A crash leaves all of it, or a rest that the next
 * ctm_state_open() removes.
 */
int ctm_state_forget(struct ctm_state *state, const char *run, struct ctm_err *err);

/**
 * Moves a run's record, whatever it is by now, to the directory set-aside, and syncs both. Nothing
 * is overwritten: where a record of that name lies there already, a number is added. ret: appended,
 * the path that it has there.
 */
int ctm_state_set_aside(struct ctm_state *state, const char *run, struct ctm_buf *ret,
			struct ctm_err *err);
/** Names of what was set aside, in the order of the runs. */
int ctm_state_aside(struct ctm_state *state, struct ctm_run_names *ret, struct ctm_err *err);
/** Path of the target's directory, for messages. */
const char *ctm_state_path(const struct ctm_state *state);

#endif
