/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Successors: what became of an inode that a later run has removed, and perhaps an undo of that run
 * brought back. The file is the same to everybody, but it is another inode now.
 *
 * Nothing is guessed from paths or contents: the record of an undo says which inode each of its
 * files had been, and what it came back as. A file may have gone and come back more than once.
 */
#ifndef CTM_RUN_SUCCESSOR_H
#define CTM_RUN_SUCCESSOR_H

#include <stdbool.h>

#include "base/err.h"
#include "run/journal_header.h"
#include "run/repair.h"

struct ctm_successors;

/**
 * Reads the records of the volume that are newer than this one; such as cannot be read are passed
 * over. What does not fit into memory lies beside the record of that run.
 */
int ctm_successors_read(const struct ctm_run *run, const struct ctm_run_header *older,
			struct ctm_successors **ret, struct ctm_err *err);
void ctm_successors_free(struct ctm_successors *s);
/**
 * What the inode, which is no longer there, came back as: true, and *ret with its path, valid as
 * long as s. Else false, and the run that has removed it, or NULL: none of them has.
 */
bool ctm_successor_find(const struct ctm_successors *s, const struct ctm_ref *was,
			struct ctm_ref *ret, const char **ret_removed_by);

#endif
