/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting: every inode once, whatever the number of its names, threads and ids. */
#include "scan/totals.h"

#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "prng.h"
#include "scan/sieve.h"

#define BOTH (CTM_OFF(CTM_UID) | CTM_OFF(CTM_GID))

static void count(struct ctm_tally *tally, uint32_t mode, uint32_t nlink, uint32_t uid,
		  uint32_t gid)
{
	static const struct ctm_scan_request no_map = { .jobs = 1 };
	struct ctm_sieve sieve;

	ctm_sieve_init(&sieve, &no_map);
	ctm_tally_inode(tally, &sieve, BOTH, mode, nlink, (ctm_did){ uid }, (ctm_did){ gid });
}

/* Takes the tally apart as well. */
static struct ctm_scan_totals finish(struct ctm_tally *tally)
{
	struct ctm_scan_totals totals = { 0 };

	cr_assert_eq(ctm_tally_finish(tally, &totals), 0);
	ctm_tally_done(tally);
	return totals;
}

static const struct {
	const char *name;
	uint32_t nlink;
	uint32_t inodes;
} links[] = {
	{ "deleted while it was looked at", 0, 3 },
	{ "one name", 1, 1000 },
	{ "two names", 2, 1000 },
	{ "three names", 3, 1000 },
	{ "seven names", 7, 1000 },
	{ "ext4's limit", 65000, 20 },
	{ "a prime", 65521, 20 },
	{ "a million", 1000003, 2 },
};

CASES(totals, a_hard_link_counts_once, links)
{
	struct ctm_tally tally = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
	const uint32_t names = links[*i].nlink ? links[*i].nlink : 1;

	for (uint64_t k = 0; k < (uint64_t)names * links[*i].inodes; k++) {
		count(&tally, S_IFREG | 0644, links[*i].nlink, 0, 5);
	}
	totals = finish(&tally);
	cr_assert_eq(totals.inodes, links[*i].inodes, "%s: %lu", links[*i].name, totals.inodes);
	cr_assert_eq(totals.ids[CTM_UID].n, 1, "%s", links[*i].name);
	cr_assert_eq(totals.ids[CTM_UID].v[0].n, links[*i].inodes, "%s", links[*i].name);
	cr_assert_eq(totals.ids[CTM_GID].v[0].id, 5, "%s", links[*i].name);
}

Test(totals, links_of_all_degrees_together)
{
	struct ctm_tally tally = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };

	for (uint32_t nlink = 1; nlink <= 2000; nlink++) {
		for (uint32_t name = 0; name < nlink; name++) {
			count(&tally, S_IFREG | 0644, nlink, 0, 0);
		}
	}
	totals = finish(&tally);
	cr_assert_eq(totals.inodes, 2000);
}

Test(totals, directories_have_links_of_their_own)
{
	struct ctm_tally tally = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };

	count(&tally, S_IFDIR | 0755, 17, 0, 0);
	count(&tally, S_IFDIR | 0755, 1, 0, 0);
	count(&tally, S_IFREG | 0644, 1, 0, 0);
	totals = finish(&tally);
	cr_assert_eq(totals.dirs, 2);
	cr_assert_eq(totals.inodes, 3);
}

Test(totals, an_id_that_occurs_counts)
{
	struct ctm_tally tally = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };

	/* One of three names is inside. */
	count(&tally, S_IFREG | 0644, 3, 7, 8);
	totals = finish(&tally);
	cr_assert_eq(totals.ids[CTM_UID].v[0].n, 1);
	cr_assert_eq(totals.ids[CTM_GID].v[0].n, 1);
}

Test(totals, only_ids_off_the_map)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_tally tally = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
	const ctm_did in = { 100000 }, host = { 33 }, beyond = { 300000 };
	struct ctm_sieve sieve;

	cr_assert_eq(ctm_idmap_add_default(map), 0);
	ctm_sieve_init(&sieve, &(struct ctm_scan_request){ .map = map });
	ctm_tally_inode(&tally, &sieve, 0, S_IFREG, 1, in, in);
	ctm_tally_inode(&tally, &sieve, CTM_OFF(CTM_UID), S_IFREG, 1, host, in);
	ctm_tally_inode(&tally, &sieve, CTM_OFF(CTM_GID), S_IFREG, 1, in, beyond);
	ctm_tally_inode(&tally, &sieve, BOTH, S_IFREG, 1, beyond, host);
	totals = finish(&tally);
	cr_assert_eq(totals.inodes, 4);
	cr_assert_eq(totals.host[CTM_UID], 1);
	cr_assert_eq(totals.host[CTM_GID], 1);
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		cr_assert_eq(totals.ids[kind].n, 2);
		cr_assert_eq(totals.ids[kind].v[0].id, 33);
		cr_assert_eq(totals.ids[kind].v[0].n, 1);
		cr_assert_eq(totals.ids[kind].v[1].id, 300000);
		cr_assert_eq(totals.ids[kind].v[1].n, 1);
		cr_assert_eq(totals.ids[kind].other, 0);
	}
}

