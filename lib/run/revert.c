/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entries that take a run back. */
#include "run/revert.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "run/apply_file.h"
#include "run/apply_inode.h"
#include "run/privileged.h"
#include "run/revert_subvol.h"
#include "run/successor.h"

struct reverting {
	const struct ctm_run *run;
	const struct ctm_ops *ops;
	void *fs;
	struct ctm_reader *reader;
	ctm_undo_fn fn;
	void *arg;
	struct ctm_outcome *out;
	struct ctm_arena arena; /* of the entry at hand */
	struct ctm_reverted_subvols subvols;
	struct ctm_successors *successors; /* read when the first inode is missed */
	int fatal;                         /* the error of that */
	char removed_by[64];               /* what became of the entry at hand, "" not known */
};

/* How half done the entry may be found: unless something says that it was finished. */
static enum ctm_allow allowed(const struct reverting *x, uint64_t index)
{
	const struct ctm_run_failure *f = ctm_reader_failure(x->reader, index);

	if (f && f->errnum != 0) {
		return CTM_ALLOW_FAILED;
	}
	return !ctm_reader_end(x->reader, NULL) && !ctm_reader_is_done(x->reader, index) ?
		       CTM_ALLOW_CRASHED :
		       CTM_ALLOW_BEFORE;
}

/*
 * The run saw that somebody else had changed it, and left it: there is nothing to take back. A run
 * that was taken up again may have found it as it was recorded, and then it has changed it.
 */
static bool was_left(const struct reverting *x, uint64_t index)
{
	const struct ctm_run_failure *f = ctm_reader_failure(x->reader, index);

	return f && f->errnum == 0 && !ctm_reader_continued(x->reader);
}

/*
 * The flags that the inode is to have after it was taken back. An interrupted run has lifted them;
 * after one that was not, somebody else did, and they stay so. 1: they have to be set again.
 */
static int settle_attr(struct reverting *x, int h, enum ctm_allow allow, struct ctm_entry *e)
{
	struct ctm_inode inode;
	int r = x->ops->stat(x->fs, h, &inode);

	if (r < 0 || inode.attr == e->attr) {
		return r;
	}
	if (inode.attr != 0) {
		return -ESTALE;
	}
	if (allow == CTM_ALLOW_BEFORE) {
		e->attr = 0;
		return 0;
	}
	return 1;
}

/* The inode, or what it came back as after a later run had removed it. */
static int open_inode(struct reverting *x, struct ctm_ref *ref, int *ret_h, struct ctm_err *err)
{
	const char *removed_by;
	int r = x->ops->open(x->fs, ref, ret_h);

	if (r != -ESTALE) {
		return r;
	}
	if (!x->successors) {
		x->fatal = ctm_successors_read(x->run, ctm_reader_header(x->reader), &x->successors,
					       err);
		if (x->fatal < 0) {
			return x->fatal;
		}
	}
	if (ctm_successor_find(x->successors, ref, ref, &removed_by)) {
		return x->ops->open(x->fs, ref, ret_h);
	}
	if (removed_by) {
		(void)snprintf(x->removed_by, sizeof(x->removed_by), "removed by run %s",
			       removed_by);
	}
	return -ESTALE;
}

/* Whether the content, where it matters, is still that of the record. */
static struct ctm_step look_at_content(struct reverting *x, int h, uint64_t index,
				       struct ctm_entry *e)
{
	const struct ctm_run_ctime *left = ctm_reader_ctime(x->reader, index);

	if (e->content == CTM_CONTENT_CTIME) {
		/* Not marked: whatever the ctime is now, it is not known to be the run's. */
		e->ctime = left ? left->ctime : (struct timespec){ .tv_sec = 0 };
	}
	return ctm_privileged_look(x->ops, x->fs, h, e, &e->before, true);
}

static struct ctm_step revert_open(struct reverting *x, int h, const struct ctm_entry *was,
				   uint64_t index, struct ctm_entry *e)
{
	enum ctm_allow allow = allowed(x, index);
	int lifted = 0;
	int r = x->ops->read(x->fs, h, &x->arena, &e->before);

	if (r == 0 && was->attr) {
		lifted = settle_attr(x, h, allow, e);
		r = lifted < 0 ? lifted : 0;
	}
	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict("changed") : ctm_step_fail(r, "read");
	}
	if (ctm_inode_state_eq(&e->before, &was->before) && !lifted) {
		return (struct ctm_step){ .did = CTM_DID_NOTHING };
	}
	if (!ctm_inode_state_eq(&e->before, &was->after) &&
	    !ctm_inode_halfway(&was->before, &was->after, &e->before, allow)) {
		return ctm_step_conflict("changed");
	}
	e->after = was->before;
	if (ctm_inode_state_eq(&e->before, &e->after)) {
		return (struct ctm_step){ .did = CTM_DID_CHANGE }; /* only flags */
	}
	return look_at_content(x, h, index, e);
}

static struct ctm_step revert_set(struct reverting *x, const struct ctm_entry *was, uint64_t index,
				  struct ctm_entry *ret, struct ctm_err *err)
{
	struct ctm_entry e = *was;
	struct ctm_step step;
	int h;
	int r = open_inode(x, &e.ref, &h, err);

	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict(x->removed_by[0] ? x->removed_by : "gone") :
				      ctm_step_fail(r, "open");
	}
	step = revert_open(x, h, was, index, &e);
	x->ops->close(x->fs, h);
	*ret = e;
	return step;
}

