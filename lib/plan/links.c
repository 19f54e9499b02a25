/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hash table of inodes with several names.
 */
#include "plan/links.h"

#include <errno.h>

#define SLOTS_MIN 64

void ctm_links_done(struct ctm_links *links)
{
	ctm_spill_vec_done(links->spill, &links->v);
	ctm_spill_drop(links->spill, links->slots, links->n_slots * sizeof(*links->slots));
	links->slots = NULL;
	links->n_slots = 0;
}

/* The finisher of MurmurHash3; inode numbers of one file system differ in their low bits alone. */
static size_t hash(uint64_t dev, uint64_t ino)
{
	uint64_t h = ino ^ (dev * 0x9e3779b97f4a7c15U);

	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdU;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53U;
	h ^= h >> 33;
	return (size_t)h;
}

/* The slot that holds it, or the free one where it would stand. n_slots is a power of two. */
static size_t *slot_of(const struct ctm_links *links, uint64_t dev, uint64_t ino)
{
	size_t mask = links->n_slots - 1;
	size_t at = hash(dev, ino) & mask;

	while (links->slots[at]) {
		const struct ctm_link *link = &links->v.v[links->slots[at] - 1];

		if (link->dev == dev && link->ino == ino) {
			break;
		}
		at = (at + 1) & mask;
	}
	return &links->slots[at];
}

struct ctm_link *ctm_links_get(const struct ctm_links *links, uint64_t dev, uint64_t ino)
{
	size_t found = links->n_slots ? *slot_of(links, dev, ino) : 0;

	return found ? &links->v.v[found - 1] : NULL;
}

/* At most half full. */
static int make_room(struct ctm_links *links)
{
	struct ctm_links wide = *links;

	if (links->v.n < links->n_slots / 2) {
		return 0;
	}
	wide.n_slots = links->n_slots ? 2 * links->n_slots : SLOTS_MIN;
	wide.slots = ctm_spill_zeros(links->spill, wide.n_slots, sizeof(*wide.slots));
	if (!wide.slots) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < wide.v.n; i++) {
		*slot_of(&wide, wide.v.v[i].dev, wide.v.v[i].ino) = i + 1;
	}
	ctm_spill_drop(links->spill, links->slots, links->n_slots * sizeof(*links->slots));
	*links = wide;
	return 0;
}

int ctm_links_add(struct ctm_links *links, const struct ctm_link *link)
{
	int r = make_room(links);

	if (r == 0) {
		r = ctm_spill_push(links->spill, &links->v, link);
	}
	if (r == 0) {
		*slot_of(links, link->dev, link->ino) = links->v.n;
	}
	return r;
}
