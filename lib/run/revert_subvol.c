/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read-only subvolumes on the way back. */
#include "run/revert_subvol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

void ctm_reverted_subvols_done(struct ctm_reverted_subvols *subvols)
{
	for (size_t i = 0; i < subvols->v.n; i++) {
		free((char *)(uintptr_t)subvols->v.v[i].entry.ref.path);
	}
	ctm_vec_done(&subvols->v);
}

/* One that is gone, or is no subvolume, has nothing to be set on it. */
static bool is_readonly(const struct ctm_ops *ops, void *fs, const struct ctm_ref *ref,
			bool *ret_there)
{
	struct ctm_subvol now = { .readonly = false };
	int h;

	*ret_there = ops->open(fs, ref, &h) == 0;
	if (*ret_there) {
		*ret_there = ops->subvol(fs, h, &now) == 0;
		ops->close(fs, h);
	}
	return now.readonly;
}

static int add(const struct ctm_ops *ops, void *fs, const struct ctm_reader *reader,
	       const struct ctm_entry *e, struct ctm_reverted_subvols *subvols)
{
	struct ctm_reverted_subvol one = { .entry = *e };
	bool there;

	one.readonly = is_readonly(ops, fs, &e->ref, &there);
	one.ours = there && (one.readonly || !ctm_reader_end(reader, NULL));
	one.entry.ref.path = strndup(e->ref.path, e->ref.path_len);
	if (!one.entry.ref.path) {
		return -ENOMEM;
	}
	if (ctm_vec_push(&subvols->v, &one) < 0) {
		free((char *)(uintptr_t)one.entry.ref.path);
		return -ENOMEM;
	}
	return 0;
}

int ctm_reverted_subvols_read(const struct ctm_ops *ops, void *fs, struct ctm_reader *reader,
			      struct ctm_reverted_subvols *subvols, struct ctm_err *err)
{
	struct ctm_entry e;
	uint64_t index;
	int r;

	if (ctm_reader_count(reader, CTM_ENTRY_WRITABLE) == 0) {
		return 0;
	}
	ctm_reader_rewind(reader);
	while ((r = ctm_reader_next(reader, &e, &index, err)) == 1) {
		if (e.kind == CTM_ENTRY_WRITABLE && add(ops, fs, reader, &e, subvols) < 0) {
			return ctm_err_nomem(err);
		}
	}
	return r;
}

static bool is_below(const struct ctm_ref *ref, const struct ctm_ref *top)
{
	return ref->path_len >= top->path_len && memcmp(ref->path, top->path, top->path_len) == 0 &&
	       (top->path_len == 0 || ref->path_len == top->path_len ||
		ref->path[top->path_len] == '/');
}

int ctm_reverted_subvols_enter(struct ctm_reverted_subvols *subvols, const struct ctm_entry *e,
			       ctm_undo_fn fn, void *arg)
{
	struct ctm_reverted_subvol *found = NULL;

	for (size_t i = 0; i < subvols->v.n; i++) {
		struct ctm_reverted_subvol *one = &subvols->v.v[i];

		/* The innermost one. */
		if (is_below(&e->ref, &one->entry.ref) &&
		    (!found || one->entry.ref.path_len > found->entry.ref.path_len)) {
			found = one;
		}
	}
	if (!found || found->entered || !found->ours) {
		return 0;
	}
	found->entered = true;
	return fn(&found->entry, arg);
}

int ctm_reverted_subvols_leave(struct ctm_reverted_subvols *subvols, ctm_undo_fn fn, void *arg)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < subvols->v.n; i++) {
		const struct ctm_reverted_subvol *one = &subvols->v.v[i];
		struct ctm_entry e = one->entry;

		e.kind = CTM_ENTRY_READONLY;
		if (one->ours && (one->entered || !one->readonly)) {
			r = fn(&e, arg);
		}
	}
	return r;
}
