/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maps: lookups at every edge, what is refused, and that both directions undo each other. */
#include "id/idmap.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "prng.h"

#define NONE CTM_ID_INVALID

struct map_ranges {
	struct ctm_range u[4];
	struct ctm_range g[4];
};

static const struct map_ranges plain = {
	.u = { { 0, 100000, 65536 } },
	.g = { { 0, 100000, 65536 } },
};
/* uid 1005 and gid 44 are the host's own; uid and gid bases differ. */
static const struct map_ranges punched = {
	.u = { { 0, 100000, 1005 }, { 1005, 1005, 1 }, { 1006, 101006, 64530 } },
	.g = { { 45, 200045, 65491 }, { 0, 200000, 44 }, { 44, 44, 1 } },
};
static const struct map_ranges edges = {
	.u = { { 4294967294, 0, 1 }, { 0, 4294967294, 1 }, { 10, 20, 10 }, { 20, 30, 10 } },
};
static const struct map_ranges all = {
	.u = { { 0, 0, 4294967295 } },
	.g = { { 1, 0, 4294967294 } },
};
static const struct map_ranges hole = {
	.u = { { 0, 100000, 1000 }, { 2000, 102000, 1000 } },
	.g = { { 0, 100000, 1000 }, { 2000, 101000, 1000 } },
};

static struct ctm_idmap *build(const struct map_ranges *ranges)
{
	struct ctm_idmap *map = ctm_idmap_new();

	cr_assert_not_null(map);
	for (size_t n = 0; n < 4; n++) {
		if (ranges->u[n].len) {
			cr_assert_eq(ctm_idmap_add(map, CTM_UID, ranges->u[n]), 0);
		}
		if (ranges->g[n].len) {
			cr_assert_eq(ctm_idmap_add(map, CTM_GID, ranges->g[n]), 0);
		}
	}
	return map;
}

static const struct {
	const struct map_ranges *map;
	enum ctm_idkind kind;
	uint32_t ct;
	uint32_t disk; /* NONE: ct has no place on the disk */
} pair_rows[] = {
	{ &plain, CTM_UID, 0, 100000 },
	{ &plain, CTM_UID, 42, 100042 },
	{ &plain, CTM_GID, 65534, 165534 },
	{ &plain, CTM_UID, 65535, 165535 },
	{ &plain, CTM_UID, 65536, NONE },
	{ &plain, CTM_UID, 100000, NONE },
	{ &plain, CTM_GID, 4294967294, NONE },
	{ &plain, CTM_GID, 4294967295, NONE },
	{ &punched, CTM_UID, 1004, 101004 },
	{ &punched, CTM_UID, 1005, 1005 },
	{ &punched, CTM_UID, 1006, 101006 },
	{ &punched, CTM_UID, 65535, 165535 },
	{ &punched, CTM_UID, 65536, NONE },
	{ &punched, CTM_GID, 0, 200000 },
	{ &punched, CTM_GID, 43, 200043 },
	{ &punched, CTM_GID, 44, 44 },
	{ &punched, CTM_GID, 45, 200045 },
	{ &punched, CTM_GID, 65535, 265535 },
	{ &edges, CTM_UID, 4294967294, 0 },
	{ &edges, CTM_UID, 0, 4294967294 },
	{ &edges, CTM_UID, 9, NONE },
	{ &edges, CTM_UID, 10, 20 },
	{ &edges, CTM_UID, 19, 29 },
	{ &edges, CTM_UID, 20, 30 },
	{ &edges, CTM_UID, 29, 39 },
	{ &edges, CTM_UID, 30, NONE },
	{ &edges, CTM_UID, 4294967295, NONE },
	{ &edges, CTM_GID, 0, NONE },
	{ &all, CTM_UID, 0, 0 },
	{ &all, CTM_UID, 4294967294, 4294967294 },
	{ &all, CTM_UID, 4294967295, NONE },
	{ &all, CTM_GID, 0, NONE },
	{ &all, CTM_GID, 1, 0 },
	{ &all, CTM_GID, 4294967294, 4294967293 },
	{ &hole, CTM_UID, 999, 100999 },
	{ &hole, CTM_UID, 1000, NONE },
	{ &hole, CTM_UID, 1999, NONE },
	{ &hole, CTM_UID, 2000, 102000 },
	{ &hole, CTM_UID, 3000, NONE },
	{ &hole, CTM_GID, 999, 100999 },
	{ &hole, CTM_GID, 2000, 101000 },
};

