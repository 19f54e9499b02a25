/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A verdict in words.
 */
#include <inttypes.h>
#include <stdio.h>

#include "plan/lens.h"

/* "the map would need u 0 100000 65536 at least" */
static const char *say_need(bool known, enum ctm_idkind kind, const struct ctm_range *need,
			    const char *before, char buf[static 256])
{
	if (!known) {
		(void)snprintf(buf, 256, "%sno map can hold it", before);
	} else {
		(void)snprintf(buf, 256,
			       "%sthe map would need %c %" PRIu32 " %" PRIu32 " %" PRIu32
			       " at least",
			       before, kind == CTM_UID ? 'u' : 'g', need->ct, need->disk,
			       need->len);
	}
	return buf;
}

static const char *say_hole(const struct ctm_verdict *v, char buf[static 256])
{
	(void)snprintf(buf, 256, "id %" PRIu32 " of %s", v->inside.v, v->of);
	return buf;
}

static const char *say_twice(const struct ctm_verdict *v, char buf[static 256])
{
	if (v->times == 1) {
		(void)snprintf(buf, 256, "%" PRIu32 " with the base added once more", v->target.v);
	} else {
		(void)snprintf(buf, 256, "%" PRIu32 " with the base added %u times more",
			       v->target.v, v->times);
	}
	return buf;
}

ctm_did ctm_lens_last_nested(ctm_did id, ctm_cid inside)
{
	uint32_t left = CTM_IDMAP_DEFAULT_LEN - 1;

	if (inside.v > left || id.v > CTM_ID_INVALID - 1 - (left - inside.v)) {
		return id;
	}
	return (ctm_did){ id.v + (left - inside.v) };
}

const char *ctm_lens_say(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
			 const struct ctm_verdict *verdict, char buf[static 256])
{
	struct ctm_range need = { 0 };
	const char *what = NULL;
	char before[200] = "";
	bool known;

	switch (verdict->class) {
	case CTM_CLASS_MAPPED:
	case CTM_CLASS_HOST:
	case CTM_CLASS_FROM:
		return NULL;
	case CTM_CLASS_BEYOND:
		if (verdict->nested) {
			id = ctm_lens_last_nested(id, verdict->inside);
		}
		known = ctm_class_needed(lens->map, kind, id, &need);
		return say_need(known, kind, &need,
				verdict->nested ? "of a container inside; " : "", buf);
	case CTM_CLASS_OVERFLOW:
		break;
	case CTM_CLASS_HOLE:
		what = say_hole(verdict, buf);
		break;
	case CTM_CLASS_TWICE:
		what = say_twice(verdict, buf);
		break;
	case CTM_CLASS_BASE:
		what = verdict->of;
		break;
	}
	if (verdict->placed) {
		return what;
	}
	if (what) {
		(void)snprintf(before, sizeof(before), "%s; ", what);
	}
	known = ctm_class_needed_inside(lens->map, kind, verdict->inside, &need);
	return say_need(known, kind, &need, before, buf);
}
