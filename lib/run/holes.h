/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a file has data, and where holes: 256 MiB of holes take no room on the disk, and are to
 * take none in an archive, nor time.
 */
#ifndef CTM_RUN_HOLES_H
#define CTM_RUN_HOLES_H

#include <stdint.h>

#include "base/vec.h"

/** Bytes from .at up to .at + .len. */
struct ctm_extent {
	uint64_t at;
	uint64_t len; /* never 0 */
};

/** Zero-initialise; ctm_extents_done() frees. */
struct ctm_extents {
	uint64_t size;                /* of the file */
	uint64_t bytes;               /* that are no hole */
	CTM_VEC(struct ctm_extent) v; /* of data, in their order, apart from each other */
};
void ctm_extents_done(struct ctm_extents *extents);

/**
 * Asks the file system (SEEK_DATA, SEEK_HOLE of lseek(2)); where it does not know, all is data. The
 * position of the descriptor moves. -EFBIG: there are more than max bytes of data; no more than
 * that are looked for, so that the cost of a file is bounded by max.
 */
int ctm_extents_find(int fd, uint64_t max, struct ctm_extents *ret);

#endif
