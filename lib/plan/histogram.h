/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many inodes have which ids, by the base these count from, before a repair and after it. Pure.
 */
#ifndef CTM_PLAN_HISTOGRAM_H
#define CTM_PLAN_HISTOGRAM_H

#include <stdint.h>

#include "base/vec.h"
#include "plan/plan.h"

/** Beyond so many bases of a kind, which only a hostile tree has, ids count as other ones. */
#define CTM_HISTOGRAM_BASES 32

enum ctm_ids {
	CTM_IDS_MAPPED, /* on the map's disk side */
	CTM_IDS_HOST,   /* the container's own, not shifted */
	CTM_IDS_BASE,   /* count from another base */
	CTM_IDS_OTHER,
};
/** "mapped", "host", "base", "other". */
const char *ctm_ids_word(enum ctm_ids ids);

struct ctm_histogram_row {
	enum ctm_idkind kind;
	enum ctm_ids ids;
	uint32_t base; /* CTM_IDS_BASE: the disk id of its 0 */
	/* the smallest and the largest that occur; of MAPPED what the map spans */
	uint32_t first;
	uint32_t last;
	uint64_t before;
	uint64_t after; /* when all actions of the plan are done */
};

/** Zero-initialise. */
struct ctm_histogram {
	/* uids, then gids; in the order of enum ctm_ids, bases by number; MAPPED always */
	CTM_VEC(struct ctm_histogram_row) rows;
};

/**
 * Of a finished plan: of the whole volume where that was counted, else of the selection. No rows
 * where there is no map to judge by. -ENOMEM.
 */
int ctm_histogram_make(const struct ctm_plan *plan, struct ctm_histogram *ret);
void ctm_histogram_done(struct ctm_histogram *histogram);

#endif
