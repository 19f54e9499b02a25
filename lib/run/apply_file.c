/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that go and files that come back. */
#include "run/apply_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "run/content.h"

/* A name in an open directory, and what stands there. */
struct place {
	int dir; /* -1: not open */
	int h;   /* -1: nothing stands there */
	char name[NAME_MAX + 1];
};

static void leave(const struct ctm_ops *ops, void *fs, const struct place *p)
{
	if (p->h >= 0) {
		ops->close(fs, p->h);
	}
	if (p->dir >= 0) {
		ops->close(fs, p->dir);
	}
}

static struct ctm_step go(const struct ctm_ops *ops, void *fs, const struct ctm_entry *e,
			  struct place *p)
{
	size_t skip = e->parent.path_len > 0 ? e->parent.path_len + 1 : 0;
	size_t len = e->ref.path_len - skip;
	int r;

	*p = (struct place){ .dir = -1, .h = -1 };
	if (len >= sizeof(p->name)) {
		return ctm_step_fail(-ENAMETOOLONG, "open");
	}
	memcpy(p->name, e->ref.path + skip, len);
	r = ops->open(fs, &e->parent, &p->dir);
	if (r < 0) {
		p->dir = -1;
		return r == -ESTALE ? ctm_step_conflict("gone") : ctm_step_fail(r, "open");
	}
	r = ops->open_at(fs, p->dir, p->name, &p->h);
	if (r < 0) {
		p->h = -1;
	}
	return r < 0 && r != -ENOENT ? ctm_step_fail(r, "open") :
				       (struct ctm_step){ .did = CTM_DID_CHANGE };
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Whether the open file is the recorded one in all but its content. */
static struct ctm_step compare(const struct ctm_ops *ops, void *fs, int h,
			       const struct ctm_entry *e, const struct ctm_inode_state *state,
			       struct ctm_inode *ret)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode_state now;
	int r = ops->stat(fs, h, ret);

	if (r == 0) {
		r = ops->read(fs, h, &arena, &now);
	}
	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	if (!S_ISREG(ret->mode) || ret->nlink != 1 || ret->size != e->size ||
	    !same_time(ret->mtime, e->mtime) || !ctm_inode_state_eq(&now, state)) {
		return ctm_step_conflict("changed");
	}
	return (struct ctm_step){ .did = CTM_DID_CHANGE };
}

static struct ctm_step remove_found(const struct ctm_ops *ops, void *fs, const struct place *p,
				    const struct ctm_entry *e)
{
	struct ctm_inode inode;
	struct ctm_step step = compare(ops, fs, p->h, e, &e->before, &inode);
	int r;

	if (step.did != CTM_DID_CHANGE) {
		return step;
	}
	if (inode.ino != e->ref.ino) {
		return ctm_step_conflict("changed");
	}
	r = ops->unlink(fs, p->dir, p->name, inode.dev, inode.ino);
	if (r < 0) {
		step = ctm_step_fail(r, "remove");
		step.dev = inode.dev;
	}
	return step;
}

struct ctm_step ctm_apply_remove(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry,
				 bool again)
{
	struct place p;
	struct ctm_step step = go(ops, fs, entry, &p);

	if (step.did == CTM_DID_CHANGE && p.h >= 0) {
		step = remove_found(ops, fs, &p, entry);
	} else if (step.did == CTM_DID_CHANGE) {
		step = again ? (struct ctm_step){ .did = CTM_DID_NOTHING } :
			       ctm_step_conflict("gone");
	}
	leave(ops, fs, &p);
	return step;
}

/* Something stands where the file should come back: a file that came back before the crash? */
static struct ctm_step already_back(const struct ctm_ops *ops, void *fs, const struct place *p,
				    const struct ctm_entry *e)
{
	struct ctm_inode inode;
	struct ctm_ref ref = { .path = e->ref.path, .path_len = e->ref.path_len };
	struct ctm_step step = compare(ops, fs, p->h, e, &e->after, &inode);
	uint8_t sha256[32];
	int r;

	if (step.did != CTM_DID_CHANGE) {
		return step;
	}
	ref.ino = inode.ino;
	r = ctm_content_hash(ops, fs, &ref, e->size, sha256);
	if (r == -EFBIG || r == -ESTALE) {
		return ctm_step_conflict("changed");
	}
	if (r < 0) {
		return ctm_step_fail(r, "read");
	}
	return memcmp(sha256, e->sha256, sizeof(sha256)) == 0 ?
		       (struct ctm_step){ .did = CTM_DID_NOTHING } :
		       ctm_step_conflict("changed");
}

static struct ctm_step bring_back(const struct ctm_ops *ops, void *fs, const struct place *p,
				  const struct ctm_entry *e, struct ctm_archive_reader *saved)
{
	struct ctm_saved file;
	int r = ctm_archive_find(saved, e, &file, NULL);

	if (r == 0) {
		r = ops->restore(fs, p->dir, p->name, &file);
	}
	return r < 0 ? ctm_step_fail(r, "restore") : (struct ctm_step){ .did = CTM_DID_CHANGE };
}