CASES(idmap, to_disk_and_back, pair_rows)
{
	struct ctm_idmap *map = build(pair_rows[*i].map);
	const enum ctm_idkind kind = pair_rows[*i].kind;
	const ctm_cid ct = { pair_rows[*i].ct };
	const int want = pair_rows[*i].disk == NONE ? -ERANGE : 0;
	ctm_did disk = { 12345678 };
	ctm_cid back = { 12345678 };
	int r = ctm_idmap_to_disk(map, kind, ct, &disk);

	cr_assert_eq(r, want, "row %zu: returned %d", *i, r);
	cr_assert_eq(disk.v, r == 0 ? pair_rows[*i].disk : 12345678, "row %zu: %u", *i, disk.v);
	cr_assert_eq(ctm_idmap_in_ct(map, kind, ct), r == 0, "row %zu", *i);
	if (r == 0) {
		cr_assert_eq(ctm_idmap_to_ct(map, kind, disk, &back), 0, "row %zu", *i);
		cr_assert_eq(back.v, ct.v, "row %zu: back to %u", *i, back.v);
		cr_assert(ctm_idmap_on_disk(map, kind, disk), "row %zu", *i);
	}
	ctm_idmap_free(map);
}

static const struct {
	const struct map_ranges *map;
	enum ctm_idkind kind;
	uint32_t disk;
} off_rows[] = {
	{ &plain, CTM_UID, 0 },          { &plain, CTM_UID, 99999 },
	{ &plain, CTM_UID, 165536 },     { &plain, CTM_GID, 65534 },
	{ &plain, CTM_GID, 4294967294 }, { &plain, CTM_GID, 4294967295 },
	{ &punched, CTM_UID, 1004 },     { &punched, CTM_UID, 1006 },
	{ &punched, CTM_UID, 101005 },   { &punched, CTM_GID, 43 },
	{ &punched, CTM_GID, 1005 },     { &punched, CTM_GID, 100000 },
	{ &punched, CTM_GID, 200044 },   { &edges, CTM_UID, 1 },
	{ &edges, CTM_UID, 19 },         { &edges, CTM_UID, 40 },
	{ &edges, CTM_UID, 4294967293 }, { &edges, CTM_UID, 4294967295 },
	{ &edges, CTM_GID, 0 },          { &edges, CTM_GID, 4294967295 },
	{ &all, CTM_UID, 4294967295 },   { &all, CTM_GID, 4294967294 },
	{ &hole, CTM_UID, 101000 },      { &hole, CTM_UID, 101999 },
	{ &hole, CTM_UID, 103000 },      { &hole, CTM_GID, 102000 },
};

CASES(idmap, off_the_map, off_rows)
{
	struct ctm_idmap *map = build(off_rows[*i].map);
	const ctm_did disk = { off_rows[*i].disk };
	ctm_cid ct = { 12345678 };

	cr_assert(!ctm_idmap_on_disk(map, off_rows[*i].kind, disk), "row %zu: %u", *i, disk.v);
	cr_assert_eq(ctm_idmap_to_ct(map, off_rows[*i].kind, disk, &ct), -ERANGE, "row %zu", *i);
	cr_assert_eq(ct.v, 12345678, "row %zu: written although refused", *i);
	ctm_idmap_free(map);
}

