/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One inode from one state to another. */
#include "run/apply_inode.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "plan/judge.h"
#include "run/privileged.h"

static bool same_owner(const struct ctm_inode_state *a, const struct ctm_inode_state *b)
{
	return a->uid.v == b->uid.v && a->gid.v == b->gid.v;
}

/* Whether the way from the one to the other takes a capability away; a directory keeps it. */
static bool chown_strips(const struct ctm_inode_state *before, const struct ctm_inode_state *after)
{
	return !same_owner(before, after) && !S_ISDIR(before->mode);
}

static bool either(struct ctm_bytes now, struct ctm_bytes a, struct ctm_bytes b)
{
	return ctm_bytes_eq(now, a) || ctm_bytes_eq(now, b);
}

/* chown has not come further than the capability. */
static bool untouched(const struct ctm_inode_state *before, const struct ctm_inode_state *now)
{
	return now->mode == before->mode && ctm_bytes_eq(now->acl_access, before->acl_access) &&
	       ctm_bytes_eq(now->acl_default, before->acl_default);
}

static bool put_back(const struct ctm_inode_state *before, const struct ctm_inode_state *after,
		     const struct ctm_inode_state *now)
{
	return (now->mode == before->mode || now->mode == ctm_judge_stripped_mode(before->mode) ||
		now->mode == ctm_judge_stripped_mode(after->mode)) &&
	       either(now->acl_access, before->acl_access, after->acl_access) &&
	       either(now->acl_default, before->acl_default, after->acl_default);
}

bool ctm_inode_halfway(const struct ctm_inode_state *before, const struct ctm_inode_state *after,
		       const struct ctm_inode_state *now, enum ctm_allow allow)
{
	static const struct ctm_bytes none = { .p = NULL };

	if (allow == CTM_ALLOW_BEFORE) {
		return ctm_inode_state_eq(now, before);
	}
	if (!same_owner(before, after) && same_owner(now, before)) {
		return (allow == CTM_ALLOW_FAILED ? put_back(before, after, now) :
						    untouched(before, now)) &&
		       either(now->caps, before->caps, none);
	}
	if (!same_owner(now, after)) {
		return false;
	}
	if (now->mode != before->mode && now->mode != ctm_judge_stripped_mode(before->mode) &&
	    now->mode != after->mode) {
		return false;
	}
	return either(now->acl_access, before->acl_access, after->acl_access) &&
	       either(now->acl_default, before->acl_default, after->acl_default) &&
	       (either(now->caps, after->caps, none) ||
		(!chown_strips(before, after) && ctm_bytes_eq(now->caps, before->caps)));
}

struct change {
	const struct ctm_ops *ops;
	void *fs;
	int h;
	int r;            /* first error */
	const char *what; /* that it came from */
};

static void set_xattr(struct change *c, const char *name, const char *what, struct ctm_bytes now,
		      struct ctm_bytes after)
{
	if (c->r == 0 && !ctm_bytes_eq(now, after)) {
		c->what = what;
		c->r = c->ops->set_xattr(c->fs, c->h, name, after);
	}
}

static void prove(struct change *c, struct ctm_proof *proof, const struct ctm_inode_state *after)
{
	if (c->r == 0) {
		c->what = "verify";
		c->r = ctm_proof_holds(proof, after);
	}
}

static struct ctm_step verify(const struct ctm_ops *ops, void *fs, int h,
			      const struct ctm_inode_state *after)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode_state now;
	int r = ops->read(fs, h, &arena, &now);

	if (r < 0 || !ctm_inode_state_eq(&now, after)) {
		return ctm_step_fail(r < 0 ? r : -EIO, "verify");
	}
	return (struct ctm_step){ .did = CTM_DID_CHANGE };
}

struct ctm_step ctm_inode_change(const struct ctm_ops *ops, void *fs, int h,
				 const struct ctm_inode_state *now,
				 const struct ctm_inode_state *after, struct ctm_proof *proof)
{
	struct change c = { .ops = ops, .fs = fs, .h = h };
	bool chown = !same_owner(now, after);
	bool strips = chown_strips(now, after);
	bool may_strip = strips && (now->mode & (S_ISUID | S_ISGID));
	struct ctm_bytes caps = now->caps;

	if (chown) {
		c.what = "chown";
		c.r = ops->chown(fs, h, after->uid, after->gid);
		caps = strips ? (struct ctm_bytes){ .p = NULL } : caps;
	}
	prove(&c, proof, after);
	if (c.r == 0 && !S_ISLNK(now->mode) && (may_strip || now->mode != after->mode)) {
		c.what = "chmod";
		c.r = ops->chmod(fs, h, after->mode & 07777);
	}
	set_xattr(&c, CTM_XATTR_ACL_ACCESS, "acl", now->acl_access, after->acl_access);
	set_xattr(&c, CTM_XATTR_ACL_DEFAULT, "acl", now->acl_default, after->acl_default);
	set_xattr(&c, CTM_XATTR_CAPS, "capability", caps, after->caps);
	prove(&c, proof, after);
	return c.r < 0 ? ctm_step_fail(c.r, c.what) : verify(ops, fs, h, after);
}

/* Owned by whomever: without bits, and without a capability. */
static void strip(const struct ctm_ops *ops, void *fs, int h, const struct ctm_inode_state *now)
{
	uint32_t mode = ctm_judge_stripped_mode(now->mode);

	if (mode != now->mode) {
		(void)ops->chmod(fs, h, mode & 07777);
	}
	if (now->caps.p) {
		(void)ops->set_xattr(fs, h, CTM_XATTR_CAPS, (struct ctm_bytes){ .p = NULL });
	}
}