/* What has the file's name now: as it has just come back, or was found to have. */
static void identify(const struct ctm_ops *ops, void *fs, struct place *p, struct ctm_ref *ret)
{
	struct ctm_ref now = { .ino = 0 };
	struct ctm_inode inode;

	if (p->h < 0 && ops->open_at(fs, p->dir, p->name, &p->h) < 0) {
		p->h = -1;
		return;
	}
	if (ops->stat(fs, p->h, &inode) == 0 && ops->handle(fs, p->h, &now.handle) == 0) {
		now.dev = inode.dev;
		now.ino = inode.ino;
		*ret = now;
	}
}

struct ctm_step ctm_apply_restore(const struct ctm_ops *ops, void *fs,
				  const struct ctm_entry *entry, struct ctm_archive_reader *saved,
				  bool again, struct ctm_ref *ret_now)
{
	struct place p;
	struct ctm_step step = go(ops, fs, entry, &p);

	*ret_now = (struct ctm_ref){ .ino = 0 };
	if (step.did == CTM_DID_CHANGE && p.h < 0) {
		step = bring_back(ops, fs, &p, entry, saved);
	} else if (step.did == CTM_DID_CHANGE) {
		step = again ? already_back(ops, fs, &p, entry) : ctm_step_conflict("in the way");
	}
	if (step.did == CTM_DID_CHANGE || step.did == CTM_DID_NOTHING) {
		identify(ops, fs, &p, ret_now);
	}
	leave(ops, fs, &p);
	return step;
}

struct ctm_step ctm_look_for_gap(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry,
				 const struct ctm_ref *not_gone)
{
	struct place p;
	struct ctm_inode inode;
	struct ctm_step step = go(ops, fs, entry, &p);

	if (step.did == CTM_DID_CHANGE && p.h >= 0) {
		if (not_gone && ops->stat(fs, p.h, &inode) == 0 && inode.ino == not_gone->ino) {
			step.did = CTM_DID_NOTHING;
		} else {
			step = already_back(ops, fs, &p, entry);
			if (step.did == CTM_DID_CONFLICT) {
				step.what = "in the way";
			}
		}
	}
	leave(ops, fs, &p);
	return step;
}

struct ctm_step ctm_look_for_file(const struct ctm_ops *ops, void *fs, struct ctm_entry *entry)
{
	struct place p;
	struct ctm_inode inode;
	struct ctm_step step = go(ops, fs, entry, &p);

	if (step.did == CTM_DID_CHANGE && p.h < 0) {
		step.did = CTM_DID_NOTHING;
	} else if (step.did == CTM_DID_CHANGE) {
		step = compare(ops, fs, p.h, entry, &entry->before, &inode);
	}
	if (step.did == CTM_DID_CHANGE) {
		int r = ops->handle(fs, p.h, &entry->ref.handle);

		entry->ref.dev = inode.dev;
		entry->ref.ino = inode.ino;
		if (r < 0) {
			step = ctm_step_fail(r, "read");
		}
	}
	leave(ops, fs, &p);
	return step;
}

/* --- directories --- */

int ctm_parents_add(struct ctm_parents *parents, const struct ctm_entry *entry)
{
	struct ctm_entry copy = *entry;
	char *path;

	for (size_t i = parents->v.n; i-- > 0;) {
		const struct ctm_ref *p = &parents->v.v[i].parent;

		if (p->ino == entry->parent.ino && p->path_len == entry->parent.path_len &&
		    memcmp(p->path, entry->parent.path, p->path_len) == 0) {
			return 0;
		}
	}
	path = strndup(entry->parent.path, entry->parent.path_len);
	if (!path) {
		return -ENOMEM;
	}
	copy.parent.path = path;
	if (ctm_vec_push(&parents->v, &copy) < 0) {
		free(path);
		return -ENOMEM;
	}
	return 0;
}

void ctm_parents_done(struct ctm_parents *parents)
{
	for (size_t i = 0; i < parents->v.n; i++) {
		free((char *)(uintptr_t)parents->v.v[i].parent.path);
	}
	ctm_vec_done(&parents->v);
}

struct ctm_step ctm_parent_mtime(const struct ctm_ops *ops, void *fs, const struct ctm_entry *e)
{
	struct ctm_step step = { .did = CTM_DID_NOTHING };
	struct ctm_inode inode = { 0 };
	int h;
	int r = ops->open(fs, &e->parent, &h);

	if (r < 0) {
		return r == -ESTALE ? ctm_step_conflict("gone") : ctm_step_fail(r, "open");
	}
	r = ops->stat(fs, h, &inode);
	if (r == 0 && !same_time(inode.mtime, e->parent_mtime)) {
		step.did = CTM_DID_CHANGE;
		r = ops->set_mtime(fs, h, e->parent_mtime);
	}
	ops->close(fs, h);
	if (r < 0) {
		step = ctm_step_fail(r, "mtime");
		step.dev = inode.dev;
	}
	return step;
}
