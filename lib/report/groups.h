/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Findings grouped by cause: what people read instead of half a thousand lines.
 */
#ifndef CTM_REPORT_GROUPS_H
#define CTM_REPORT_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "plan/plan.h"

/** An id that a group's findings name, and on how many inodes. */
struct ctm_group_id {
	int kind; /* enum ctm_idkind */
	uint32_t id;
	uint64_t n;
};

/** A top directory (at most two components) and how many inodes of the group lie in it. */
struct ctm_group_place {
	const char *dir; /* arena; escaped, without leading slash; "" is the root itself */
	uint64_t n;
};

struct ctm_group {
	enum ctm_finding_code code;
	size_t first; /* its findings stand at first .. first + n_findings - 1 of the plan */
	size_t n_findings;
	uint64_t n;                             /* inodes concerned */
	CTM_VEC(struct ctm_group_id) ids;       /* by count, largest first */
	CTM_VEC(struct ctm_group_place) places; /* by count, largest first */
};

struct ctm_groups {
	CTM_VEC(struct ctm_group) v; /* in the order of the codes */
	struct ctm_arena arena;
};

/** Groups the findings of a finished plan. -ENOMEM. */
int ctm_groups_make(const struct ctm_plan *plan, struct ctm_groups *ret);
void ctm_groups_done(struct ctm_groups *groups);

/**
 * Appends the ids of a group in words: "uid 0 on 470, gid 0 on 460, gid 4 on 1 and 3 more".
 * -ENOMEM.
 */
int ctm_group_ids_text(const struct ctm_group *group, struct ctm_buf *out);

#endif
