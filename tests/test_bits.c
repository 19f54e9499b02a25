/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that have lost setuid, setgid or a capability: the tables, and what a plan makes of it.
 */
#include "plan/bits.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "cases.h"
#include "facts.h"
#include "plan/fix.h"
#include "rules/bits.h"

#define DEF   "100000"
#define PUNCH "u:0:100000:33,u:33:33:1,u:34:100034:65502,g:0:100000:33,g:33:33:1,g:34:100034:65502"
#define OWN   CTM_BITS_OWN_GROUP
#define SU    "usr/bin/su"

Test(bits, every_row_is_whole)
{
	for (size_t i = 0; i < ctm_bits_sets_n; i++) {
		const struct ctm_bits_set *set = &ctm_bits_sets[i];

		cr_assert(set->name && set->present_if && set->n > 0);
		for (size_t k = 0; k < set->n; k++) {
			const struct ctm_bits *row = &set->rows[k];
			CLEANUP(ctm_buf_done) struct ctm_buf norm = { 0 };

			cr_assert_eq(ctm_path_normalise(row->at, &norm), 0, "%s", row->at);
			cr_assert_str_eq(norm.p, row->at);
			cr_assert(row->package && row->package[0], "%s", row->at);
			cr_assert_eq(row->bits & ~(uint32_t)(S_ISUID | S_ISGID), 0, "%s", row->at);
			cr_assert(k == 0 || strcmp(set->rows[k - 1].at, row->at) < 0, "%s",
				  row->at);
			/* C9 of the known cases: it goes without by design */
			cr_assert_null(strstr(row->at, "ping"), "%s", row->at);
			cr_assert_null(ctm_rules_match(row->at, strlen(row->at), NULL));
		}
	}
}

