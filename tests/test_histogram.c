/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inodes by the base of their ids, held against counts made by hand. */
#include "plan/histogram.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "plan/fix.h"
#include "report/histogram.h"
#include "scan/totals.h"

struct owner {
	uint32_t uid;
	uint32_t gid;
};

static const struct {
	const char *name;
	const char *map;
	struct owner owners[6]; /* of files that are wrong, or right and count */
	size_t n;
	unsigned int fix;
	const char *want; /* a row in a line: kind ids base first last before after */
} rows[] = {
	{ "all right",
	  "100000",
	  { { 100000, 100000 }, { 100033, 165535 } },
	  2,
	  0,
	  "uid mapped 0 100000 165535 2 2\ngid mapped 0 100000 165535 2 2\n" },
	{ "no inode at all",
	  "100000",
	  { { 0 } },
	  0,
	  0,
	  "uid mapped 0 100000 165535 0 0\ngid mapped 0 100000 165535 0 0\n" },
	{ "uid and gid apart",
	  "100000",
	  { { 0, 100000 }, { 33, 0 }, { 100000, 42 }, { 100000, 100000 }, { 100000, 100000 } },
	  5,
	  0,
	  "uid mapped 0 100000 165535 3 5\nuid host 0 0 33 2 0\n"
	  "gid mapped 0 100000 165535 3 5\ngid host 0 0 42 2 0\n" },
	{ "a base that is left",
	  "100000",
	  { { 165536, 100000 }, { 165578, 100000 }, { 100000, 100000 }, { 0, 100000 } },
	  4,
	  0,
	  "uid mapped 0 100000 165535 1 2\nuid host 0 0 0 1 0\nuid base 165536 165536 165578 2 2\n"
	  "gid mapped 0 100000 165535 4 4\n" },
	{ "and one that moves",
	  "100000",
	  { { 165536, 100000 },
	    { 165578, 100000 },
	    { 100000, 100000 },
	    { 100000, 100000 },
	    { 100000, 100000 } },
	  5,
	  CTM_FIX_BASE,
	  "uid mapped 0 100000 165535 3 5\nuid base 165536 165536 165578 2 0\n"
	  "gid mapped 0 100000 165535 5 5\n" },
	{ "ids that fit nothing",
	  "100000",
	  { { 1029054284, 100000 }, { 3000000001, 100000 }, { 100000, 100000 } },
	  3,
	  0,
	  "uid mapped 0 100000 165535 1 1\nuid other 0 1029054284 3000000001 2 2\n"
	  "gid mapped 0 100000 165535 3 3\n" },
	{ "the default map, left for another one",
	  "1000000",
	  { { 100000, 1000000 },
	    { 100033, 1000000 },
	    { 1000000, 1000000 },
	    { 1000000, 1000000 },
	    { 1000000, 1000000 } },
	  5,
	  0,
	  "uid mapped 0 1000000 1065535 3 3\nuid base 100000 100000 100033 2 2\n"
	  "gid mapped 0 1000000 1065535 5 5\n" },
	{ "a map in pieces",
	  "u:0:100000:33,u:33:33:1,u:34:100034:65502,g:0:100000:65536",
	  { { 33, 100000 }, { 100034, 100000 }, { 100033, 100000 } },
	  3,
	  0,
	  "uid mapped 0 33 165535 2 2\nuid base 100000 100033 100033 1 1\n"
	  "gid mapped 0 100000 165535 3 3\n" },
	{ "a tree that is refused stays",
	  "100000",
	  { { 0, 0 }, { 0, 0 }, { 100000, 100000 } },
	  3,
	  0,
	  "uid mapped 0 100000 165535 1 1\nuid host 0 0 0 2 2\n"
	  "gid mapped 0 100000 165535 1 1\ngid host 0 0 0 2 2\n" },
};

