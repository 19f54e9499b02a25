/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kind of id this is, and where it belongs. Pure functions of the map.
 */
#ifndef CTM_PLAN_CLASSIFY_H
#define CTM_PLAN_CLASSIFY_H

#include <stdbool.h>

#include "id/idmap.h"

/**
 * How a disk id stands to the volume's map. The first that fits, in this order, is the class; the
 * order of the values is that of the tests. What --from-map says comes before all of them.
 */
enum ctm_class {
	CTM_CLASS_MAPPED,   /* on the map's disk side: as it should be, also where the map passes it
			       through */
	CTM_CLASS_OVERFLOW, /* 65534: something read through a map that did not hold the owner */
	CTM_CLASS_HOST,     /* a container id of the map, but no disk id: stored unshifted */
	CTM_CLASS_HOLE,     /* on the disk side of another map of this container */
	CTM_CLASS_TWICE,  /* a disk id of the map with the map's offset added once or more again */
	CTM_CLASS_BASE,   /* in a range of ids that counts from another base */
	CTM_CLASS_BEYOND, /* fits nothing */
	CTM_CLASS_FROM,   /* on the disk side of --from-map, and elsewhere under the map */
};

/**
 * By the map alone: MAPPED, HOST, or BEYOND for all that takes more to tell (plan/lens.h).
 */
enum ctm_class ctm_classify(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id);

/**
 * For an id of class beyond: the smallest widening of one of the map's ranges that would hold it.
 * Of the range that starts nearest below it on the disk's side, else on the container's side (the
 * id would then be of class host); without any, a range for this id alone. False when no range can
 * (4294967295, or the length runs over).
 */
bool ctm_class_needed(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id,
		      struct ctm_range *ret);
/** The same for a container id that no range holds. */
bool ctm_class_needed_inside(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_cid id,
			     struct ctm_range *ret);

#endif