static const struct {
	const char *name;
	const char *map;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	uint32_t nlink;
	bool caps;
	struct ctm_expected want;
	bool found;
	uint32_t set; /* mode that --fix bits gives, 0: none */
} rows[] = {
	/* what a distribution ships: said, and never set */
	{ "as it should be", DEF, 04755, 100000, 100000, 1, false, { .bits = S_ISUID }, false, 0 },
	{ "setuid is gone", DEF, 0755, 100000, 100000, 1, false, { .bits = S_ISUID }, true, 0 },
	{ "mode of another release",
	  DEF,
	  0111,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID },
	  true,
	  0 },
	{ "setgid is gone",
	  DEF,
	  0755,
	  100000,
	  100042,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { 42 } },
	  true,
	  0 },
	{ "one of two is gone",
	  DEF,
	  02755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID | S_ISGID },
	  true,
	  0 },
	{ "closed on purpose", DEF, 0700, 100000, 100000, 1, false, { .bits = S_ISUID }, false, 0 },
	{ "a capability in its place",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  true,
	  { .bits = S_ISUID },
	  false,
	  0 },
	{ "another user", DEF, 0755, 101000, 100000, 1, false, { .bits = S_ISUID }, false, 0 },
	{ "another group",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { 42 } },
	  false,
	  0 },
	{ "a directory",
	  DEF,
	  S_IFDIR | 0755,
	  100000,
	  100000,
	  2,
	  false,
	  { .bits = S_ISUID },
	  false,
	  0 },
	{ "a link", DEF, S_IFLNK | 0777, 100000, 100000, 1, false, { .bits = S_ISUID }, false, 0 },
	{ "a group of its own",
	  DEF,
	  0755,
	  100000,
	  100105,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { OWN } },
	  true,
	  0 },
	{ "a group of its own is not root",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { OWN } },
	  false,
	  0 },
	{ "a group of its own is in the map",
	  DEF,
	  0755,
	  100000,
	  170105,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { OWN } },
	  false,
	  0 },
	{ "a capability is gone", DEF, 0755, 100000, 100000, 1, false, { .bits = 0 }, true, 0 },
	{ "a capability is there", DEF, 0755, 100000, 100000, 1, true, { .bits = 0 }, false, 0 },
	{ "setuid in place of a capability",
	  DEF,
	  04755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = 0 },
	  false,
	  0 },
	{ "two names", DEF, 0755, 100000, 100000, 2, false, { .bits = S_ISUID }, true, 0 },
	/* a record of the container's */
	{ "recorded",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04755, .recorded = true, .exact = true },
	  true,
	  04755 },
	{ "recorded, in force",
	  DEF,
	  04755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04755, .recorded = true, .exact = true },
	  false,
	  0 },
	{ "recorded, closed to others",
	  DEF,
	  0750,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04750, .recorded = true, .exact = true },
	  true,
	  04750 },
	{ "recorded, both",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID | S_ISGID, .mode = 06755, .recorded = true, .exact = true },
	  true,
	  06755 },
	{ "recorded, one is left",
	  DEF,
	  02755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID | S_ISGID, .mode = 06755, .recorded = true, .exact = true },
	  true,
	  06755 },
	{ "recorded, by number",
	  DEF,
	  0755,
	  101000,
	  100042,
	  1,
	  false,
	  { .bits = S_ISGID,
	    .uid = { 1000 },
	    .gid = { 42 },
	    .mode = 02755,
	    .recorded = true,
	    .exact = true },
	  true,
	  02755 },
	{ "recorded, with a capability",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  true,
	  { .bits = S_ISUID, .mode = 04755, .recorded = true, .exact = true },
	  true,
	  04755 },
	{ "a name was resolved",
	  DEF,
	  0755,
	  100000,
	  100042,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { 42 }, .mode = 02755, .recorded = true },
	  true,
	  0 },
	{ "a name was not resolved",
	  DEF,
	  0755,
	  100000,
	  100105,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { OWN }, .mode = 02755, .recorded = true },
	  true,
	  0 },
	{ "open to more than is recorded",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04750, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "open to fewer than is recorded",
	  DEF,
	  0700,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04755, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "others may write it",
	  DEF,
	  0777,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID | S_ISGID, .mode = 06777, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "absurd",
	  DEF,
	  0777,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID | S_ISGID, .mode = 07777, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "sticky",
	  DEF,
	  0755,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 05755, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "no program",
	  DEF,
	  0644,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04644, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "no program of the group's",
	  DEF,
	  0745,
	  100000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISGID, .mode = 02745, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "recorded, two names",
	  DEF,
	  0755,
	  100000,
	  100000,
	  2,
	  false,
	  { .bits = S_ISUID, .mode = 04755, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "recorded, somebody else's",
	  DEF,
	  0755,
	  101000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04755, .recorded = true, .exact = true },
	  false,
	  0 },
	{ "an id of the host's that is passed through",
	  PUNCH,
	  0755,
	  33,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .uid = { 33 }, .mode = 04755, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "a group of the host's that is passed through",
	  PUNCH,
	  0755,
	  100000,
	  33,
	  1,
	  false,
	  { .bits = S_ISGID, .gid = { 33 }, .mode = 02755, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "root is passed through",
	  "0:0:65536",
	  0755,
	  0,
	  0,
	  1,
	  false,
	  { .bits = S_ISUID, .mode = 04755, .recorded = true, .exact = true },
	  true,
	  0 },
	{ "out of the map",
	  DEF,
	  0755,
	  170000,
	  100000,
	  1,
	  false,
	  { .bits = S_ISUID, .uid = { 70000 }, .mode = 04755, .recorded = true, .exact = true },
	  false,
	  0 },
};