/* Each is offered to the map { 10-19 -> 1010-1019, 30-39 -> 1030-1039 }. */
static const struct {
	const char *name;
	struct ctm_range range;
	int want;
} add_rows[] = {
	{ "between, touching both", { 20, 1020, 10 }, 0 },
	{ "before, touching", { 0, 1000, 10 }, 0 },
	{ "behind, touching", { 40, 1040, 10 }, 0 },
	{ "crosswise", { 20, 1000, 10 }, 0 },
	{ "nothing", { 100, 100, 0 }, -EINVAL },
	{ "nothing inside", { 10, 1010, 0 }, -EINVAL },
	{ "the same again", { 10, 1010, 10 }, -EEXIST },
	{ "container side, first id", { 10, 5000, 1 }, -EEXIST },
	{ "container side, last id", { 39, 5000, 1 }, -EEXIST },
	{ "container side, from below", { 5, 5000, 6 }, -EEXIST },
	{ "container side, from above", { 19, 5000, 5 }, -EEXIST },
	{ "container side, around", { 0, 5000, 100 }, -EEXIST },
	{ "container side, into the next", { 20, 5000, 11 }, -EEXIST },
	{ "disk side, first id", { 100, 1010, 1 }, -EEXIST },
	{ "disk side, last id", { 100, 1039, 1 }, -EEXIST },
	{ "disk side, from below", { 100, 1005, 6 }, -EEXIST },
	{ "disk side, from above", { 100, 1019, 5 }, -EEXIST },
	{ "disk side, around", { 100, 1000, 100 }, -EEXIST },
	{ "disk side, into the next", { 100, 1020, 11 }, -EEXIST },
	{ "last id of all", { 4294967294, 4294967294, 1 }, 0 },
	{ "past the last, container side", { 4294967294, 0, 2 }, -ERANGE },
	{ "past the last, disk side", { 100, 4294967294, 2 }, -ERANGE },
	{ "the id that is none, container side", { 4294967295, 0, 1 }, -ERANGE },
	{ "the id that is none, disk side", { 100, 4294967295, 1 }, -ERANGE },
	{ "wraps round, container side", { 4294967000, 0, 4294967295 }, -ERANGE },
	{ "wraps round, disk side", { 0, 4294967000, 4294967295 }, -ERANGE },
};

CASES(idmap, add, add_rows)
{
	static const struct map_ranges two = { .u = { { 10, 1010, 10 }, { 30, 1030, 10 } } };
	struct ctm_idmap *map = build(&two);
	struct ctm_idmap *before = build(&two);
	int r = ctm_idmap_add(map, CTM_UID, add_rows[*i].range);

	cr_assert_eq(r, add_rows[*i].want, "%s: returned %d", add_rows[*i].name, r);
	cr_assert_eq(ctm_idmap_eq(map, before), r < 0, "%s: what was refused stays out",
		     add_rows[*i].name);
	cr_assert(ctm_idmap_empty(map, CTM_GID), "%s: the other kind", add_rows[*i].name);
	if (r == -EEXIST) {
		cr_assert_eq(ctm_idmap_add(map, CTM_GID, add_rows[*i].range), 0,
			     "%s: kinds do not collide", add_rows[*i].name);
	}
	ctm_idmap_free(map);
	ctm_idmap_free(before);
}

Test(idmap, as_many_ranges_as_the_kernel_takes)
{
	struct ctm_idmap *map = ctm_idmap_new();
	size_t n;

	/* odd numbers first, downwards, so that the tables are built in a bad order */
	for (uint32_t k = CTM_IDMAP_MAX; k-- > 0;) {
		const uint32_t at = k < CTM_IDMAP_MAX / 2 ? 2 * k : 2 * k - CTM_IDMAP_MAX + 1;
		const struct ctm_range range = { .ct = at * 10, .disk = 9000 - at * 10, .len = 5 };

		cr_assert_eq(ctm_idmap_add(map, CTM_GID, range), 0, "range %u", k);
	}
	cr_assert_eq(ctm_idmap_add(map, CTM_GID, (struct ctm_range){ 50000, 50000, 1 }), -E2BIG);
	(void)ctm_idmap_ranges(map, CTM_GID, &n);
	cr_assert_eq(n, CTM_IDMAP_MAX);
	for (uint32_t ct = 0; ct < 10 * CTM_IDMAP_MAX; ct++) {
		ctm_did disk = { NONE };
		int r = ctm_idmap_to_disk(map, CTM_GID, (ctm_cid){ ct }, &disk);

		cr_assert_eq(r, ct % 10 < 5 ? 0 : -ERANGE, "%u", ct);
		cr_assert(r < 0 || disk.v == 9000 - ct / 10 * 10 + ct % 10, "%u: %u", ct, disk.v);
	}
	ctm_idmap_free(map);
}

