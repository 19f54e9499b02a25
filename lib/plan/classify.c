/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Classes of ids.
 */
#include "plan/classify.h"

enum ctm_class ctm_classify(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id)
{
	if (ctm_idmap_on_disk(map, kind, id)) {
		return CTM_CLASS_MAPPED;
	}
	/* the number that stands on disk, read as the container's */
	if (ctm_idmap_in_ct(map, kind, (ctm_cid){ id.v })) {
		return CTM_CLASS_HOST;
	}
	return CTM_CLASS_BEYOND;
}

/* The range whose first id of the chosen side is the nearest one at or below id. */
static const struct ctm_range *nearest(const struct ctm_range *v, size_t n, bool disk, uint32_t id)
{
	const struct ctm_range *best = NULL;

	for (size_t i = 0; i < n; i++) {
		uint32_t first = disk ? v[i].disk : v[i].ct;

		if (first <= id && (!best || first > (disk ? best->disk : best->ct))) {
			best = &v[i];
		}
	}
	return best;
}

/* Neither side may reach 4294967295. */
static bool fits(const struct ctm_range *range, struct ctm_range *ret)
{
	if (range->len > CTM_ID_INVALID - range->ct || range->len > CTM_ID_INVALID - range->disk) {
		return false;
	}
	*ret = *range;
	return true;
}

bool ctm_class_needed(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id,
		      struct ctm_range *ret)
{
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(map, kind, &n);
	const struct ctm_range *wide = nearest(v, n, true, id.v);
	struct ctm_range range = { .ct = id.v, .disk = id.v, .len = 1 };

	if (id.v == CTM_ID_INVALID) {
		return false;
	}
	if (wide) {
		range = (struct ctm_range){ wide->ct, wide->disk, id.v - wide->disk + 1 };
	} else {
		wide = nearest(v, n, false, id.v);
		if (wide) {
			range = (struct ctm_range){ wide->ct, wide->disk, id.v - wide->ct + 1 };
		}
	}
	return fits(&range, ret);
}

bool ctm_class_needed_inside(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_cid id,
			     struct ctm_range *ret)
{
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(map, kind, &n);
	const struct ctm_range *wide = nearest(v, n, false, id.v);
	struct ctm_range range = { .ct = id.v, .disk = id.v, .len = 1 };

	if (id.v == CTM_ID_INVALID) {
		return false;
	}
	if (wide) {
		range = (struct ctm_range){ wide->ct, wide->disk, id.v - wide->ct + 1 };
	}
	return fits(&range, ret);
}