static struct ctm_plan *plan_for(const struct ctm_policy *policy, const struct ctm_expected *want,
				 const struct ctm_fact *fact, bool also_scanned)
{
	struct ctm_scan_totals totals = { .entries = 100, .inodes = 100 };
	struct ctm_plan *plan = NULL;

	cr_assert_eq(ctm_plan_new(policy, &plan), 0);
	cr_assert_eq(ctm_plan_expect(plan, want, fact), 0);
	/* once more is no more */
	cr_assert_eq(ctm_plan_expect(plan, want, fact), 0);
	if (also_scanned) {
		cr_assert_eq(ctm_plan_fact(fact, plan), 0);
	}
	ctm_plan_totals(plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	return plan;
}

static struct ctm_expected want_of(size_t i)
{
	struct ctm_expected want = rows[i].want;

	want.what = "the test";
	return want;
}

CASES(bits, plan, rows)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(rows[*i].map);
	const struct ctm_expected want = want_of(*i);
	struct ctm_fact fact = fact_of(SU, rows[*i].mode, rows[*i].uid, rows[*i].gid);

	fact.nlink = rows[*i].nlink;
	if (rows[*i].caps) {
		fact.caps = CAPS_V2;
	}
	for (int fix = 0; fix < 2; fix++) {
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
		const struct ctm_policy policy = {
			.map = map,
			.fix = fix ? CTM_FIX_BITS : ~(unsigned int)CTM_FIX_BITS,
		};
		const struct ctm_action *a;
		const bool set = fix && rows[*i].set;

		plan = plan_for(&policy, &want, &fact, false);
		cr_assert_eq(findings_of(plan, CTM_F_BITS_LOST), rows[*i].found, "%s",
			     rows[*i].name);
		cr_assert_eq(plan->actions.n, set, "%s", rows[*i].name);
		if (plan->findings.n == rows[*i].found) {
			cr_assert_eq(ctm_plan_has_work(plan), set, "%s: information only",
				     rows[*i].name);
			cr_assert(!ctm_plan_has_leftover(plan), "%s", rows[*i].name);
		}
		if (!set) {
			continue;
		}
		a = action_at(plan, SU);
		cr_assert(a && a->kind == CTM_ACT_SET && a->cause == CTM_F_BITS_LOST);
		cr_assert_eq(a->before.mode, fact.mode, "%s", rows[*i].name);
		cr_assert_eq(a->after.mode, S_IFREG | rows[*i].set, "%s: %o", rows[*i].name,
			     a->after.mode);
		cr_assert_eq(a->after.uid.v, fact.uid.v, "%s", rows[*i].name);
		cr_assert_eq(a->after.gid.v, fact.gid.v, "%s", rows[*i].name);
		cr_assert(ctm_bytes_eq(a->after.caps, fact.caps), "%s", rows[*i].name);
	}
}

static const struct ctm_expected recorded = {
	.bits = S_ISUID,
	.mode = 04755,
	.recorded = true,
	.exact = true,
	.what = "the test",
};

/* Its owner is right, an entry of its ACL is not: one action for both. */
Test(bits, with_another_repair)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_BITS };
	struct ctm_fact fact = fact_of(SU, 0755, 100000, 100000);
	unsigned char acl[4 + 8 * 8];
	const struct ctm_action *a;

	fact.acl_access = acl_of("u::rwx,u:33:r-x,g::r-x,m::r-x,o::r-x", acl);
	plan = plan_for(&policy, &recorded, &fact, true);
	cr_assert_eq(plan->actions.n, 1);
	a = action_at(plan, SU);
	cr_assert_eq(a->after.mode, S_IFREG | 04755);
	cr_assert(!ctm_bytes_eq(a->after.acl_access, a->before.acl_access));
	cr_assert_not_null(finding_at(plan, CTM_F_ACL_HOST, SU));
	cr_assert_not_null(finding_at(plan, CTM_F_BITS_LOST, SU));
	cr_assert_eq(plan->findings.n, 2);
}

Test(bits, a_fact_of_a_healthy_file)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_BITS };
	const struct ctm_fact fact = fact_of(SU, 0755, 100000, 100000);

	plan = plan_for(&policy, &recorded, &fact, true);
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_eq(plan->findings.n, 1);
}

