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
	bool half;        /* CTM_DID_FAIL: neither as it was nor as it should be */
	int err;          /* CTM_DID_FAIL: positive errno */
	const char *what; /* static: what was tried, or what the conflict is */
	uint64_t dev;     /* where it stands, 0 when that is not known */
	/* CTM_DID_CHANGE of a CTM_CONTENT_CTIME entry: what it has now; 0: not to be relied on */
	struct timespec ctime;
};

static inline struct ctm_step ctm_step_fail(int r, const char *what)
{
	return (struct ctm_step){ .did = CTM_DID_FAIL, .err = -r, .what = what };
}
static inline struct ctm_step ctm_step_conflict(const char *what)
{
	return (struct ctm_step){ .did = CTM_DID_CONFLICT, .what = what };
}

/** What the inode of an entry may be like when its turn comes; each includes those above it. */
enum ctm_allow {
	CTM_ALLOW_BEFORE, /* before, and after: then there is nothing to do */
	/*
	 * On its way: a run was interrupted. chown(2) takes capability, setuid and setgid away, the
	 * capability first and in a transaction of its own; the rest follows in the order of
	 * ctm_apply_inode().
	 */
	CTM_ALLOW_CRASHED,
	/*
	 * A call failed, and the owner was put back, which strips as well, but not all of the rest.
	 * Without such a failure in the record, somebody else has taken these bits away.
	 */
	CTM_ALLOW_FAILED,
};

/** Whether an inode on its way from before to after can be found like this. */
bool ctm_inode_halfway(const struct ctm_inode_state *before, const struct ctm_inode_state *after,
		       const struct ctm_inode_state *now, enum ctm_allow allow);

struct ctm_proof;

/**
 * Brings the open inode from now to after: owner (only when it differs, since chown destroys),
 * mode, ACLs, capability, and reads it again. what of the step names the call that failed. proof:
 * of a privileged file's content, which has to hold behind the owner and behind all (run/
 * privileged.h); NULL: there is nothing to prove.
 */
struct ctm_step ctm_inode_change(const struct ctm_ops *ops, void *fs, int h,
				 const struct ctm_inode_state *now,
				 const struct ctm_inode_state *after, struct ctm_proof *proof);

/**
 * A SET entry: finds the inode, compares it with what is allowed, changes it. When a call fails on
 * the way, it is put back as it was; step.half says that this failed, too. A privileged file needs
 * the recorded content; strict: see ctm_proof_begin().
 *
 * An entry with flags (immutable, append-only): they are lifted, and set again whatever came of the
 * change. An inode without them was left so by a run that was interrupted, and gets them again; one
 * with others has changed.
 */
struct ctm_step ctm_apply_inode(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry,
				enum ctm_allow allow, bool strict);

#endif
