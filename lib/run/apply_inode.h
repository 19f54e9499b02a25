/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One inode from one state to another, so that being killed at any instant leaves too few
 * privileges, never too many, and a state that is known as halfway.
 */
#ifndef CTM_RUN_APPLY_INODE_H
#define CTM_RUN_APPLY_INODE_H

#include <stdbool.h>

#include "run/entry.h"
#include "run/ops.h"

enum ctm_did {
	CTM_DID_CHANGE,   /* as it should be now */
	CTM_DID_NOTHING,  /* was so already */
	CTM_DID_CONFLICT, /* neither before nor after: left */
	CTM_DID_FAIL,     /* a call failed */
};

struct ctm_step {
	enum ctm_did did;
	int err;          /* CTM_DID_FAIL: positive errno */
	const char *what; /* static: what was tried, or what the conflict is */
	uint64_t dev;     /* where it stands, 0 when that is not known */
};

static inline struct ctm_step ctm_step_fail(int r, const char *what)
{
	return (struct ctm_step){ .did = CTM_DID_FAIL, .err = -r, .what = what };
}
static inline struct ctm_step ctm_step_conflict(const char *what)
{
	return (struct ctm_step){ .did = CTM_DID_CONFLICT, .what = what };
}

/**
 * Whether an inode on its way from before to after can be found like this after a crash. chown(2)
 * takes capability, setuid and setgid away, the capability first and in a transaction of its own;
 * the rest follows in the order of ctm_apply_inode().
 */
bool ctm_inode_halfway(const struct ctm_inode_state *before, const struct ctm_inode_state *after,
		       const struct ctm_inode_state *now);

/**
 * Brings the open inode from now to after: owner (only when it differs, since chown destroys),
 * mode, ACLs, capability, and reads it again. what of the step names the call that failed.
 */
struct ctm_step ctm_inode_change(const struct ctm_ops *ops, void *fs, int h,
				 const struct ctm_inode_state *now,
				 const struct ctm_inode_state *after);

/**
 * A SET entry: finds the inode, compares it with before, changes it. halfway: one that a crash
 * left on its way is no conflict.
 */
struct ctm_step ctm_apply_inode(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry,
				bool halfway);

#endif