Test(idmap, default_is_what_pve_uses)
{
	struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_idmap *want = build(&plain);

	cr_assert(ctm_idmap_empty(map, CTM_UID) && ctm_idmap_empty(map, CTM_GID));
	cr_assert_eq(ctm_idmap_add_default(map), 0);
	cr_assert(ctm_idmap_eq(map, want));
	cr_assert_eq(ctm_idmap_add_default(map), -EEXIST);
	ctm_idmap_free(map);
	ctm_idmap_free(want);
	ctm_idmap_free(NULL);
}

static const struct {
	const struct map_ranges *map;
	const char *want;
} format_rows[] = {
	{ &plain, "u 0 100000 65536, g 0 100000 65536" },
	{ &punched, "u 0 100000 1005, u 1005 1005 1, u 1006 101006 64530, "
		    "g 45 200045 65491, g 0 200000 44, g 44 44 1" },
	{ &all, "u 0 0 4294967295, g 1 0 4294967294" },
	{ &(const struct map_ranges){ .g = { { 5, 6, 7 } } }, "g 5 6 7" },
	{ &(const struct map_ranges){ .u = { { 0 } } }, "" },
};

CASES(idmap, format, format_rows)
{
	struct ctm_idmap *map = build(format_rows[*i].map);
	struct ctm_buf out = { 0 };

	cr_assert_eq(ctm_idmap_format(map, &out), 0);
	cr_assert_str_eq(out.p, format_rows[*i].want, "row %zu: %s", *i, out.p);
	ctm_buf_done(&out);
	ctm_idmap_free(map);
}

static const struct {
	const char *name;
	struct map_ranges a;
	struct map_ranges b;
	bool want;
} eq_rows[] = {
	{ "order",
	  { .u = { { 0, 10, 5 }, { 5, 100, 5 } } },
	  { .u = { { 5, 100, 5 }, { 0, 10, 5 } } },
	  true },
	{ "split",
	  { .u = { { 0, 10, 9 } } },
	  { .u = { { 4, 14, 5 }, { 0, 10, 2 }, { 2, 12, 2 } } },
	  true },
	{ "kinds", { .u = { { 0, 10, 9 } } }, { .g = { { 0, 10, 9 } } }, false },
	{ "length", { .u = { { 0, 10, 9 } } }, { .u = { { 0, 10, 8 } } }, false },
	{ "disk side", { .u = { { 0, 10, 9 } } }, { .u = { { 0, 11, 9 } } }, false },
	{ "one more", { .u = { { 0, 10, 9 } } }, { .u = { { 0, 10, 9 }, { 20, 30, 1 } } }, false },
	{ "swapped halves",
	  { .u = { { 0, 10, 4 } } },
	  { .u = { { 0, 12, 2 }, { 2, 10, 2 } } },
	  false },
	{ "gids", { .g = { { 0, 10, 4 } } }, { .g = { { 0, 10, 5 } } }, false },
	{ "both empty", { .u = { { 0 } } }, { .u = { { 0 } } }, true },
	{ "one empty", { .u = { { 0 } } }, { .u = { { 0, 1, 1 } } }, false },
};

CASES(idmap, eq, eq_rows)
{
	struct ctm_idmap *a = build(&eq_rows[*i].a);
	struct ctm_idmap *b = build(&eq_rows[*i].b);

	cr_assert_eq(ctm_idmap_eq(a, b), eq_rows[*i].want, "%s", eq_rows[*i].name);
	cr_assert_eq(ctm_idmap_eq(b, a), eq_rows[*i].want, "%s, turned round", eq_rows[*i].name);
	ctm_idmap_free(a);
	ctm_idmap_free(b);
}

