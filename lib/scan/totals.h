/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting while scanning: one tally for each thread, merged, and turned into the totals of scan.h.
 *
 *	struct ctm_tally tally = { 0 };
 *	ctm_tally_inode(&tally, &sieve, off, mode, nlink, uid, gid);	for each entry
 *	ctm_tally_merge(&sum, &tally);
 *	ctm_tally_finish(&sum, &totals);
 *	ctm_tally_done(&tally);
 *
 * Nothing is remembered of single inodes: each of the n names of a hard link adds 1/n, so memory
 * does not depend on the size of the tree. Counts of inodes are sums in units of 2^-32; all names
 * of one inode together miss at most n of those, which rounding takes away.
 */
#ifndef CTM_SCAN_TOTALS_H
#define CTM_SCAN_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "id/idmap.h"
#include "scan/scan.h"
#include "scan/sieve.h"

#define CTM_TALLY_ONE (UINT64_C(1) << 32)

struct ctm_id_slot {
	uint64_t sum; /* in units of CTM_TALLY_ONE; 0: the slot is free */
	uint32_t id;
};

/** Hash table from id to sum; holds at most CTM_ID_COUNT_MAX ids. */
struct ctm_id_table {
	struct ctm_id_slot *slot;
	size_t n;
	size_t size; /* a power of two, or 0 */
	uint64_t other;
};

/** Zero-initialise. The plain counters may be changed directly. */
struct ctm_tally {
	uint64_t entries;
	uint64_t dirs;
	uint64_t errors;
	uint64_t subvolumes;
	uint64_t inodes;  /* in units of CTM_TALLY_ONE */
	uint64_t host[2]; /* likewise */
	uint64_t nobody[2];
	struct ctm_id_table ids[2];
};

void ctm_tally_done(struct ctm_tally *tally);

/**
 * Counts what an entry leads to; the entry itself is the caller's to count. off: the sieve's
 * ctm_sieve_owner(); ids that are off the map belong into the histogram. Cannot fail: an id for
 * which there is no memory is counted as other.
 */
void ctm_tally_inode(struct ctm_tally *tally, const struct ctm_sieve *sieve, unsigned int off,
		     uint32_t mode, uint32_t nlink, ctm_did uid, ctm_did gid);

/** Adds from to into and empties from. */
void ctm_tally_merge(struct ctm_tally *into, struct ctm_tally *from);

/**
 * Whether a thread's table has grown enough to be merged early, so that many threads stay small.
 */
bool ctm_tally_large(const struct ctm_tally *tally);

/** Rounded counts; an id that occurs counts at least once. ret is the caller's to free. -ENOMEM. */
int ctm_tally_finish(const struct ctm_tally *tally, struct ctm_scan_totals *ret);

#endif