/* Its owner is the host's, too: one run is enough for both. */
Test(bits, owner_and_bits)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_BITS };
	const struct ctm_fact fact = fact_of(SU, 0755, 0, 100000);

	plan = plan_for(&policy, &recorded, &fact, true);
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_eq(plan->actions.v[0].after.mode, S_IFREG | 04755);
	cr_assert_eq(plan->actions.v[0].after.uid.v, 100000);
	cr_assert_eq(plan->actions.v[0].cause, CTM_F_OWN_HOST);
	cr_assert_eq(findings_of(plan, CTM_F_BITS_LOST), 1);
}

/* Between the two looks it became another one: the next run will see. */
Test(bits, changed_meanwhile)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_BITS };
	struct ctm_scan_totals totals = { .entries = 100, .inodes = 100 };
	struct ctm_fact fact = fact_of(SU, 0755, 100000, 100000);

	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_eq(ctm_plan_expect(plan, &recorded, &fact), 0);
	fact.mode = S_IFREG | 0711;
	fact.gid.v = 0;
	cr_assert_eq(ctm_plan_fact(&fact, plan), 0);
	ctm_plan_totals(plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_eq(plan->actions.v[0].after.mode, S_IFREG | 0711);
	cr_assert_eq(findings_of(plan, CTM_F_BITS_LOST), 0);
}

Test(bits, immutable)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_fact fact = fact_of(SU, 0755, 100000, 100000);

	fact.attr = CTM_ATTR_IMMUTABLE;
	for (int fix = 0; fix < 2; fix++) {
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
		const struct ctm_policy policy = { .map = map, .fix = fix ? CTM_FIX_BITS : 0 };

		plan = plan_for(&policy, &recorded, &fact, false);
		cr_assert_eq(plan->actions.n, 0);
		cr_assert_eq(findings_of(plan, CTM_F_BITS_LOST), 1);
		cr_assert_eq(findings_of(plan, CTM_F_ATTR_FLAG), (size_t)fix);
	}
}

/* A record may name any file, also one that is going to be removed. */
Test(bits, not_of_a_lock)
{
	static const bool rules_on[16] = { [0 ... 15] = true };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = {
		.map = map,
		.fix = CTM_FIX_BITS,
		.clean = CTM_CLEAN_ALL,
		.rules_on = rules_on,
	};
	const struct ctm_fact fact = fact_of("var/lib/dpkg/lock", 0755, 100000, 100000);

	plan = plan_for(&policy, &recorded, &fact, true);
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_eq(plan->actions.v[0].kind, CTM_ACT_REMOVE);
	cr_assert_eq(findings_of(plan, CTM_F_BITS_LOST), 0);
}

Test(bits, flatten_expects_nothing)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_BITS, .flatten = true };
	const struct ctm_fact fact = fact_of(SU, 0755, 100000, 100000);

	plan = plan_for(&policy, &recorded, &fact, true);
	cr_assert_eq(plan->actions.n, 0);
	cr_assert_eq(plan->findings.n, 0);
}

/* As many as a record may name, in no order. */
Test(bits, many)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_BITS };
	char paths[1024][16];

	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	for (unsigned int i = 0; i < ARRAY_LEN(paths); i++) {
		struct ctm_fact fact;

		(void)snprintf(paths[i], sizeof(paths[i]), "opt/%u", i * 7919U % 1024U);
		fact = fact_of(paths[i], 0755, 100000, 100000);
		cr_assert_eq(ctm_plan_expect(plan, &recorded, &fact), 0);
	}
	for (unsigned int i = 0; i < ARRAY_LEN(paths); i += 2) {
		const struct ctm_fact fact = fact_of(paths[i], 0755, 100000, 100000);

		cr_assert_eq(ctm_plan_fact(&fact, plan), 0);
	}
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	cr_assert_eq(plan->actions.n, ARRAY_LEN(paths));
	cr_assert_eq(findings_of(plan, CTM_F_BITS_LOST), ARRAY_LEN(paths));
}