static struct ctm_plan *counted_plan(const struct ctm_policy *policy, const struct owner *owners,
				     size_t n)
{
	const struct ctm_scan_request req = { .map = policy->map };
	static char paths[6][32];
	struct ctm_scan_totals totals;
	struct ctm_tally tally = { 0 };
	struct ctm_plan *plan = NULL;
	struct ctm_sieve sieve;

	cr_assert_eq(ctm_plan_new(policy, &plan), 0);
	ctm_sieve_init(&sieve, &req);
	for (size_t i = 0; i < n; i++) {
		struct ctm_fact fact;

		(void)snprintf(paths[i], sizeof(paths[i]), "srv/%zu", i);
		fact = fact_of(paths[i], 0644, owners[i].uid, owners[i].gid);
		ctm_tally_inode(&tally, &sieve, ctm_sieve_owner(&sieve, fact.uid, fact.gid),
				fact.mode, 1, fact.uid, fact.gid);
		cr_assert_eq(ctm_plan_fact(&fact, plan), 0);
	}
	cr_assert_eq(ctm_tally_finish(&tally, &totals), 0);
	ctm_tally_done(&tally);
	ctm_plan_totals(plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	return plan;
}

CASES(histogram, rows_by_base, rows)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(rows[*i].map);
	const struct ctm_policy policy = { .map = map, .fix = rows[*i].fix, .raw_volume = true };
	CLEANUP(ctm_planp_free)
	struct ctm_plan *plan = counted_plan(&policy, rows[*i].owners, rows[*i].n);
	CLEANUP(ctm_histogram_done) struct ctm_histogram h = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };

	cr_assert_eq(ctm_histogram_make(plan, &h), 0);
	for (size_t k = 0; k < h.rows.n; k++) {
		const struct ctm_histogram_row *row = &h.rows.v[k];

		cr_assert_eq(ctm_buf_addf(&got, "%s %s %u %u %u %lu %lu\n",
					  row->kind == CTM_UID ? "uid" : "gid",
					  ctm_ids_word(row->ids), row->base, row->first, row->last,
					  (unsigned long)row->before, (unsigned long)row->after),
			     0);
	}
	cr_assert_str_eq(got.p, rows[*i].want, "%s:\n%s", rows[*i].name, got.p);
}

Test(histogram, views)
{
	static const struct owner owners[] = { { 0, 100000 },
					       { 100000, 100000 },
					       { 165536, 100000 } };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	const struct ctm_policy policy = { .map = map, .raw_volume = true };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = counted_plan(&policy, owners, 3);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *root = ctm_histogram_json(plan);
	const json_t *uids = json_object_get(root, "uid");
	json_t *base = json_array_get(uids, 2);

	cr_assert_eq(ctm_histogram_text(out, plan), 0);
	cr_assert_eq(fclose(out), 0);
	cr_assert_not_null(strstr(text, "KIND IDS"), "%s", text);
	cr_assert_not_null(strstr(text, "uid  base 165536"), "%s", text);
	free(text);
	cr_assert_eq(json_array_size(uids), 3);
	cr_assert_eq(json_array_size(json_object_get(root, "gid")), 1);
	cr_assert_eq(json_integer_value(json_object_get(base, "base")), 165536);
	cr_assert(json_is_null(json_object_get(json_array_get(uids, 0), "base")));
	cr_assert_eq(json_integer_value(json_object_get(json_array_get(uids, 0), "after")), 2);
	json_decref(root);
}

/* More bases than anybody has: the rest is other. */
Test(histogram, bounded)
{
	enum { N = 3 * CTM_HISTOGRAM_BASES };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	const struct ctm_policy policy = { .map = map, .raw_volume = true };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_histogram_done) struct ctm_histogram h = { 0 };
	struct ctm_scan_totals totals = { .inodes = N };
	uint64_t sum = 0;

	totals.ids[CTM_UID].v = calloc(N, sizeof(*totals.ids[CTM_UID].v));
	cr_assert_not_null(totals.ids[CTM_UID].v);
	totals.ids[CTM_UID].n = N;
	for (uint32_t k = 0; k < N; k++) {
		totals.ids[CTM_UID].v[k] = (struct ctm_id_count){ (k + 10) * 1000000, 1 };
	}
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	ctm_plan_totals(plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	cr_assert_eq(ctm_histogram_make(plan, &h), 0);
	cr_assert_leq(h.rows.n, CTM_HISTOGRAM_BASES + 3);
	for (size_t k = 0; k < h.rows.n; k++) {
		sum += h.rows.v[k].kind == CTM_UID ? h.rows.v[k].before : 0;
	}
	cr_assert_eq(sum, N);
}
