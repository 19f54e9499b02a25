/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which map a tree looks like, from a histogram of its ids alone. A hint for people, never a
 * basis for a change.
 */
#ifndef CTM_PLAN_GUESS_H
#define CTM_PLAN_GUESS_H

#include "base/bytes.h"
#include "scan/scan.h"

/**
 * The range of 65536 disk ids that begins at the most frequent id (the container's root owns most
 * of a root file system) or, where that id is below 65536, at 0. Returns the inodes in it, 0 for
 * an empty histogram.
 */
uint64_t ctm_guess_base(const struct ctm_id_histogram *ids, uint32_t *ret_base, uint64_t *ret_all);

/**
 * Appends the --map argument that the tree looks like ("0:100000:65536", or "u:0:..,g:0:.." when
 * uid and gid differ).
 * -ENODATA: no base holds nine tenths of the ids. -ENOMEM.
 */
int ctm_guess_map(const struct ctm_id_histogram ids[2], struct ctm_buf *out);

#endif
