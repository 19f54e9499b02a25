/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Privileged files: no bits and no capability for a content that is not the recorded one. */
#include "run/privileged.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "run/content.h"

bool ctm_privileged(const struct ctm_inode_state *state)
{
	return S_ISREG(state->mode) && ((state->mode & (S_ISUID | S_ISGID)) || state->caps.p);
}

bool ctm_privileged_strict(const struct ctm_run_header *header)
{
	return header->kind == CTM_RUN_UNDO || header->from[0] != '\0';
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static int record_open(const struct ctm_ops *ops, void *fs, int h, struct ctm_entry *e,
		       uint64_t *left)
{
	CLEANUP_CLOSE int fd = -1;
	struct ctm_inode inode;
	int r = ops->stat(fs, h, &inode);

	if (r < 0) {
		return r;
	}
	e->size = inode.size;
	e->ctime = inode.ctime;
	e->content = CTM_CONTENT_CTIME;
	if (inode.size > CTM_PRIVILEGED_FILE_MAX || inode.size > *left) {
		return 0;
	}
	r = ops->readable(fs, h, &fd);
	if (r == 0) {
		r = ctm_content_read(fd, inode.size, NULL, NULL, e->sha256);
	}
	if (r == -EFBIG || r == -ENOMEM) {
		return r == -EFBIG ? -ESTALE : r;
	}
	if (r < 0) {
		return 0; /* encrypted, say, and the key is not here: its owner can be put right */
	}
	*left -= inode.size;
	e->content = CTM_CONTENT_SHA256;
	e->ctime = (struct timespec){ .tv_sec = 0 };
	return 0;
}

int ctm_privileged_record(const struct ctm_ops *ops, void *fs, struct ctm_entry *entry,
			  uint64_t *left)
{
	int h;
	int r;

	if (entry->kind != CTM_ENTRY_SET ||
	    (!ctm_privileged(&entry->before) && !ctm_privileged(&entry->after))) {
		return 0;
	}
	r = ops->open(fs, &entry->ref, &h);
	if (r == 0) {
		r = record_open(ops, fs, h, entry, left);
		ops->close(fs, h);
	}
	return r;
}

/* 0: it is as recorded, -ESTALE: it is not. */
static int compare_hash(const struct ctm_entry *e, int fd)
{
	uint8_t sha256[32];
	int r = ctm_content_read(fd, e->size, NULL, NULL, sha256);

	if (r < 0) {
		return r == -EFBIG ? -ESTALE : r;
	}
	return memcmp(sha256, e->sha256, sizeof(sha256)) == 0 ? 0 : -ESTALE;
}

/*
 * Where a file system keeps whole seconds, a write in the same second would not show; a fraction of
 * exactly nothing is not worth a distinction.
 */
static int compare_ctime(const struct ctm_entry *e, const struct ctm_inode *inode,
			 const struct ctm_inode_state *now, bool strict)
{
	if (!ctm_inode_state_eq(now, &e->before)) {
		return strict ? -ESTALE : 0;
	}
	return same_time(inode->ctime, e->ctime) && (!strict || e->ctime.tv_nsec != 0) ? 0 :
											 -ESTALE;
}

static int compare(const struct ctm_ops *ops, void *fs, int h, const struct ctm_entry *e,
		   const struct ctm_inode_state *now, bool strict, int fd)
{
	struct ctm_inode inode;
	int r = ops->stat(fs, h, &inode);

	if (r < 0) {
		return r;
	}
	if (e->content == CTM_CONTENT_NONE || inode.size != e->size) {
		return -ESTALE;
	}
	return e->content == CTM_CONTENT_SHA256 ? compare_hash(e, fd) :
						  compare_ctime(e, &inode, now, strict);
}

static struct ctm_step step_of(int r)
{
	if (r == -ESTALE || r == -EMEDIUMTYPE) {
		return ctm_step_conflict("changed");
	}
	return r < 0 ? ctm_step_fail(r, r == -ETXTBSY ? "check for writers" : "read") :
		       (struct ctm_step){ .did = CTM_DID_CHANGE };
}

/* What is known by its ctime need not be readable: then *ret is -1. */
static int open_content(const struct ctm_ops *ops, void *fs, int h, const struct ctm_entry *entry,
			int *ret)
{
	int r = ops->readable(fs, h, ret);

	if (r < 0) {
		*ret = -1;
	}
	return entry->content == CTM_CONTENT_CTIME && r != -ENOMEM ? 0 : r;
}

/* Keeps writers out, if that can be. */
static int hold(struct ctm_proof *p)
{
	int r = p->ops->keep_out(p->fs, p->fd);

	p->held = r == 0;
	return r == -EOPNOTSUPP ? 0 : r;
}

struct ctm_step ctm_proof_begin(const struct ctm_ops *ops, void *fs, int h,
				const struct ctm_entry *entry, const struct ctm_inode_state *now,
				bool strict, struct ctm_proof *ret)
{
	struct ctm_proof p = { .ops = ops, .fs = fs, .entry = entry, .fd = -1 };
	bool unheld;
	int r;

	*ret = p;
	if (!ctm_privileged(&entry->before) && !ctm_privileged(&entry->after)) {
		return step_of(0);
	}
	r = open_content(ops, fs, h, entry, &p.fd);
	if (r == 0 && p.fd >= 0) {
		r = hold(&p);
	}
	if (r == 0) {
		r = compare(ops, fs, h, entry, now, strict, p.fd);
	}
	unheld = r == 0 && strict && !p.held && ctm_privileged(&entry->after);
	r = unheld ? -EOPNOTSUPP : r;
	p.lost = r < 0;
	p.known = r == 0 &&
		  (entry->content == CTM_CONTENT_SHA256 || ctm_inode_state_eq(now, &entry->before));
	*ret = p;
	return unheld ? ctm_step_fail(r, "keep writers out") :
			step_of(ctm_privileged(&entry->after) ? r : 0);
}

int ctm_proof_holds(struct ctm_proof *proof, const struct ctm_inode_state *state)
{
	int r = 0;

	if (!proof || !ctm_privileged(state)) {
		return 0;
	}
	if (proof->lost) {
		return -ETXTBSY;
	}
	if (proof->held) {
		r = proof->ops->kept_out(proof->fs, proof->fd);
	} else if (proof->entry->content == CTM_CONTENT_SHA256) {
		r = compare_hash(proof->entry, proof->fd);
	}
	proof->lost = r < 0;
	return r == -ESTALE ? -ETXTBSY : r;
}

void ctm_proof_done(struct ctm_proof *proof)
{
	ctm_closep(&proof->fd);
}

struct ctm_step ctm_privileged_look(const struct ctm_ops *ops, void *fs, int h,
				    const struct ctm_entry *entry,
				    const struct ctm_inode_state *now, bool strict)
{
	CLEANUP_CLOSE int fd = -1;
	int r;

	if (!ctm_privileged(&entry->after)) {
		return step_of(0);
	}
	r = open_content(ops, fs, h, entry, &fd);
	return step_of(r < 0 ? r : compare(ops, fs, h, entry, now, strict, fd));
}
