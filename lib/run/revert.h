/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The entries that take a run back, from its record and from what stands on the volume now.
 */
#ifndef CTM_RUN_REVERT_H
#define CTM_RUN_REVERT_H

#include "run/outcome.h"
#include "run/undo.h"

/**
 * Hands fn one entry for each of the record that can be taken back: first files that go again, then
 * inodes, newest first, then files that come back. Their before is what stands there now. What is
 * as before already, or what the run itself left alone, is passed over; what is neither is a
 * conflict in out. Of a run that was interrupted, or in an entry that failed, a half-done inode is
 * taken back too. run->paths: entries elsewhere are passed over; an inode with several names is
 * where its entry has it.
 */
int ctm_revert(const struct ctm_run *run, struct ctm_reader *reader, ctm_undo_fn fn, void *arg,
	       struct ctm_outcome *out, struct ctm_err *err);

#endif
