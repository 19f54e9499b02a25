/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an unfinished run still has to do, without doing it.
 */
#ifndef CTM_RUN_REST_H
#define CTM_RUN_REST_H

#include "run/outcome.h"
#include "run/undo.h"

/**
 * Hands fn each entry of the record that ctm_repair_resume() would change something for, in its
 * order: .before is what stands there now, and .ref has its device and inode number (RESTORE:
 * those of what was removed).
 * As there the disk is believed, and of the marks those that were synced. What is neither before,
 * after nor on its way is a conflict in out.
 */
int ctm_run_rest(const struct ctm_ops *ops, void *fs, struct ctm_reader *reader, ctm_undo_fn fn,
		 void *arg, struct ctm_outcome *out, struct ctm_err *err);

#endif