/* Ids up to here are looked at one by one; half of the random maps lie at the far end instead. */
enum { SPACE = 300 };

/* The map as a plain table of the container's side, filled by the definition. */
struct model {
	uint32_t base; /* of both sides */
	uint32_t disk_of[SPACE];
	bool on_disk[SPACE];
};

static bool model_takes(const struct model *model, struct ctm_range range)
{
	for (uint32_t n = 0; n < range.len; n++) {
		if (model->disk_of[range.ct - model->base + n] != NONE ||
		    model->on_disk[range.disk - model->base + n]) {
			return false;
		}
	}
	return true;
}

static void model_add(struct model *model, struct ctm_range range)
{
	for (uint32_t n = 0; n < range.len; n++) {
		model->disk_of[range.ct - model->base + n] = range.disk + n;
		model->on_disk[range.disk - model->base + n] = true;
	}
}

static void check_against(const struct ctm_idmap *map, enum ctm_idkind kind,
			  const struct model *model, int round)
{
	for (uint32_t n = 0; n < SPACE; n++) {
		const uint32_t id = model->base + n;
		ctm_did disk = { NONE };
		ctm_cid back = { NONE };

		(void)ctm_idmap_to_disk(map, kind, (ctm_cid){ id }, &disk);
		cr_assert_eq(disk.v, model->disk_of[n], "round %d: %u -> %u", round, id, disk.v);
		cr_assert_eq(ctm_idmap_in_ct(map, kind, (ctm_cid){ id }), disk.v != NONE,
			     "round %d: %u", round, id);
		cr_assert_eq(ctm_idmap_on_disk(map, kind, (ctm_did){ id }), model->on_disk[n],
			     "round %d: disk %u", round, id);
		cr_assert_eq(ctm_idmap_to_ct(map, kind, (ctm_did){ id }, &back),
			     model->on_disk[n] ? 0 : -ERANGE, "round %d: disk %u", round, id);
		if (disk.v != NONE) {
			cr_assert_eq(ctm_idmap_to_ct(map, kind, disk, &back), 0);
			cr_assert_eq(back.v, id, "round %d: %u came back as %u", round, id, back.v);
		}
	}
}

/*
 * Random ranges, pass-through ones among them, uid and gid apart: the map takes exactly those that
 * collide with nothing, and every id goes where the table says and comes back.
 */
Test(idmap, agrees_with_a_plain_table)
{
	uint64_t state = PRNG_SEED;

	for (int round = 0; round < 2000; round++) {
		struct ctm_idmap *map = ctm_idmap_new();
		struct model models[2];

		memset(models, 0, sizeof(models));
		for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
			models[kind].base = prng_below(&state, 2) ? 0 : NONE - SPACE;
			for (uint32_t n = 0; n < SPACE; n++) {
				models[kind].disk_of[n] = NONE;
			}
		}
		for (uint32_t n = prng_below(&state, 24); n > 0; n--) {
			const enum ctm_idkind kind = prng_below(&state, 2) ? CTM_GID : CTM_UID;
			struct model *model = &models[kind];
			const uint32_t len =
				1 + prng_below(&state, prng_below(&state, 4) ? 12 : 60);
			const uint32_t ct = prng_below(&state, SPACE - len + 1);
			const bool same = prng_below(&state, 4) == 0;
			const uint32_t disk = same ? ct : prng_below(&state, SPACE - len + 1);
			const struct ctm_range range = { model->base + ct, model->base + disk,
							 len };
			const bool takes = model_takes(model, range);

			cr_assert_eq(ctm_idmap_add(map, kind, range), takes ? 0 : -EEXIST,
				     "round %d: %u %u %u", round, range.ct, range.disk, len);
			if (takes) {
				model_add(model, range);
			}
		}
		check_against(map, CTM_UID, &models[CTM_UID], round);
		check_against(map, CTM_GID, &models[CTM_GID], round);
		ctm_idmap_free(map);
	}
}

