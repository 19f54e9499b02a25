/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every class of ids: what it is told from, where the id belongs, and when it moves. */
#include "plan/lens.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "plan/fix.h"

#define DEF     "100000"
#define MILLION "0:1000000:65536"
#define WIDE    "0:100000:1000000"
#define PUNCHED "0:100000:33,33:33:1,34:100034:65502"
#define SHORT   "0:100000:1000"
/* pasted in: ids of the system are the host's, the rest is shifted */
#define PASTED "0:0:1026,1026:1026:1,1027:101027:64509"

enum {
	MAPPED = CTM_CLASS_MAPPED,
	NOBODY = CTM_CLASS_OVERFLOW,
	HOST = CTM_CLASS_HOST,
	HOLE = CTM_CLASS_HOLE,
	TWICE = CTM_CLASS_TWICE,
	BASE = CTM_CLASS_BASE,
	BEYOND = CTM_CLASS_BEYOND,
	FROM = CTM_CLASS_FROM,
};

#define NOWHERE UINT32_MAX

/* Volumes: what is off the map, "id*inodes" apart by blanks, of 1000 inodes. */
static const struct {
	const char *map;
	const char *from;
	const char *uids; /* of the volume */
	const char *gids;
	enum ctm_idkind kind;
	uint32_t id;
	bool nested;
	bool links;
	unsigned int fix;
	bool convert;
	int want;
	uint32_t to; /* where it belongs; NOWHERE: the map has no such id */
	bool moves;
	const char *says; /* a part of the words, or NULL: there are none */
} rows[] = {
	{ DEF, NULL, "", "", 0, 100000, 0, 0, 0, 0, MAPPED, 0, false, NULL },
	{ DEF, NULL, "", "", 0, 0, 0, 0, 0, 0, HOST, 100000, true, NULL },
	{ DEF, NULL, "", "", 1, 42, 0, 0, 0, 0, HOST, 100042, true, NULL },

	/* 65534 is whoever was not mapped, until a whole tree is converted */
	{ DEF, NULL, "", "", 0, 65534, 0, 0, 0, 0, NOBODY, 165534, false, NULL },
	{ DEF, NULL, "", "", 0, 65534, 0, 0, CTM_FIX_OVERFLOW, 0, NOBODY, 165534, true, NULL },
	{ DEF, NULL, "", "", 0, 65534, 0, 0, 0, 1, HOST, 165534, true, NULL },
	{ DEF, NULL, "", "", 0, 165534, 0, 0, 0, 0, MAPPED, 0, false, NULL },
	{ SHORT, NULL, "", "", 0, 65534, 0, 0, CTM_FIX_OVERFLOW, 0, NOBODY, NOWHERE, false,
	  "the map would need u 0 100000 65535 at least" },
	{ PASTED, NULL, "", "", 0, 65534, 0, 0, 0, 0, NOBODY, 165534, false, NULL },
	{ "0:0:65536", NULL, "", "", 0, 65534, 0, 0, 0, 0, MAPPED, 0, false, NULL },

	/* other maps of the same container: the default, a section */
	{ PUNCHED, NULL, "", "", 0, 33, 0, 0, CTM_FIX_HOLE, 0, MAPPED, 0, false, NULL },
	{ PUNCHED, NULL, "", "", 0, 100033, 0, 0, 0, 0, HOLE, 33, false,
	  "id 33 of the default map" },
	{ PUNCHED, NULL, "", "", 1, 100033, 0, 0, CTM_FIX_HOLE, 0, HOLE, 33, true,
	  "id 33 of the default map" },
	{ PASTED, NULL, "", "", 0, 100000, 0, 0, 0, 0, HOLE, 0, false, "id 0 of the default map" },
	{ PASTED, NULL, "", "", 0, 101026, 0, 0, CTM_FIX_HOLE, 0, HOLE, 1026, true,
	  "id 1026 of the default map" },
	{ PASTED, NULL, "", "", 0, 101027, 0, 0, CTM_FIX_HOLE, 0, MAPPED, 0, false, NULL },
	{ DEF, NULL, "", "", 0, 700005, 0, 0, CTM_FIX_HOLE, 0, HOLE, 100005, true,
	  "id 5 of the section [before]" },
	{ SHORT, NULL, "", "", 0, 101000, 0, 0, CTM_FIX_HOLE, 0, HOLE, NOWHERE, false,
	  "id 1000 of the default map; the map would need u 0 100000 1001 at least" },

	/* shifted again: the doubled root, a second id, or several names */
	{ DEF, NULL, "200000*3", "", 0, 200000, 0, 0, 0, 0, TWICE, 100000, false,
	  "100000 with the base added once more" },
	{ DEF, NULL, "200000*3", "", 0, 200042, 0, 0, CTM_FIX_TWICE, 0, TWICE, 100042, true,
	  "100042 with the base added once more" },
	{ DEF, NULL, "200033*1 200042*1", "", 0, 200042, 0, 0, 0, 0, TWICE, 100042, false,
	  "100042" },
	{ DEF, NULL, "300000*3 300007*1", "", 0, 300007, 0, 0, CTM_FIX_TWICE, 0, TWICE, 100007,
	  true, "added 2 times more" },
	{ DEF, NULL, "200042*1", "", 0, 200042, 0, 1, 0, 0, TWICE, 100042, false, "100042" },
	{ DEF, NULL, "200042*1", "", 0, 200042, 0, 0, CTM_FIX_TWICE, 0, BEYOND, 0, false,
	  "the map would need u 0 100000 100043 at least" },
	/* root's uid speaks for the gids of its files */
	{ DEF, NULL, "200000*3", "", 1, 200042, 0, 0, CTM_FIX_TWICE, 0, TWICE, 100042, true,
	  "100042" },
	/* the third of neighbouring containers is no user 31072 */
	{ DEF, NULL, "231072*7 231114*3", "", 0, 231114, 0, 0, CTM_FIX_TWICE, 0, BASE, 100042,
	  false, "base 231072, uid of 10 inodes:" },
	{ DEF, NULL, "200000*5 231072*7 231114*3", "", 0, 231072, 0, 1, CTM_FIX_TWICE, 0, BASE,
	  100000, false, "base 231072" },
	{ DEF, NULL, "200000*5 231114*1", "", 0, 265534, 0, 0, CTM_FIX_TWICE, 0, TWICE, 165534,
	  true, "165534" },
	/* a wider map has them, and a nested container may */
	{ WIDE, NULL, "", "", 0, 200000, 0, 0, CTM_FIX_TWICE, 0, MAPPED, 0, false, NULL },
	{ DEF, NULL, "200000*3 200042*1", "", 0, 200042, 1, 0, CTM_FIX_TWICE | CTM_FIX_BASE, 0,
	  BEYOND, 0, false,
	  "of a container inside; the map would need u 0 100000 165536 at least" },
	{ DEF, NULL, "200000*3 200042*1", "", 0, 200042, 1, 1, CTM_FIX_TWICE, 0, BEYOND, 0, false,
	  "of a container inside" },
	/* no file was ever shifted to the map: the whole volume is on another base */
	{ DEF, NULL, "300000*900 300042*100", "", 0, 300042, 0, 0, CTM_FIX_TWICE, 0, BASE, 100042,
	  false, "base 300000, uid of 1000 inodes: --from-map u:0:300000:65536,g:0:100000:65536" },
	/* somebody is known to have it, unless it is a hard link */
	{ DEF, NULL, "400000*3 400001*3", "", 0, 400001, 0, 0, CTM_FIX_TWICE, 0, BASE, 100001,
	  false, "base 400000 of container 116" },
	{ DEF, NULL, "400000*3 400001*3", "", 0, 400001, 0, 1, CTM_FIX_TWICE, 0, TWICE, 100001,
	  true, "added 3 times more" },
	/* a neighbour that has our own base has nothing else */
	{ DEF, NULL, "200000*3", "", 0, 200001, 0, 0, CTM_FIX_TWICE, 0, TWICE, 100001, true,
	  "100001" },

	/* another base: known, its root, or a neighbour with the ids of a system */
	{ DEF, NULL, "165536*990 165578*10", "", 0, 165578, 0, 0, 0, 0, BASE, 100042, false,
	  "base 165536, uid of 1000 inodes: --from-map u:0:165536:65536,g:0:100000:65536" },
	{ DEF, NULL, "165536*500", "165536*400", 1, 231071, 0, 0, CTM_FIX_BASE, 0, BASE, 165535,
	  true, "base 165536, uid of 500 inodes, gid of 400 inodes: --from-map 0:165536:65536" },
	{ DEF, NULL, "", "165545*1 165569*1", 1, 165569, 0, 0, 0, 0, BASE, 100033, false,
	  "base 165536, gid of 2 inodes: --from-map u:0:100000:65536,g:0:165536:65536" },
	{ DEF, NULL, "165545*1 225536*1", "", 0, 165545, 0, 0, CTM_FIX_BASE, 0, BEYOND, 0, false,
	  "the map would need" },
	{ DEF, NULL, "165545*1 231070*1", "", 0, 231070, 0, 0, CTM_FIX_BASE, 0, BASE, 165534, true,
	  "base 165536" },
	{ MILLION, NULL, "1066536*1", "", 0, 1066536, 0, 0, CTM_FIX_BASE, 0, BASE, 1001000, true,
	  "base 1065536, uid of 1 inode:" },
	{ MILLION, NULL, "1066536*1 1131072*7", "", 0, 1131072, 0, 0, CTM_FIX_BASE, 0, BASE,
	  1000000, true, "base 1131072, uid of 7 inodes:" },
	{ "0:527237120:65536", NULL, "527302656*500", "", 0, 527302658, 0, 0, 0, 0, BASE, 527237122,
	  false, "base 527302656" },
	{ DEF, NULL, "325124096*5", "", 0, 325124129, 0, 0, 0, 0, BASE, 100033, false,
	  "base 325124096" },
	{ DEF, NULL, "", "", 0, 400005, 0, 0, CTM_FIX_BASE, 0, BASE, 100005, true,
	  "base 400000 of container 116" },
	{ SHORT, NULL, "400000*5", "", 0, 401000, 0, 0, CTM_FIX_BASE, 0, BASE, NOWHERE, false,
	  "; the map would need u 0 100000 1001 at least" },

	/* never from a number alone */
	{ DEF, NULL, "1029054284*31", "", 0, 1029054284, 0, 0, CTM_FIX_BASE, 0, BEYOND, 0, false,
	  "the map would need u 0 100000 1028954285 at least" },
	{ DEF, NULL, "", "", 1, 70000, 0, 0, CTM_FIX_BASE, 0, BEYOND, 0, false,
	  "the map would need g 0 100000 70001 at least" },
	{ DEF, NULL, "65536*3", "", 0, 65536, 0, 0, CTM_FIX_BASE, 0, BEYOND, 0, false,
	  "the map would need" },
	{ SHORT, NULL, "165536*1", "", 0, 166000, 0, 0, CTM_FIX_BASE, 0, BASE, 100464, true,
	  "base 165536" },
	{ DEF, NULL, "4294967295*1", "", 0, 4294967295, 0, 0, ~0u, 0, BEYOND, 0, false,
	  "no map can hold it" },

	/* what the user says of ids comes first, also of those that are on the map */
	{ DEF, "0:165536:65536", "", "", 0, 165578, 0, 0, 0, 0, FROM, 100042, true, NULL },
	{ DEF, "u:0:165536:65536", "", "", 1, 165578, 0, 0, 0, 0, BEYOND, 0, false, "need" },
	{ DEF, "u:0:1029054284:1", "", "", 0, 1029054284, 0, 0, 0, 0, FROM, 100000, true, NULL },
	{ "0:101000:65536", DEF, "", "", 0, 100000, 0, 0, 0, 0, FROM, 101000, true, NULL },
	{ "0:101000:65536", DEF, "", "", 0, 101000, 0, 0, 0, 0, FROM, 102000, true, NULL },
	{ "0:101000:65536", DEF, "", "", 0, 165536, 0, 0, 0, 0, MAPPED, 0, false, NULL },
	{ DEF, DEF, "", "", 0, 100005, 0, 0, 0, 0, MAPPED, 0, false, NULL },
	{ DEF, "0:0:65536", "", "", 0, 65534, 0, 0, 0, 0, FROM, 165534, true, NULL },
	{ "0:0:4294967295", DEF, "", "", 0, 100033, 0, 0, 0, 0, FROM, 33, true, NULL },
	{ "0:0:4294967295", DEF, "", "", 0, 99999, 0, 0, 0, 0, MAPPED, 0, false, NULL },
	{ SHORT, "0:165536:65536", "", "", 0, 170000, 0, 0, 0, 0, BEYOND, 0, false, "need" },
};