Test(totals, threads_add_up)
{
	struct ctm_tally one = { 0 }, part[3] = { 0 }, sum = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals want = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals got = { 0 };
	uint64_t state = PRNG_SEED;

	for (uint32_t k = 0; k < 30000; k++) {
		const uint32_t uid = prng_below(&state, 3000) << 16, gid = prng(&state);

		count(&one, S_IFREG, 1, uid, gid % 1000);
		count(&part[k % 3], S_IFREG, 1, uid, gid % 1000);
		one.entries++;
		part[k % 3].entries++;
		if (ctm_tally_large(&part[k % 3])) {
			ctm_tally_merge(&sum, &part[k % 3]);
		}
	}
	part[1].errors = 5;
	for (int k = 0; k < 3; k++) {
		ctm_tally_merge(&sum, &part[k]);
		cr_assert_eq(part[k].entries, 0, "a merged tally is empty");
	}
	want = finish(&one);
	got = finish(&sum);
	cr_assert_eq(got.entries, want.entries);
	cr_assert_eq(got.inodes, want.inodes);
	cr_assert_eq(got.errors, 5);
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		cr_assert_eq(got.ids[kind].n, want.ids[kind].n);
		for (size_t k = 0; k < want.ids[kind].n; k++) {
			cr_assert_eq(got.ids[kind].v[k].id, want.ids[kind].v[k].id);
			cr_assert_eq(got.ids[kind].v[k].n, want.ids[kind].v[k].n);
			cr_assert(k == 0 || got.ids[kind].v[k - 1].id < got.ids[kind].v[k].id);
		}
	}
}

/* A tree can be made of inodes with an owner each. */
Test(totals, more_ids_than_are_counted)
{
	struct ctm_tally tally = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
	uint64_t sum = 0;

	for (uint32_t k = 0; k < CTM_ID_COUNT_MAX + 1000; k++) {
		count(&tally, S_IFREG, 1, k * 7, 0);
		count(&tally, S_IFREG, 1, k * 7, 0);
	}
	totals = finish(&tally);
	cr_assert_eq(totals.ids[CTM_UID].n, CTM_ID_COUNT_MAX);
	cr_assert_eq(totals.ids[CTM_UID].other, 2000);
	cr_assert_eq(totals.ids[CTM_GID].n, 1);
	for (size_t k = 0; k < totals.ids[CTM_UID].n; k++) {
		sum += totals.ids[CTM_UID].v[k].n;
	}
	cr_assert_eq(sum, 2 * CTM_ID_COUNT_MAX);
}

Test(totals, nothing)
{
	struct ctm_tally tally = { 0 };
	struct ctm_scan_totals totals = finish(&tally);

	cr_assert_eq(totals.inodes, 0);
	cr_assert_null(totals.ids[CTM_UID].v);
	ctm_scan_totals_done(&totals);
	ctm_source_free(NULL);
}

/* The disk id of the container's 65534 is right where it is, and a relic where it is everywhere. */
Test(totals, nobody_is_counted_apart)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *plain = ctm_idmap_new();
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
	const ctm_did nobody = { 165534 }, root = { 100000 }, raw = { 65534 };
	struct ctm_tally tally = { 0 };
	struct ctm_tally more = { 0 };
	struct ctm_sieve sieve;

	cr_assert_eq(ctm_idmap_add_default(map), 0);
	ctm_sieve_init(&sieve, &(struct ctm_scan_request){ .map = map });
	for (int name = 0; name < 2; name++) {
		ctm_tally_inode(&tally, &sieve, 0, S_IFREG, 2, nobody, root);
	}
	ctm_tally_inode(&tally, &sieve, 0, S_IFDIR, 9, nobody, nobody);
	ctm_tally_inode(&more, &sieve, 0, S_IFREG, 1, root, nobody);
	ctm_tally_inode(&more, &sieve, BOTH, S_IFREG, 1, raw, raw);
	ctm_tally_merge(&tally, &more);
	totals = finish(&tally);
	cr_assert_eq(totals.nobody[CTM_UID], 2);
	cr_assert_eq(totals.nobody[CTM_GID], 2);
	ctm_scan_totals_done(&totals);

	/* nothing tells 65534 from 65534 where ids are not shifted */
	cr_assert_eq(ctm_idmap_add(plain, CTM_UID, (struct ctm_range){ 0, 0, 65536 }), 0);
	ctm_sieve_init(&sieve, &(struct ctm_scan_request){ .map = plain });
	ctm_tally_inode(&tally, &sieve, CTM_OFF(CTM_GID), S_IFREG, 1, raw, raw);
	totals = finish(&tally);
	cr_assert_eq(totals.nobody[CTM_UID], 0);
	cr_assert_eq(totals.nobody[CTM_GID], 0);
}

/*
 * What --from-map says more of is none of the host's, and still in the histogram when off the map.
 */
Test(totals, ids_of_the_other_map_are_not_the_hosts)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = ctm_idmap_new();
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
	struct ctm_scan_request req = { .map = map, .from = from };
	const ctm_did ids[] = { { 0 }, { 9 }, { 10 }, { 100005 }, { 165530 } };
	struct ctm_tally tally = { 0 };
	struct ctm_sieve sieve;

	cr_assert_eq(ctm_idmap_add_default(map), 0);
	/* the container's 0..9 at 0..9 and 10 at 100005 */
	cr_assert_eq(ctm_idmap_add(from, CTM_UID, (struct ctm_range){ 0, 0, 10 }), 0);
	cr_assert_eq(ctm_idmap_add(from, CTM_UID, (struct ctm_range){ 10, 100005, 1 }), 0);
	ctm_sieve_init(&sieve, &req);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		static const unsigned int want[] = { CTM_OFF(CTM_UID) | CTM_FROM(CTM_UID),
						     CTM_OFF(CTM_UID) | CTM_FROM(CTM_UID),
						     CTM_OFF(CTM_UID), CTM_FROM(CTM_UID), 0 };
		unsigned int off = ctm_sieve_owner(&sieve, ids[i], (ctm_did){ 100000 });

		cr_assert_eq(off, want[i], "id %u: %x", ids[i].v, off);
		ctm_tally_inode(&tally, &sieve, off, S_IFREG, 1, ids[i], (ctm_did){ 100000 });
	}
	totals = finish(&tally);
	cr_assert_eq(totals.host[CTM_UID], 1);
	cr_assert_eq(totals.ids[CTM_UID].n, 3);
	cr_assert_eq(totals.ids[CTM_GID].n, 0);
}
