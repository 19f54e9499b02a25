/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a number is.
 */
#include "plan/translate.h"

#include "plan/classify.h"

void ctm_translate(const struct ctm_idmap *map, bool unshifted, enum ctm_idkind kind, uint32_t id,
		   struct ctm_translation *ret)
{
	struct ctm_translation t = { .disk = { id }, .ct = { id } };

	/* a privileged container has an empty map */
	if (unshifted && ctm_idmap_empty(map, kind)) {
		t.inside = id != CTM_ID_INVALID;
		t.on_disk = t.inside;
		*ret = t;
		return;
	}
	t.inside = ctm_idmap_to_disk(map, kind, (ctm_cid){ id }, &t.disk) == 0;
	t.on_disk = ctm_idmap_to_ct(map, kind, (ctm_did){ id }, &t.ct) == 0;
	t.from_host = t.inside && !t.on_disk;
	if (!t.inside) {
		(void)ctm_class_needed_inside(map, kind, (ctm_cid){ id }, &t.need_inside);
	}
	if (t.from_host) {
		t.need_disk = (struct ctm_range){ id, id, 1 };
	} else if (!t.on_disk) {
		(void)ctm_class_needed(map, kind, (ctm_did){ id }, &t.need_disk);
	}
	*ret = t;
}
