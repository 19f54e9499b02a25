/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a number is inside and on disk. */
#include "plan/translate.h"

#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

#define DEF     "100000"
#define PUNCHED "0:100000:33,33:33:1,34:100034:65502"

static const struct {
	const char *map; /* NULL: privileged, an empty map */
	uint32_t id;
	const char *want; /* disk, container, h: from the host, range needed inside, on disk */
} rows[] = {
	{ DEF, 0, "100000 - h - 0:0:1" },
	{ DEF, 33, "100033 - h - 33:33:1" },
	{ DEF, 65535, "165535 - h - 65535:65535:1" },
	{ DEF, 65536, "- - . 0:100000:65537 0:100000:65537" },
	{ DEF, 99999, "- - . 0:100000:100000 0:100000:100000" },
	{ DEF, 100033, "- 33 . 0:100000:100034 -" },
	{ DEF, 165535, "- 65535 . 0:100000:165536 -" },
	{ DEF, 200000, "- - . 0:100000:200001 0:100000:100001" },
	{ DEF, 718322462, "- - . 0:100000:718322463 0:100000:718222463" },
	/* so far up that the disk's side would run over */
	{ DEF, 4294967294, "- - . - 0:100000:4294867295" },
	{ DEF, 4294967295, "- - . - -" },
	{ PUNCHED, 33, "33 33 . - -" },
	{ PUNCHED, 34, "100034 - h - 34:34:1" },
	{ PUNCHED, 100033, "- - . 34:100034:100000 0:100000:34" },
	/* a map that begins above */
	{ "1000:200000:10", 5, "- - . 5:5:1 5:5:1" },
	{ "1000:200000:10", 1005, "200005 - h - 1005:1005:1" },
	{ NULL, 33, "33 33 . - -" },
	{ NULL, 4294967294, "4294967294 4294967294 . - -" },
};

static int add_range(struct ctm_buf *out, struct ctm_range range)
{
	return range.len ? ctm_buf_addf(out, " %u:%u:%u", range.ct, range.disk, range.len) :
			   ctm_buf_addf(out, " -");
}

static int add_id(struct ctm_buf *out, bool known, uint32_t id)
{
	return known ? ctm_buf_addf(out, "%u ", id) : ctm_buf_addf(out, "- ");
}

CASES(translate, both_ways, rows)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };

	if (rows[*i].map) {
		cr_assert_eq(ctm_idmap_parse_spec(rows[*i].map, &map, NULL), 0);
	} else {
		map = ctm_idmap_new();
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		struct ctm_translation t;

		ctm_translate(map, !rows[*i].map, kind, rows[*i].id, &t);
		got.len = 0;
		cr_assert_eq(add_id(&got, t.inside, t.disk.v), 0);
		cr_assert_eq(add_id(&got, t.on_disk, t.ct.v), 0);
		cr_assert_eq(ctm_buf_addf(&got, "%s", t.from_host ? "h" : "."), 0);
		cr_assert_eq(add_range(&got, t.need_inside), 0);
		cr_assert_eq(add_range(&got, t.need_disk), 0);
		cr_assert_str_eq(got.p, rows[*i].want, "row %zu, kind %d", *i, kind);
	}
}

/* A passed-through volume has a map of container ids to themselves. */
Test(translate, passthrough)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = NULL;
	struct ctm_translation t;

	cr_assert_eq(ctm_idmap_parse_spec("0:0:65536", &map, NULL), 0);
	ctm_translate(map, true, CTM_UID, 33, &t);
	cr_assert(t.inside && t.on_disk && t.disk.v == 33 && t.ct.v == 33);
	ctm_translate(map, true, CTM_UID, 70000, &t);
	cr_assert(!t.inside && !t.on_disk && !t.from_host);
	cr_assert(t.need_disk.ct == 0 && t.need_disk.disk == 0 && t.need_disk.len == 70001);
}
