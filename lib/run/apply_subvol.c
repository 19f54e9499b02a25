/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read-only btrfs subvolumes. */
#include "run/apply_subvol.h"

#include <errno.h>

static const char received[] = "made by btrfs receive, left";

struct ctm_step ctm_confirm_subvol(const struct ctm_ops *ops, void *fs,
				   const struct ctm_plan_subvol *subvol, struct ctm_entry *ret)
{
	struct ctm_entry e = {
		.kind = CTM_ENTRY_WRITABLE,
		.cause = CTM_F_ATTR_ROSUBVOL,
		.ref = { .path = subvol->path, .path_len = subvol->path_len, .ino = subvol->ino },
		.nlink = 1,
		.names = 1,
		.rule = "",
	};
	struct ctm_subvol now = { 0 };
	struct ctm_inode inode = { 0 };
	int h;
	int r = ops->open(fs, &e.ref, &h);

	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict("gone") : ctm_step_fail(r, "open");
	}
	r = ops->subvol(fs, h, &now);
	if (r == 0) {
		r = ops->stat(fs, h, &inode);
	}
	if (r == 0) {
		r = ops->handle(fs, h, &e.ref.handle);
	}
	ops->close(fs, h);
	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	if (!now.readonly) {
		return (struct ctm_step){ .did = CTM_DID_NOTHING };
	}
	if (now.received) {
		return ctm_step_conflict(received);
	}
	e.ref.dev = inode.dev;
	*ret = e;
	return (struct ctm_step){ .did = CTM_DID_CHANGE };
}

static struct ctm_step flip(const struct ctm_ops *ops, void *fs, int h, bool readonly)
{
	struct ctm_subvol now;
	int r = ops->subvol(fs, h, &now);

	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	if (now.readonly == readonly) {
		return (struct ctm_step){ .did = CTM_DID_NOTHING };
	}
	if (now.received) {
		return ctm_step_conflict(received);
	}
	r = ops->set_subvol(fs, h, readonly);
	if (r == 0) {
		r = ops->subvol(fs, h, &now);
	}
	if (r == 0 && now.readonly != readonly) {
		r = -EIO;
	}
	return r < 0 ? ctm_step_fail(r, readonly ? "make read-only again" : "make writable") :
		       (struct ctm_step){ .did = CTM_DID_CHANGE };
}

struct ctm_step ctm_apply_subvol(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry)
{
	const bool readonly = entry->kind == CTM_ENTRY_READONLY;
	struct ctm_step step;
	int h;
	int r = ops->open(fs, &entry->ref, &h);

	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict("gone") : ctm_step_fail(r, "open");
	}
	step = flip(ops, fs, h, readonly);
	step.half = step.did == CTM_DID_FAIL && readonly;
	ops->close(fs, h);
	return step;
}
