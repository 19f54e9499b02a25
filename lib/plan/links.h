/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inodes with several names, by (dev, ino): the facts of all names are one inode of the plan.
 */
#ifndef CTM_PLAN_LINKS_H
#define CTM_PLAN_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/spill.h"

struct ctm_link {
	uint64_t dev;
	uint64_t ino;
	uint32_t nlink;
	uint32_t names; /* seen so far */
	uint32_t all;   /* of a directory volume: names found in all of it (plan/names.h) */
	size_t first;   /* its findings: the first one's index, and how many follow each other */
	size_t n;
	size_t action;    /* or CTM_NO_ACTION */
	const char *path; /* the first of its names in path order, in the plan's arena */
	size_t path_len;
};

/** Zero-initialise; spill may be set before the first use. */
struct ctm_links {
	struct ctm_spill *spill; /* where they lie; NULL: on the heap */
	CTM_VEC(struct ctm_link) v;
	size_t *slots; /* open addressing; index + 1, 0 is free */
	size_t n_slots;
};

void ctm_links_done(struct ctm_links *links);
/** NULL when it is not there; valid until the next ctm_links_add(). */
struct ctm_link *ctm_links_get(const struct ctm_links *links, uint64_t dev, uint64_t ino);
/** Copies one that is not there yet. -ENOMEM. */
int ctm_links_add(struct ctm_links *links, const struct ctm_link *link);

#endif