/* One id of the container under two maps; an id that either lacks has no place. */
static const struct {
	const char *from;
	const char *to;
	uint32_t id;
	int64_t want; /* -1: none */
} carried[] = {
	{ "0:165536:65536", "100000", 165536, 100000 },
	{ "0:165536:65536", "100000", 165542, 100006 },
	{ "0:165536:65536", "100000", 231071, 165535 },
	{ "0:165536:65536", "100000", 231072, -1 },
	{ "0:165536:65536", "100000", 100000, -1 },
	{ "0:100000:65536", "0:101000:65536", 101000, 102000 },
	{ "0:100000:65536", "0:0:4294967295", 100033, 33 },
	{ "0:0:4294967295", "100000", 65535, 165535 },
	{ "0:0:4294967295", "100000", 65536, -1 },
	{ "u:0:1029054284:1", "100000", 1029054284, 100000 },
	{ "g:0:165536:65536", "100000", 165536, -1 },
};

CASES(idmap, carry, carried)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = NULL;
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *to = NULL;
	ctm_did got = { 7 };
	struct ctm_err err = { 0 };
	bool found;

	cr_assert_eq(ctm_idmap_parse_spec(carried[*i].from, &from, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_idmap_parse_spec(carried[*i].to, &to, &err), 0, "%s", err.msg);
	found = ctm_idmap_carry(from, to, CTM_UID, (ctm_did){ carried[*i].id }, &got);
	cr_assert_eq(found, carried[*i].want >= 0, "row %zu", *i);
	cr_assert_eq(got.v, found ? (uint32_t)carried[*i].want : 7, "row %zu: %u", *i, got.v);
}

/* Whether an id that was moved could be moved again: checked against every id. */
static const struct {
	const char *from;
	const char *to;
	bool want;
} twice[] = {
	{ "100000", "100000", false },
	{ "0:165536:65536", "100000", false },
	{ "0:0:65536", "100000", false },
	{ "100000", "0:101000:65536", true },
	{ "0:101000:65536", "100000", true },
	{ "100000", "0:165536:65536", false },
	{ "100000", "0:165535:65536", true },
	{ "0:100000:1", "0:100001:65536", false },
	{ "0:100000:2", "0:100001:65536", true },
	{ "100000", "0:0:65536", false },
	{ "100000", "0:0:200000", false },
	{ "100000", "0:0:4294967295", false },
	{ "0:100000:200000", "0:0:4294967295", true },
	{ "u:0:100000:65536", "u:0:165536:65536,g:0:100001:65536", false },
	{ "g:0:100000:65536", "u:0:165536:65536,g:0:100001:65536", true },
	{ "0:100000:65536", "0:100000:33,33:33:1,34:100034:65502", false },
	{ "0:100000:33,33:33:1,34:100034:65502", "0:100000:65536", false },
	{ "0:100000:10,10:100100:10", "0:100100:10,10:100000:10", true },
};

CASES(idmap, carries_twice, twice)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = NULL;
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *to = NULL;
	struct ctm_err err = { 0 };
	bool again = false;

	cr_assert_eq(ctm_idmap_parse_spec(twice[*i].from, &from, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_idmap_parse_spec(twice[*i].to, &to, &err), 0, "%s", err.msg);
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		for (uint32_t id = 0; id < 400000 && !again; id++) {
			ctm_did first;
			ctm_did second;

			again = ctm_idmap_carry(from, to, kind, (ctm_did){ id }, &first) &&
				first.v != id && ctm_idmap_carry(from, to, kind, first, &second) &&
				second.v != first.v;
		}
	}
	cr_assert_eq(again, twice[*i].want, "row %zu", *i);
	cr_assert_eq(ctm_idmap_carries_twice(from, to), again, "row %zu", *i);
}

Test(idmap, identity)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	ctm_did got;

	cr_assert_eq(ctm_idmap_add_identity(map), 0);
	cr_assert_eq(ctm_idmap_to_disk(map, CTM_GID, (ctm_cid){ 4294967294 }, &got), 0);
	cr_assert_eq(got.v, 4294967294);
	cr_assert_eq(ctm_idmap_format(map, &text), 0);
	cr_assert_str_eq(text.p, CTM_IDMAP_IDENTITY);
}