/* "id*n id*n", ascending */
static void counts_of(const char *text, struct ctm_id_histogram *ret)
{
	*ret = (struct ctm_id_histogram){ .v = calloc(8, sizeof(*ret->v)) };
	for (const char *p = text; p && *p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL) {
		char *end;
		uint32_t id = (uint32_t)strtoul(p, &end, 10);

		ret->v[ret->n++] = (struct ctm_id_count){ id, strtoul(end + 1, NULL, 10) };
	}
}

CASES(lens, table, rows)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(rows[*i].map);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *before = map_of("0:700000:65536");
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = NULL;
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { .inodes = 1000 };
	CLEANUP(ctm_lens_done) struct ctm_lens lens = { 0 };
	const struct ctm_kin_map maps[] = { { before, "the section [before]" } };
	const struct ctm_kin_base bases[] = {
		{ CTM_UID, { 0, 100000, 65536 }, "/etc/subuid" },
		{ CTM_UID, { 0, 400000, 65536 }, "container 116" },
	};
	const struct ctm_kin kin = { maps, 1, bases, 2 };
	const struct ctm_place place = { .nested = rows[*i].nested, .links = rows[*i].links };
	ctm_did id = { rows[*i].id };
	struct ctm_verdict got;
	const char *says;
	char buf[256];

	from = rows[*i].from ? map_of(rows[*i].from) : NULL;
	const struct ctm_policy policy = { .map = map,
					   .from = from,
					   .kin = &kin,
					   .fix = rows[*i].fix,
					   .convert = rows[*i].convert };

	counts_of(rows[*i].uids, &totals.ids[CTM_UID]);
	counts_of(rows[*i].gids, &totals.ids[CTM_GID]);
	cr_assert_eq(ctm_lens_init(&lens, &policy), 0);

	/* without the counts an answer is the final one, or unsure */
	ctm_lens_look(&lens, rows[*i].kind, id, &place, &got);
	cr_assert_eq(got.unsure,
		     id.v != UINT32_MAX && (rows[*i].want == TWICE || rows[*i].want == BASE ||
					    rows[*i].want == BEYOND),
		     "row %zu", *i);
	cr_assert(got.unsure || (int)got.class == rows[*i].want, "row %zu", *i);

	cr_assert_eq(ctm_lens_settle(&lens, &totals), 0);
	ctm_lens_look(&lens, rows[*i].kind, id, &place, &got);
	cr_assert_not(got.unsure);
	cr_assert_eq((int)got.class, rows[*i].want, "row %zu: %u is of class %d", *i, id.v,
		     got.class);
	cr_assert_eq(got.moves, rows[*i].moves, "row %zu: %u", *i, id.v);
	if (got.class != CTM_CLASS_MAPPED && got.class != CTM_CLASS_BEYOND) {
		cr_assert_eq(got.placed, rows[*i].to != NOWHERE, "row %zu: %u", *i, id.v);
		cr_assert(!got.placed || got.target.v == rows[*i].to, "row %zu: %u -> %u", *i, id.v,
			  got.target.v);
	}
	says = ctm_lens_say(&lens, rows[*i].kind, id, &got, buf);
	cr_assert_eq(says != NULL, rows[*i].says != NULL, "row %zu: %s", *i, says ? says : "-");
	cr_assert(!says || strstr(says, rows[*i].says), "row %zu: %s", *i, says);
}

