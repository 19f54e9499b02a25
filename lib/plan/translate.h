/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a number is: as an id of the container, and as an id on disk.
 */
#ifndef CTM_PLAN_TRANSLATE_H
#define CTM_PLAN_TRANSLATE_H

#include <stdbool.h>

#include "id/idmap.h"

struct ctm_translation {
	bool inside; /* the container has it: */
	ctm_did disk;
	bool on_disk; /* the map has it on its disk side: */
	ctm_cid ct;
	/*
	 * It is not on the map's disk side, but the container has an id of this number: a file that
	 * carries it was written from the host, and belongs at .disk.
	 */
	bool from_host;
	/*
	 * The range that the map would need to have it; len 0: no map can. For a number that is
	 * from_host that is a range of one, passed through, for which another has to make room.
	 */
	struct ctm_range need_inside; /* unless .inside */
	struct ctm_range need_disk;   /* unless .on_disk */
};

/** unshifted: disk ids are container ids, whatever the map says. */
void ctm_translate(const struct ctm_idmap *map, bool unshifted, enum ctm_idkind kind, uint32_t id,
		   struct ctm_translation *ret);

#endif
