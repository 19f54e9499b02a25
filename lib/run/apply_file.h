/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that go and files that come back, and the mtimes of the directories they were in.
 */
#ifndef CTM_RUN_APPLY_FILE_H
#define CTM_RUN_APPLY_FILE_H

#include <stdbool.h>

#include "base/vec.h"
#include "run/apply_inode.h"
#include "run/archive.h"

/**
 * Removes the file of a REMOVE entry, if it still is that file in that state. again: the run was
 * interrupted, so that it may be gone already.
 */
struct ctm_step ctm_apply_remove(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry,
				 bool again);
/**
 * Brings the file of a RESTORE entry back; where something has its name now is a conflict. ret_now:
 * what the file, when it is back, is found by from now on (without a path); ino 0: not to be had.
 */
struct ctm_step ctm_apply_restore(const struct ctm_ops *ops, void *fs,
				  const struct ctm_entry *entry, struct ctm_archive_reader *saved,
				  bool again, struct ctm_ref *ret_now);

/**
 * Nothing changes. Whether a RESTORE entry's name is free (CTM_DID_CHANGE), or the very file stands
 * there again, content included (CTM_DID_NOTHING); not_gone (NULL: not asked): the inode that
 * should have gone, and may not have: CTM_DID_NOTHING too.
 */
struct ctm_step ctm_look_for_gap(const struct ctm_ops *ops, void *fs, const struct ctm_entry *entry,
				 const struct ctm_ref *not_gone);
/**
 * Nothing changes. Whether the file of a REMOVE entry made from a RESTORE is there
 * (CTM_DID_CHANGE: ref is filled with what identifies it), or is gone (CTM_DID_NOTHING). Its
 * content is not looked at.
 */
struct ctm_step ctm_look_for_file(const struct ctm_ops *ops, void *fs, struct ctm_entry *entry);

/** Directories whose mtime is to be put back. Zero-initialise. */
struct ctm_parents {
	CTM_VEC(struct ctm_entry) v; /* path copied */
};
/** Remembers the entry's directory, once. -ENOMEM. */
int ctm_parents_add(struct ctm_parents *parents, const struct ctm_entry *entry);
/** Puts the mtime of one of them back. */
struct ctm_step ctm_parent_mtime(const struct ctm_ops *ops, void *fs, const struct ctm_entry *e);
/** Forgets all. */
void ctm_parents_done(struct ctm_parents *parents);

#endif
