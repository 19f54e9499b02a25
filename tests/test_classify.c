/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classes of ids, where they belong, and which range would hold what fits nothing. */
#include "plan/classify.h"

#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "prng.h"

#define DEF "100000"
/* as for shared web content: id 33 of the host is the container's 33 */
#define PUNCHED "0:100000:33,33:33:1,34:100034:65502"
#define APART   "u:0:165536:65536,g:0:100000:1000"
#define LARGE   "0:100000:1000000"
#define TO_LAST "0:4294901759:65536" /* up to 4294967294 */

enum { M = CTM_CLASS_MAPPED, H = CTM_CLASS_HOST, B = CTM_CLASS_BEYOND };

static const struct {
	const char *map;
	enum ctm_idkind kind;
	uint32_t id;
	int want;
	uint32_t to; /* of class host */
} rows[] = {
	/* the default map, every edge */
	{ DEF, CTM_UID, 0, H, 100000 },
	{ DEF, CTM_UID, 42, H, 100042 },
	{ DEF, CTM_UID, 65534, H, 165534 },
	{ DEF, CTM_UID, 65535, H, 165535 },
	{ DEF, CTM_UID, 65536, B, 0 },
	{ DEF, CTM_UID, 70000, B, 0 },
	{ DEF, CTM_UID, 99999, B, 0 },
	{ DEF, CTM_UID, 100000, M, 0 },
	{ DEF, CTM_UID, 165534, M, 0 }, /* nobody inside */
	{ DEF, CTM_UID, 165535, M, 0 },
	{ DEF, CTM_UID, 165536, B, 0 },
	{ DEF, CTM_UID, 200000, B, 0 },
	{ DEF, CTM_UID, 1029054284, B, 0 },
	{ DEF, CTM_UID, 4294967294, B, 0 },
	{ DEF, CTM_UID, 4294967295, B, 0 },
	{ DEF, CTM_GID, 0, H, 100000 },
	{ DEF, CTM_GID, 101, H, 100101 },
	{ DEF, CTM_GID, 165536, B, 0 },
	/* a punched-through id is right as it is, and what was shifted before is not */
	{ PUNCHED, CTM_UID, 33, M, 0 },
	{ PUNCHED, CTM_GID, 33, M, 0 },
	{ PUNCHED, CTM_UID, 32, H, 100032 },
	{ PUNCHED, CTM_UID, 34, H, 100034 },
	{ PUNCHED, CTM_UID, 100032, M, 0 },
	{ PUNCHED, CTM_UID, 100033, B, 0 },
	{ PUNCHED, CTM_UID, 100034, M, 0 },
	/* uid and gid each on its own */
	{ APART, CTM_UID, 7, H, 165543 },
	{ APART, CTM_GID, 7, H, 100007 },
	{ APART, CTM_UID, 100000, B, 0 },
	{ APART, CTM_GID, 100000, M, 0 },
	{ APART, CTM_GID, 999, H, 100999 },
	{ APART, CTM_GID, 1000, B, 0 },
	{ APART, CTM_GID, 101000, B, 0 },
	{ APART, CTM_UID, 165536, M, 0 },
	{ APART, CTM_GID, 165536, B, 0 },
	/* container and disk side overlap: what is on the disk side is right */
	{ LARGE, CTM_UID, 99999, H, 199999 },
	{ LARGE, CTM_UID, 100000, M, 0 },
	{ LARGE, CTM_UID, 200000, M, 0 }, /* a nested container */
	{ LARGE, CTM_UID, 1099999, M, 0 },
	{ LARGE, CTM_UID, 1100000, B, 0 },
	{ TO_LAST, CTM_UID, 65535, H, 4294967294 },
	{ TO_LAST, CTM_UID, 4294967294, M, 0 },
	{ TO_LAST, CTM_UID, 4294967295, B, 0 },
	{ "u:0:100000:65536", CTM_GID, 0, B, 0 },
	{ "u:0:0:1026,u:1026:1026:1,u:1027:101027:64509", CTM_UID, 0, M, 0 },
	{ "u:0:0:1026,u:1026:1026:1,u:1027:101027:64509", CTM_UID, 1027, H, 101027 },
	{ "u:0:0:1026,u:1026:1026:1,u:1027:101027:64509", CTM_UID, 100000, B, 0 },
};

