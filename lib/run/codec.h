/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entries of a record as bytes, each coded against the one before it: a changed inode costs some
 * forty bytes.
 *
 * Entries 0, 128, 256 ... are coded as if nothing came before, so that a reader can start there
 * and go backwards a block at a time. "Before" means the entry before in the same block; before
 * the first, path and handle are empty, all numbers 0, the cause is "". Numbers and strings are
 * those of run/wire.h.
 *
 *	flags     sum of what follows deviating: 1 owners, 2 mode, 4 mode after, 8 device, 16 links,
 *	          32 cause, 64 handle's form, 128 inode flags, 256 attributes, 512 content
 *	path      length of what it has in common with the path before, string of the rest
 *	device    [8] st_dev
 *	inode     signed difference to the one before
 *	handle    [64] signed type, length; then always a bit for each of its bytes that differs
 *	          from the one before (in bytes, least significant bit first), then these bytes
 *	owners    [1] uid and gid before, uid and gid after; else those of the entry before
 *	mode      [2] st_mode; else that of the entry before
 *	after     [4] st_mode after; else as mode
 *	links     [16] nlink, names met; else 1 and 1
 *	cause     [32] string, "own.host"; else that of the entry before
 *	flags     [128] CTM_ATTR_* that are lifted for the change and set again; else 0
 *	attrs     [256] for access ACL, default ACL and capability three bits of a number, least
 *	          significant first: 1 there was one, 2 there will be one, 4 it is the same; then
 *	          the values (before, then after unless same) as strings; else there are none
 *
 *	content   [512] of an S alone: a number, 1 or 2, and the size; then 1: sha256[32] of it;
 *	          2: the ctime of the inode before
 *
 * W and O are coded like an S whose states are both empty. R and T have one state: owners and mode
 * after are the same as before. They go on with
 *
 *	size, sha256[32], mtime, string with the rule's id, and of the directory: device, inode,
 *	signed handle type, string with the handle, mtime
 */
#ifndef CTM_RUN_CODEC_H
#define CTM_RUN_CODEC_H

#include "base/arena.h"
#include "base/bytes.h"
#include "run/entry.h"

#define CTM_CODEC_BLOCK 128

/** What is remembered from entry to entry. Zero-initialise; ctm_codec_done() frees. */
struct ctm_codec {
	struct ctm_buf path;
	struct ctm_buf cause;
	struct ctm_handle handle;
	uint64_t dev;
	uint64_t ino;
	uint32_t ids[4];
	uint32_t mode;
};

void ctm_codec_done(struct ctm_codec *c);
/** Forgets; to be called before every first entry of a block. */
void ctm_codec_reset(struct ctm_codec *c);
/**
 * Appends the body of the entry's record. -ENOMEM; -EINVAL for an entry that no record can hold.
 */
int ctm_codec_put(struct ctm_codec *c, const struct ctm_entry *e, struct ctm_buf *ret);
/**
 * Reads a body. The path lies in the codec until its next use, values in the arena. -EBADMSG: it
 * is no such body, or has a path that no entry of a tree can have; -ENOMEM.
 */
int ctm_codec_get(struct ctm_codec *c, enum ctm_entry_kind kind, struct ctm_bytes body,
		  struct ctm_arena *arena, struct ctm_entry *ret);

#endif