/*
 * What failed half way is better as it was: the owner would be right from now on, and nothing on
 * the disk would tell that a capability for which there was no room is missing. But no bits for a
 * content that is not proven any more: then the record alone tells of it.
 */
static void take_back(const struct ctm_ops *ops, void *fs, int h, const struct ctm_inode_state *was,
		      struct ctm_proof *proof, struct ctm_step *step)
{
	static const char *const words[][2] = {
		{ "chmod", "chmod, taken back" },
		{ "acl", "acl, taken back" },
		{ "capability", "capability, taken back" },
		{ "verify", "verify, taken back" },
	};
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode_state now;

	step->half = true;
	if (ops->read(fs, h, &arena, &now) < 0) {
		return;
	}
	if (ctm_inode_state_eq(&now, was)) {
		step->half = false;
		return;
	}
	if (ctm_proof_holds(proof, was) < 0) {
		strip(ops, fs, h, &now);
		return;
	}
	if (ctm_inode_change(ops, fs, h, &now, was, proof).did != CTM_DID_CHANGE) {
		return;
	}
	step->half = false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(step->what, words[i][0]) == 0) {
			step->what = words[i][1];
			return;
		}
	}
}

static struct ctm_step change_owner(const struct ctm_ops *ops, void *fs, int h,
				    const struct ctm_entry *entry,
				    const struct ctm_inode_state *now, struct ctm_proof *proof)
{
	struct ctm_step step = ctm_inode_change(ops, fs, h, now, &entry->after, proof);

	if (step.did == CTM_DID_FAIL) {
		take_back(ops, fs, h, &entry->before, proof, &step);
	}
	return step;
}

/* Sets the flags again and looks; an inode that is left without them is half done. */
static void set_again(const struct ctm_ops *ops, void *fs, int h, const struct ctm_entry *entry,
		      struct ctm_step *step)
{
	struct ctm_inode inode;
	int r = ops->set_attr(fs, h, entry->attr);

	if (r == 0) {
		r = ops->stat(fs, h, &inode);
	}
	if (r == 0 && inode.attr != entry->attr) {
		r = -EIO;
	}
	if (r < 0) {
		*step = ctm_step_fail(r, "set flags again");
		step->half = true;
	}
}

/* The same with flags in the way, or lifted already when a run was interrupted in between. */
static struct ctm_step change_flagged(const struct ctm_ops *ops, void *fs, int h,
				      const struct ctm_entry *entry,
				      const struct ctm_inode_state *now, struct ctm_proof *proof)
{
	struct ctm_step step = { .did = CTM_DID_CHANGE };
	bool right = ctm_inode_state_eq(now, &entry->after);
	struct ctm_inode inode;
	int r = ops->stat(fs, h, &inode);

	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	if (inode.attr != entry->attr && inode.attr != 0) {
		return ctm_step_conflict("changed");
	}
	if (right && inode.attr == entry->attr) {
		return (struct ctm_step){ .did = CTM_DID_NOTHING };
	}
	if (!right) {
		r = inode.attr ? ops->set_attr(fs, h, 0) : 0;
		if (r < 0) {
			return ctm_step_fail(r, "lift flags");
		}
		step = change_owner(ops, fs, h, entry, now, proof);
	}
	set_again(ops, fs, h, entry, &step);
	return step;
}

/* For the record: but only of a content that was proven to be the one it knows. */
static void note_ctime(const struct ctm_ops *ops, void *fs, int h, const struct ctm_entry *entry,
		       const struct ctm_proof *proof, struct ctm_step *step)
{
	struct ctm_inode inode;

	if (entry->content == CTM_CONTENT_CTIME && step->did == CTM_DID_CHANGE && proof->known &&
	    !proof->lost && ops->stat(fs, h, &inode) == 0) {
		step->ctime = inode.ctime;
	}
}

static struct ctm_step change_open(const struct ctm_ops *ops, void *fs, int h,
				   const struct ctm_entry *entry, enum ctm_allow allow, bool strict)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	CLEANUP(ctm_proof_done) struct ctm_proof proof = CTM_PROOF_NONE;
	struct ctm_step step;
	struct ctm_inode_state now;
	bool right;
	int r = ops->read(fs, h, &arena, &now);

	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	right = ctm_inode_state_eq(&now, &entry->after);
	if (!right && !ctm_inode_halfway(&entry->before, &entry->after, &now, allow) &&
	    !ctm_inode_state_eq(&now, &entry->before)) {
		return ctm_step_conflict("changed");
	}
	if (!right) {
		step = ctm_proof_begin(ops, fs, h, entry, &now, strict, &proof);
		if (step.did != CTM_DID_CHANGE) {
			return step;
		}
	}
	step = entry->attr ? change_flagged(ops, fs, h, entry, &now, &proof) :
	       right       ? (struct ctm_step){ .did = CTM_DID_NOTHING } :
			     change_owner(ops, fs, h, entry, &now, &proof);
	note_ctime(ops, fs, h, entry, &proof, &step);
	return step;
}

struct ctm_step ctm_apply_inode(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry,
				enum ctm_allow allow, bool strict)
{
	struct ctm_inode inode;
	struct ctm_step step;
	int h;
	int r = ops->open(fs, &entry->ref, &h);

	if (r == -ESTALE) {
		return ctm_step_conflict("gone");
	}
	if (r < 0) {
		return ctm_step_fail(r, "open");
	}
	step = change_open(ops, fs, h, entry, allow, strict);
	if (step.did == CTM_DID_FAIL && ops->stat(fs, h, &inode) == 0) {
		step.dev = inode.dev;
	}
	ops->close(fs, h);
	return step;
}