CASES(classify, table, rows)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(rows[*i].map);
	ctm_did id = { rows[*i].id };
	ctm_did to = { 0 };

	cr_assert_eq((int)ctm_classify(map, rows[*i].kind, id), rows[*i].want, "%s: %u",
		     rows[*i].map, id.v);
	if (rows[*i].want == H) {
		cr_assert_eq(ctm_idmap_to_disk(map, rows[*i].kind, (ctm_cid){ id.v }, &to), 0);
		cr_assert_eq(to.v, rows[*i].to, "%s: %u -> %u", rows[*i].map, id.v, to.v);
	}
}

static const struct {
	const char *map;
	uint32_t id;
	bool possible;
	struct ctm_range want;
} needs[] = {
	/* on the disk's side, from the nearest range below */
	{ DEF, 165536, true, { 0, 100000, 65537 } },
	{ DEF, 265535, true, { 0, 100000, 165536 } },
	{ DEF, 1029054284, true, { 0, 100000, 1028954285 } },
	{ "0:100000:10,1000:200000:10", 199999, true, { 0, 100000, 100000 } },
	{ "0:100000:10,1000:200000:10", 200010, true, { 1000, 200000, 11 } },
	{ PUNCHED, 100033, true, { 0, 100000, 34 } },
	/* on the container's side */
	{ DEF, 65536, true, { 0, 100000, 65537 } },
	{ DEF, 70000, true, { 0, 100000, 70001 } },
	/* nothing to widen */
	{ "5:100000:10", 4, true, { 4, 4, 1 } },
	{ "g:0:100000:10", 7, true, { 7, 7, 1 } },
	/* nothing can */
	{ DEF, 4294967295, false, { 0 } },
	{ "0:100000:65536", 4294967294, true, { 0, 100000, 4294867295 } },
	{ "5000:100000:65536", 4294967294, true, { 5000, 100000, 4294867295 } },
	{ "200000:100000:65536", 4294967294, false, { 0 } },
};

CASES(classify, needed, needs)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(needs[*i].map);
	struct ctm_range got = { 0 };

	cr_assert_eq(ctm_class_needed(map, CTM_UID, (ctm_did){ needs[*i].id }, &got),
		     needs[*i].possible, "%s: %u", needs[*i].map, needs[*i].id);
	cr_assert(got.ct == needs[*i].want.ct && got.disk == needs[*i].want.disk &&
			  got.len == needs[*i].want.len,
		  "%s: %u needs %u:%u:%u", needs[*i].map, needs[*i].id, got.ct, got.disk, got.len);
}

/* With the range that is said to be needed, the id is no longer beyond. */
Test(classify, needed_is_enough)
{
	uint64_t state = PRNG_SEED;

	for (int round = 0; round < 3000; round++) {
		CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();
		CLEANUP(ctm_idmap_freep) struct ctm_idmap *wide = ctm_idmap_new();
		struct ctm_range range = { prng_below(&state, 3000), prng_below(&state, 300000),
					   1 + prng_below(&state, 70000) };
		ctm_did id = { prng_below(&state, 3) ? prng_below(&state, 500000) : prng(&state) };
		struct ctm_range need;

		cr_assert_eq(ctm_idmap_add(map, CTM_GID, range), 0);
		if (ctm_classify(map, CTM_GID, id) != CTM_CLASS_BEYOND ||
		    !ctm_class_needed(map, CTM_GID, id, &need)) {
			continue;
		}
		cr_assert_eq(ctm_idmap_add(wide, CTM_GID, need), 0, "round %d", round);
		cr_assert_neq(ctm_classify(wide, CTM_GID, id), CTM_CLASS_BEYOND, "round %d: %u",
			      round, id.v);
		cr_assert(need.len > range.len || need.ct != range.ct, "round %d", round);
	}
}
