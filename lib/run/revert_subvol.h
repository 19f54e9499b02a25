/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What taking a run back does with the read-only subvolumes that the run has made writable: the
 * same again around its own entries, but only for those in which it changes something, or which the
 * run has left writable.
 */
#ifndef CTM_RUN_REVERT_SUBVOL_H
#define CTM_RUN_REVERT_SUBVOL_H

#include "base/vec.h"
#include "run/journal.h"
#include "run/revert.h"

struct ctm_reverted_subvol {
	struct ctm_entry entry; /* WRITABLE; owns its path */
	bool readonly;          /* now */
	bool ours;              /* read-only when all is over: it is now, or the run has no end */
	bool entered;           /* its entry was given out */
};

/* Zero-initialise. */
struct ctm_reverted_subvols {
	CTM_VEC(struct ctm_reverted_subvol) v;
};

/** Reads them from the record, and how they are now. Moves the reader. */
int ctm_reverted_subvols_read(const struct ctm_ops *ops, void *fs, struct ctm_reader *reader,
			      struct ctm_reverted_subvols *subvols, struct ctm_err *err);
void ctm_reverted_subvols_done(struct ctm_reverted_subvols *subvols);
/** Gives fn the WRITABLE entry that the change of e needs, once. What fn returns. */
int ctm_reverted_subvols_enter(struct ctm_reverted_subvols *subvols, const struct ctm_entry *e,
			       ctm_undo_fn fn, void *arg);
/** Gives fn the READONLY entries that end it. */
int ctm_reverted_subvols_leave(struct ctm_reverted_subvols *subvols, ctm_undo_fn fn, void *arg);

#endif