/* Which ids were counted is then a matter of threads, so that no class may follow from it. */
static const struct {
	uint32_t id;
	bool links;
	int want;
} uncounted[] = {
	{ 165536, false, BEYOND }, /* BASE when all are counted */
	{ 200000, false, BEYOND }, /* TWICE when all are counted */
	{ 200000, true, TWICE },   /* the names of the inode tell */
	{ 400000, false, BASE },   /* known */
	{ 42, false, HOST },
};

CASES(lens, too_many_ids_to_count, uncounted)
{
	for (int all = 0; all < 2; all++) {
		CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
		CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { .inodes = 1000 };
		CLEANUP(ctm_lens_done) struct ctm_lens lens = { 0 };
		const struct ctm_kin_base base = { CTM_UID, { 0, 400000, 65536 }, "container 116" };
		const struct ctm_kin kin = { .bases = &base, .n_bases = 1 };
		const struct ctm_policy policy = { .map = map, .kin = &kin };
		const struct ctm_place place = { .links = uncounted[*i].links };
		struct ctm_verdict got;

		counts_of("165536*9 200000*9", &totals.ids[CTM_UID]);
		counts_of("", &totals.ids[CTM_GID]);
		totals.ids[CTM_GID].other = !all;
		cr_assert_eq(ctm_lens_init(&lens, &policy), 0);
		cr_assert_eq(ctm_lens_settle(&lens, &totals), 0);
		ctm_lens_look(&lens, CTM_UID, (ctm_did){ uncounted[*i].id }, &place, &got);
		cr_assert(all ? got.class != CTM_CLASS_BEYOND :
				(int)got.class == uncounted[*i].want,
			  "%u: %d", uncounted[*i].id, got.class);
	}
}
