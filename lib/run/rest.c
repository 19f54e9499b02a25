/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an unfinished run still has to do. */
#include "run/rest.h"

#include <errno.h>

#include "base/cleanup.h"
#include "run/apply_file.h"
#include "run/apply_inode.h"
#include "run/privileged.h"

/* How an entry of the run may be found. */
struct way {
	enum ctm_allow allow;
	bool strict; /* ctm_privileged_strict() */
};

static struct ctm_step look_open(const struct ctm_ops *ops, void *fs, int h,
				 struct ctm_arena *arena, const struct way *way,
				 struct ctm_entry *e)
{
	struct ctm_inode_state now;
	struct ctm_inode inode;
	struct ctm_step step = { .did = CTM_DID_CHANGE };
	bool right;
	int r = ops->stat(fs, h, &inode);

	if (r == 0) {
		r = ops->read(fs, h, arena, &now);
	}
	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	right = ctm_inode_state_eq(&now, &e->after);
	if (right && (!e->attr || inode.attr == e->attr)) {
		return (struct ctm_step){ .did = CTM_DID_NOTHING };
	}
	/* flags were lifted by the run, or are not those that it saw */
	if (e->attr && inode.attr != e->attr && inode.attr != 0) {
		return ctm_step_conflict("changed");
	}
	if (!right && !ctm_inode_state_eq(&now, &e->before) &&
	    !ctm_inode_halfway(&e->before, &e->after, &now, way->allow)) {
		return ctm_step_conflict("changed");
	}
	if (!right) {
		step = ctm_privileged_look(ops, fs, h, e, &now, way->strict);
	}
	if (step.did != CTM_DID_CHANGE) {
		return step;
	}
	e->before = now;
	e->ref.dev = inode.dev;
	e->ref.ino = inode.ino;
	return step;
}

static struct ctm_step look_at_inode(const struct ctm_ops *ops, void *fs, struct ctm_arena *arena,
				     const struct way *way, struct ctm_entry *e)
{
	struct ctm_step step;
	int h;
	int r = ops->open(fs, &e->ref, &h);

	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict("gone") : ctm_step_fail(r, "open");
	}
	step = look_open(ops, fs, h, arena, way, e);
	ops->close(fs, h);
	return step;
}

static struct ctm_step look(const struct ctm_ops *ops, void *fs, struct ctm_arena *arena,
			    const struct way *way, struct ctm_entry *e)
{
	uint64_t ino = e->ref.ino;
	struct ctm_step step;

	switch (e->kind) {
	case CTM_ENTRY_REMOVE:
		step = ctm_look_for_file(ops, fs, e);
		return step.did == CTM_DID_CHANGE && e->ref.ino != ino ?
			       ctm_step_conflict("changed") :
			       step;
	case CTM_ENTRY_RESTORE:
		return ctm_look_for_gap(ops, fs, e, NULL);
	case CTM_ENTRY_SET:
	default:
		return look_at_inode(ops, fs, arena, way, e);
	}
}

static int one(const struct ctm_ops *ops, void *fs, struct ctm_entry *e, const struct way *way,
	       ctm_undo_fn fn, void *arg, struct ctm_outcome *out, struct ctm_err *err)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_step step = look(ops, fs, &arena, way, e);
	struct ctm_result result = { .path = e->ref.path, .path_len = e->ref.path_len };

	switch (step.did) {
	case CTM_DID_CHANGE:
		return fn(e, arg);
	case CTM_DID_NOTHING:
		out->counts.already++;
		return 0;
	case CTM_DID_CONFLICT:
	case CTM_DID_FAIL:
	default:
		result.kind = step.did == CTM_DID_CONFLICT ? CTM_RESULT_CONFLICT :
							     CTM_RESULT_FAILED;
		result.what = step.what;
		result.err = step.err;
		return ctm_outcome_add(out, &result) < 0 ? ctm_err_nomem(err) : 0;
	}
}

int ctm_run_rest(const struct ctm_ops *ops, void *fs, struct ctm_reader *reader, ctm_undo_fn fn,
		 void *arg, struct ctm_outcome *out, struct ctm_err *err)
{
	struct way way = { .strict = ctm_privileged_strict(ctm_reader_header(reader)) };
	struct ctm_entry entry;
	uint64_t index;
	int r;

	ctm_reader_rewind(reader);
	while ((r = ctm_reader_next(reader, &entry, &index, err)) == 1) {
		if (ctm_entry_is_subvol(entry.kind)) {
			continue; /* only on the way to others */
		}
		if (ctm_reader_is_done(reader, index) && !ctm_reader_failure(reader, index)) {
			out->counts.already++;
			continue;
		}
		way.allow = ctm_reader_failure(reader, index) ? CTM_ALLOW_FAILED :
								CTM_ALLOW_CRASHED;
		r = one(ops, fs, &entry, &way, fn, arg, out, err);
		if (r < 0) {
			return r;
		}
	}
	return r;
}
