/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An action of a plan, looked at again, becomes an entry of a record. */
#include "run/confirm.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Opens, and reads all that the entry keeps of the inode itself. */
static struct ctm_step look(const struct ctm_ops *ops, void *fs, const struct ctm_action *action,
			    struct ctm_arena *arena, struct ctm_entry *e,
			    struct ctm_inode *ret_inode)
{
	int h;
	int r = ops->open(fs, &e->ref, &h);

	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict("gone") : ctm_step_fail(r, "open");
	}
	r = ops->stat(fs, h, ret_inode);
	if (r == 0) {
		r = ops->read(fs, h, arena, &e->before);
	}
	if (r == 0) {
		r = ops->handle(fs, h, &e->ref.handle);
	}
	ops->close(fs, h);
	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	if (!ctm_inode_state_eq(&e->before, &action->before)) {
		return action->kind == CTM_ACT_SET &&
				       ctm_inode_state_eq(&e->before, &action->after) ?
			       (struct ctm_step){ .did = CTM_DID_NOTHING } :
			       ctm_step_conflict("changed");
	}
	/* Only flags that were shown are lifted. Where others came since, the change will fail. */
	if (action->attr && ret_inode->attr != action->attr) {
		return ctm_step_conflict("changed");
	}
	/* What kind of device it is, decides whether it may be given away (plan/device.h). */
	if ((S_ISCHR(ret_inode->mode) || S_ISBLK(ret_inode->mode)) &&
	    ret_inode->rdev != action->rdev) {
		return ctm_step_conflict("changed");
	}
	e->ref.dev = ret_inode->dev;
	e->nlink = ret_inode->nlink;
	return (struct ctm_step){ .did = CTM_DID_CHANGE };
}

static size_t parent_len(const struct ctm_ref *ref)
{
	const char *slash = memrchr(ref->path, '/', ref->path_len);

	return slash ? (size_t)(slash - ref->path) : 0;
}

static struct ctm_step look_at_parent(const struct ctm_ops *ops, void *fs, struct ctm_entry *e)
{
	struct ctm_inode inode;
	int h;
	int r;

	e->parent = (struct ctm_ref){ .path = e->ref.path, .path_len = parent_len(&e->ref) };
	r = ops->open(fs, &e->parent, &h);
	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict("gone") : ctm_step_fail(r, "open");
	}
	r = ops->stat(fs, h, &inode);
	if (r == 0) {
		r = ops->handle(fs, h, &e->parent.handle);
	}
	ops->close(fs, h);
	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	e->parent.dev = inode.dev;
	e->parent.ino = inode.ino;
	e->parent_mtime = inode.mtime;
	return (struct ctm_step){ .did = CTM_DID_CHANGE };
}

struct ctm_step ctm_confirm(const struct ctm_ops *ops, void *fs, const struct ctm_action *action,
			    struct ctm_arena *arena, struct ctm_entry *ret)
{
	struct ctm_entry e = {
		.kind = action->kind == CTM_ACT_REMOVE ? CTM_ENTRY_REMOVE : CTM_ENTRY_SET,
		.cause = action->cause,
		.ref = { .path = action->path, .path_len = action->path_len, .ino = action->ino },
		.names = action->names,
		.attr = action->attr,
		.after = action->after,
		.rule = action->rule ? action->rule->id : "",
	};
	struct ctm_inode inode = { 0 };
	struct ctm_step step = look(ops, fs, action, arena, &e, &inode);

	/* A name more may be one outside the volume: then it is no longer the container's alone. */
	if (step.did == CTM_DID_CHANGE && !S_ISDIR(inode.mode) && inode.nlink != action->nlink) {
		return ctm_step_conflict("changed");
	}
	if (step.did == CTM_DID_CHANGE && action->kind == CTM_ACT_REMOVE) {
		if (!S_ISREG(inode.mode) || inode.nlink != 1 || inode.size != action->size) {
			return ctm_step_conflict("changed");
		}
		e.size = action->size;
		memcpy(e.sha256, action->sha256, sizeof(e.sha256));
		e.mtime = inode.mtime;
		step = look_at_parent(ops, fs, &e);
	}
	if (step.did == CTM_DID_CHANGE) {
		*ret = e;
	}
	return step;
}