/*
 * The mtime to leave the directory with: the present one, unless the run may not have put it back.
 */
static int settle_parent(struct reverting *x, bool loose, struct ctm_entry *e)
{
	struct ctm_inode inode;
	int h;
	int r;

	if (loose) {
		return 0;
	}
	r = x->ops->open(x->fs, &e->parent, &h);
	if (r < 0) {
		return r;
	}
	r = x->ops->stat(x->fs, h, &inode);
	x->ops->close(x->fs, h);
	if (r == 0) {
		e->parent_mtime = inode.mtime;
	}
	return r;
}

static struct ctm_step revert_file(struct reverting *x, const struct ctm_entry *was, bool loose,
				   struct ctm_entry *ret)
{
	struct ctm_entry e = *was;
	struct ctm_step step;
	int r;

	if (was->kind == CTM_ENTRY_REMOVE) {
		e.kind = CTM_ENTRY_RESTORE;
		e.after = was->before;
		step = ctm_look_for_gap(x->ops, x->fs, &e, loose ? &was->ref : NULL);
	} else {
		e.kind = CTM_ENTRY_REMOVE;
		e.before = was->after;
		step = ctm_look_for_file(x->ops, x->fs, &e);
	}
	if (step.did != CTM_DID_CHANGE) {
		return step;
	}
	r = settle_parent(x, loose, &e);
	if (r < 0) {
		return ctm_step_fail(r, "open");
	}
	*ret = e;
	return step;
}

static bool is_wanted(const struct ctm_run *run, const struct ctm_ref *ref)
{
	for (size_t i = 0; i < run->n_paths; i++) {
		if (ctm_path_within(ref->path, ref->path_len, run->paths[i],
				    strlen(run->paths[i]))) {
			return true;
		}
	}
	return run->n_paths == 0;
}

static int revert_one(struct reverting *x, const struct ctm_entry *was, uint64_t index,
		      struct ctm_err *err)
{
	enum ctm_allow allow = allowed(x, index);
	struct ctm_entry e;
	struct ctm_step step;
	struct ctm_result result = { .path = was->ref.path, .path_len = was->ref.path_len };
	int r;

	if (was_left(x, index) || !is_wanted(x->run, &was->ref)) {
		return 0;
	}
	ctm_arena_done(&x->arena);
	x->removed_by[0] = '\0';
	step = was->kind == CTM_ENTRY_SET ? revert_set(x, was, index, &e, err) :
					    revert_file(x, was, allow != CTM_ALLOW_BEFORE, &e);
	if (x->fatal < 0) {
		return x->fatal;
	}
	switch (step.did) {
	case CTM_DID_CHANGE:
		r = ctm_reverted_subvols_enter(&x->subvols, &e, x->fn, x->arg);
		return r < 0 ? r : x->fn(&e, x->arg);
	case CTM_DID_NOTHING:
		x->out->counts.already++;
		return 0;
	case CTM_DID_CONFLICT:
	case CTM_DID_FAIL:
	default:
		result.kind = step.did == CTM_DID_CONFLICT ? CTM_RESULT_CONFLICT :
							     CTM_RESULT_FAILED;
		result.what = step.what;
		result.err = step.err;
		result.later = x->removed_by[0];
		return ctm_outcome_add(x->out, &result) < 0 ? ctm_err_nomem(err) : 0;
	}
}

/* All entries of one kind, from the first to the last or from the last to the first. */
static int revert_kind(struct reverting *x, enum ctm_entry_kind kind,
		       int (*next)(struct ctm_reader *, struct ctm_entry *, uint64_t *,
				   struct ctm_err *),
		       struct ctm_err *err)
{
	struct ctm_entry was;
	uint64_t index;
	int r;

	if (ctm_reader_count(x->reader, kind) == 0) {
		return 0;
	}
	ctm_reader_rewind(x->reader);
	if (next == ctm_reader_prev) {
		ctm_reader_to_end(x->reader);
	}
	while ((r = next(x->reader, &was, &index, err)) == 1) {
		if (was.kind == kind) {
			r = revert_one(x, &was, index, err);
		}
		if (r < 0) {
			return r;
		}
	}
	return r;
}

int ctm_revert(const struct ctm_run *run, struct ctm_reader *reader, ctm_undo_fn fn, void *arg,
	       struct ctm_outcome *out, struct ctm_err *err)
{
	struct reverting x = {
		.run = run,
		.ops = run->ops,
		.fs = run->fs,
		.reader = reader,
		.fn = fn,
		.arg = arg,
		.out = out,
	};
	int r = ctm_reverted_subvols_read(run->ops, run->fs, reader, &x.subvols, err);

	if (r == 0) {
		r = revert_kind(&x, CTM_ENTRY_RESTORE, ctm_reader_next, err);
	}
	if (r == 0) {
		r = revert_kind(&x, CTM_ENTRY_SET, ctm_reader_prev, err);
	}
	if (r == 0) {
		/* In the order they were saved: so the archive is read once. */
		r = revert_kind(&x, CTM_ENTRY_REMOVE, ctm_reader_next, err);
	}
	if (r == 0) {
		r = ctm_reverted_subvols_leave(&x.subvols, fn, arg);
	}
	ctm_reverted_subvols_done(&x.subvols);
	ctm_successors_free(x.successors);
	ctm_arena_done(&x.arena);
	return r;
}
