/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a diff of inodes, whatever it is of: a plan, a record, an undo that is not made yet.
 */
#ifndef CTM_REPORT_DIFFLINES_H
#define CTM_REPORT_DIFFLINES_H

#include <stdbool.h>
#include <stdio.h>

#include "run/entry.h"

/** Buffers its line, so that a failed allocation leaves no half line behind. */
struct ctm_difflines {
	FILE *out;
	bool color;
	struct ctm_buf line; /* free with ctm_buf_done() */
};

enum ctm_diff_part {
	CTM_DIFF_NOTE, /* what is no line of a diff: patch(1) and grep pass it over */
	CTM_DIFF_HEAD,
	CTM_DIFF_HUNK,
	CTM_DIFF_MINUS,
	CTM_DIFF_PLUS,
};

/** Prints what stands in .line, and empties it. */
void ctm_diff_line(struct ctm_difflines *d, enum ctm_diff_part part);
/**
 * One inode as it was, '-', or is to be, '+'. attr: CTM_ATTR_* that are lifted for the change and
 * set again, " flags=ia". rdev: of a device, 0 where it is not known. -ENOMEM.
 */
int ctm_diff_inode(struct ctm_difflines *d, char sign, const char *path, size_t path_len,
		   const struct ctm_inode_state *state, uint32_t attr, uint64_t rdev);
/** "note: read-only subvolume /srv: what". -ENOMEM. */
int ctm_diff_subvol(struct ctm_difflines *d, const char *path, size_t path_len, const char *what);
/** Both sides of an entry, as far as it has them; of a subvolume's a note. -ENOMEM. */
int ctm_diff_entry(struct ctm_difflines *d, const struct ctm_entry *entry);

#endif
