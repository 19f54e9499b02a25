/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Other maps that ids of a volume may come from, found in configurations of this host.
 */
#ifndef CTM_SESSION_KINSHIP_H
#define CTM_SESSION_KINSHIP_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "plan/kin.h"
#include "target/target.h"

struct ctm_kinship {
	struct ctm_kin kin; /* what the plan borrows */
	struct ctm_arena arena;
	CTM_VEC(struct ctm_kin_map) maps; /* owned */
	CTM_VEC(struct ctm_kin_base) bases;
	bool has_bases;
};

/**
 * The maps of the container's other sections and, for a volume with a map of its own, the
 * container's. A section that cannot be read has none. -ENOMEM.
 */
int ctm_kinship_new(const struct ctm_target *target, const struct ctm_volume *volume,
		    struct ctm_kinship **ret);
void ctm_kinship_free(struct ctm_kinship *kinship);

/**
 * Adds the maps of all other containers, and what /etc/subuid and /etc/subgid grant, once: only a
 * volume with ids that fit nothing else is worth reading all that. What cannot be read is not
 * known. -ENOMEM.
 */
int ctm_kinship_add_bases(struct ctm_kinship *kinship, const struct ctm_host *host,
			  const struct ctm_target *target);

#endif
