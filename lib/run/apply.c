/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apply: brings a volume from the before to the after of every entry of a sealed record. */
#include "run/apply.h"

#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "run/apply_file.h"
#include "run/apply_inode.h"
#include "run/apply_subvol.h"
#include "run/archive.h"
#include "run/privileged.h"

#define MARK_EVERY     16384 /* entries between two syncs of the volume */
#define PROGRESS_EVERY 256

struct applying {
	const struct ctm_apply *a;
	struct ctm_outcome *out;
	struct ctm_archive_reader *saved; /* opened when the first file comes back */
	struct ctm_parents parents;
	bool strict;                          /* ctm_privileged_strict() */
	CTM_VEC(struct ctm_run_ctime) ctimes; /* to be marked */
	uint64_t marked;                      /* entries up to here are marked, or were before */
	uint64_t at;
	/*
	 * Something is neither as it was nor as it should be, and the record alone tells. Then
	 * nothing is marked any more and the run has no end, so that the next one goes over it.
	 */
	bool unfinished;
	struct ctm_err record; /* the record could not be written: said at the end */
};

/*
 * A record that cannot be continued is no reason to stop half way: what was sealed is enough to go
 * on from.
 */
static void note(struct applying *x, int r, const struct ctm_err *err)
{
	if (r < 0 && x->record.code == CTM_OK) {
		x->record = *err;
	}
	x->unfinished |= r < 0;
}

static int count(struct applying *x, uint64_t index, const char *path, size_t path_len,
		 const struct ctm_step *step, struct ctm_err *err)
{
	const struct ctm_result result = {
		.kind = step->did == CTM_DID_CONFLICT ? CTM_RESULT_CONFLICT : CTM_RESULT_FAILED,
		.path = path,
		.path_len = path_len,
		.what = step->what,
		.err = step->err,
		.dev = step->dev,
	};
	struct ctm_err record = { 0 };
	int r;

	switch (step->did) {
	case CTM_DID_CHANGE:
		x->out->counts.done++;
		return 0;
	case CTM_DID_NOTHING:
		x->out->counts.already++;
		return 0;
	case CTM_DID_CONFLICT:
	case CTM_DID_FAIL:
	default:
		r = ctm_journal_failed(x->a->journal, index, step->err, step->what, &record);
		if (r == 0 && step->half) {
			x->unfinished = true;
			r = ctm_journal_sync(x->a->journal, &record);
		}
		note(x, r, &record);
		return ctm_outcome_add(x->out, &result) < 0 ? ctm_err_nomem(err) : 0;
	}
}

/* All that went from, or came into, these directories has: their mtimes go back. */
static int put_mtimes_back(struct applying *x, struct ctm_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < x->parents.v.n; i++) {
		const struct ctm_entry *e = &x->parents.v.v[i];
		struct ctm_step step = ctm_parent_mtime(x->a->ops, x->a->fs, e);
		const struct ctm_result result = {
			.kind = CTM_RESULT_FAILED,
			.path = e->parent.path,
			.path_len = e->parent.path_len,
			.what = "mtime",
			.err = step.err,
			.dev = step.dev,
		};

		if (step.did == CTM_DID_FAIL) {
			x->unfinished = true;
			r = ctm_outcome_add(x->out, &result) < 0 ? ctm_err_nomem(err) : 0;
		}
	}
	ctm_parents_done(&x->parents);
	return r;
}

/* Of a synced volume. Each is of one inode, so that they do not depend on how all the rest went. */
static int mark_ctimes(struct applying *x, struct ctm_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < x->ctimes.n; i++) {
		r = ctm_journal_ctime(x->a->journal, &x->ctimes.v[i], err);
	}
	x->ctimes.n = 0;
	/* these, and what files came back as; a done mark would sync as well */
	return r == 0 && x->unfinished ? ctm_journal_sync(x->a->journal, err) : r;
}

/* The volume first, then the mark: it counts only because what it tells of is on the disk. */
static int mark(struct applying *x, struct ctm_err *err)
{
	struct ctm_err record = { 0 };
	int r = put_mtimes_back(x, err);

	if (r < 0) {
		return r;
	}
	if (x->at == x->marked) {
		return 0;
	}
	r = x->a->ops->sync(x->a->fs);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "sync the volume");
	}
	note(x, mark_ctimes(x, &record), &record);
	if (!x->unfinished) {
		note(x, ctm_journal_done(x->a->journal, x->marked, x->at - x->marked, &record),
		     &record);
	}
	x->marked = x->at;
	return 0;
}

static int open_saved(struct applying *x, struct ctm_err *err)
{
	int r = ctm_archive_verify(x->a->run_dir, CTM_ARCHIVE_RESTORE,
				   ctm_reader_seal(x->a->reader)->restore_sha256, err);

	return r < 0 ? r : ctm_archive_open(x->a->run_dir, CTM_ARCHIVE_RESTORE, &x->saved, err);
}

/* A later undo of an earlier run finds the inode by this. Without it that is left, and says so. */
static void note_came_back(struct applying *x, uint64_t index, const struct ctm_ref *now)
{
	struct ctm_run_came_back mark = {
		.entry = index, .dev = now->dev, .ino = now->ino, .handle = now->handle
	};
	struct ctm_err record = { 0 };

	if (now->ino != 0) {
		note(x, ctm_journal_came_back(x->a->journal, &mark, &record), &record);
	}
}

static int note_ctime(struct applying *x, uint64_t index, const struct ctm_step *step,
		      struct ctm_err *err)
{
	const struct ctm_run_ctime mark = { .entry = index, .ctime = step->ctime };

	if (step->ctime.tv_sec == 0 && step->ctime.tv_nsec == 0) {
		return 0;
	}
	return ctm_vec_push(&x->ctimes, &mark) < 0 ? ctm_err_nomem(err) : 0;
}

static enum ctm_allow allowed(const struct ctm_apply *a, uint64_t index)
{
	const struct ctm_run_failure *f = ctm_reader_failure(a->reader, index);

	if (!a->resume) {
		return CTM_ALLOW_BEFORE;
	}
	return f && f->errnum != 0 ? CTM_ALLOW_FAILED : CTM_ALLOW_CRASHED;
}

static int one(struct applying *x, const struct ctm_entry *e, uint64_t index, struct ctm_err *err)
{
	const struct ctm_apply *a = x->a;
	struct ctm_ref back = { .ino = 0 };
	struct ctm_step step;
	int r = 0;

	if (!ctm_entry_is_file(e->kind) && x->parents.v.n > 0) {
		r = put_mtimes_back(x, err);
	} else if (ctm_entry_is_file(e->kind) && ctm_parents_add(&x->parents, e) < 0) {
		r = ctm_err_nomem(err);
	}
	if (r == 0 && e->kind == CTM_ENTRY_RESTORE && !x->saved) {
		r = open_saved(x, err);
	}
	if (r < 0) {
		return r;
	}
	switch (e->kind) {
	case CTM_ENTRY_REMOVE:
		step = ctm_apply_remove(a->ops, a->fs, e, a->resume);
		break;
	case CTM_ENTRY_RESTORE:
		step = ctm_apply_restore(a->ops, a->fs, e, x->saved, a->resume, &back);
		note_came_back(x, index, &back);
		break;
	case CTM_ENTRY_WRITABLE:
	case CTM_ENTRY_READONLY:
		step = ctm_apply_subvol(a->ops, a->fs, e);
		if (step.did == CTM_DID_CHANGE || step.did == CTM_DID_NOTHING) {
			return 0; /* nothing that was asked for, only the way to it */
		}
		break;
	case CTM_ENTRY_SET:
	default:
		step = ctm_apply_inode(a->ops, a->fs, e, allowed(a, index), x->strict);
		r = note_ctime(x, index, &step, err);
		break;
	}
	return r < 0 ? r : count(x, index, e->ref.path, e->ref.path_len, &step, err);
}

/*
 * A marked entry of a run that goes on: it is on the disk, or its failure was told then. What an
 * entry in a subvolume needs, it needs again.
 */
static bool is_settled(const struct ctm_apply *a, const struct ctm_entry *e, uint64_t index)
{
	return a->resume && !ctm_entry_is_subvol(e->kind) && ctm_reader_is_done(a->reader, index) &&
	       !ctm_reader_failure(a->reader, index);
}

static int all(struct applying *x, struct ctm_err *err)
{
	const struct ctm_apply *a = x->a;
	uint64_t total = ctm_reader_seal(a->reader)->entries;
	struct ctm_entry e;
	uint64_t index;
	int r;

	ctm_reader_rewind(a->reader);
	while ((r = ctm_reader_next(a->reader, &e, &index, err)) == 1) {
		if (a->stop && a->stop->asked) {
			x->out->stopped = true;
			r = 0;
			break;
		}
		if (is_settled(a, &e, index)) {
			x->out->counts.done++;
		} else {
			r = one(x, &e, index, err);
		}
		x->at = index + 1;
		if (r >= 0 && x->at - x->marked >= MARK_EVERY) {
			r = mark(x, err);
		}
		if (r < 0) {
			return r;
		}
		if (a->progress && (x->at % PROGRESS_EVERY == 0 || x->at == total)) {
			a->progress(x->at, total, a->progress_arg);
		}
	}
	return r < 0 ? r : mark(x, err);
}

int ctm_apply_run(const struct ctm_apply *a, struct ctm_outcome *out, struct ctm_err *err)
{
	struct applying x = {
		.a = a,
		.out = out,
		.strict = ctm_privileged_strict(ctm_reader_header(a->reader)),
	};
	struct ctm_err record = { 0 };
	int r;

	if (a->stop) {
		a->stop->applying = 1;
	}
	r = all(&x, err);
	if (a->stop) {
		a->stop->applying = 0;
	}
	ctm_parents_done(&x.parents);
	ctm_vec_done(&x.ctimes);
	ctm_archive_reader_free(x.saved);
	if (r < 0) {
		return r;
	}
	out->unfinished = x.unfinished || out->stopped;
	if (!out->unfinished) {
		note(&x, ctm_journal_end(a->journal, &out->counts, time(NULL), &record), &record);
	}
	if (x.record.code != CTM_OK) {
		if (err) {
			*err = x.record;
		}
		return ctm_err_wrap(err, "all was done, but the record has no end");
	}
	return 0;
}
