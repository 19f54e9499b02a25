/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What needs all facts: hard links, the limit of half a tree, one order for any order of arrival.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "plan/fix.h"
#include "prng.h"

#define DEF "100000"

static const char *const part[] = { "a" };
static const char *const all[] = { "a", "" };

/* Facts of one inode with nlink names, of which the given ones are seen. */
static struct ctm_plan *linked(const struct ctm_policy *policy, const char *const *names, size_t n,
			       uint32_t nlink)
{
	struct ctm_fact facts[4];

	for (size_t i = 0; i < n; i++) {
		facts[i] = fact_of(names[i], 04755, 0, 0);
		facts[i].ino = 12;
		facts[i].nlink = nlink;
	}
	return plan_of(policy, facts, n);
}

static const struct {
	const char *name;
	bool raw;
	bool part;
	uint32_t nlink;
	bool repaired;
	bool outside;
	const char *text; /* of the first finding */
} links[] = {
	{ "all names in a directory volume", false, false, 3, true, false, NULL },
	{ "all names in a raw volume", true, false, 3, true, false, NULL },
	{ "all names in a selection", false, true, 3, true, false, NULL },
	{ "a name outside a directory volume", false, false, 4, false, true, NULL },
	{ "a raw volume has no outside", true, false, 4, true, false, NULL },
	{ "names outside a selection", true, true, 5, true, false,
	  "3 of 5 names are inside the selection" },
	{ "names outside a selection of a directory", false, true, 4, false, true, NULL },
};

CASES(finish, links, links)
{
	static const char *const names[] = { "b/2", "a/9", "a/b/1" };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = {
		.map = map,
		.raw_volume = links[*i].raw,
		.starts = part,
		.n_starts = links[*i].part,
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = linked(&policy, names, 3, links[*i].nlink);
	const struct ctm_finding *f = finding_at(plan, CTM_F_OWN_HOST, "a/9");

	cr_assert_eq(plan->actions.n, links[*i].repaired, "%s", links[*i].name);
	cr_assert_not_null(f, "%s: stands at its first name", links[*i].name);
	cr_assert_eq(findings_of(plan, CTM_F_OWN_HOST), 2, "%s: one inode", links[*i].name);
	cr_assert_eq(f->action == CTM_NO_ACTION, !links[*i].repaired, "%s", links[*i].name);
	cr_assert_eq(findings_of(plan, CTM_F_LINK_OUTSIDE), links[*i].outside, "%s",
		     links[*i].name);
	cr_assert(links[*i].text ? f->text && strcmp(f->text, links[*i].text) == 0 : !f->text,
		  "%s: %s", links[*i].name, f->text);
	if (links[*i].repaired) {
		cr_assert_str_eq(plan->actions.v[0].path, "a/9", "%s", links[*i].name);
		cr_assert_eq(plan->actions.v[0].names, 3, "%s", links[*i].name);
		cr_assert_eq(plan->actions.v[0].nlink, links[*i].nlink, "%s", links[*i].name);
		cr_assert_not(ctm_plan_has_leftover(plan), "%s", links[*i].name);
	} else {
		cr_assert_str_eq(finding_at(plan, CTM_F_LINK_OUTSIDE, "a/9")->text,
				 "3 of 4 names are inside the volume");
		cr_assert(ctm_plan_has_leftover(plan), "%s", links[*i].name);
	}
}

static const struct {
	const char *name;
	bool raw;
	uint32_t nlink;
	size_t all; /* names in the whole volume, those of the selection included */
	bool wanted;
	bool repaired;
	const char *text; /* of the first finding of the owner, or of link.outside */
} others[] = {
	{ "no name elsewhere", false, 2, 2, false, true, NULL },
	{ "a raw volume has no outside", true, 4, 3, false, true,
	  "2 of 4 names are inside the selection" },
	{ "elsewhere in the volume", false, 4, 4, true, true,
	  "2 of 4 names are inside the selection" },
	{ "outside", false, 4, 3, true, false, "3 of 4 names are inside the volume" },
	{ "outside alone", false, 3, 2, true, false, "2 of 3 names are inside the volume" },
};

CASES(finish, names_outside_a_selection, others)
{
	static const char *const names[] = { "a/1", "a/2", "b/1", "c/1" };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	const struct ctm_policy policy = {
		.map = map,
		.raw_volume = others[*i].raw,
		.starts = part,
		.n_starts = 1,
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_finding *f;

	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	for (size_t k = 0; k < 2 + others[*i].all; k++) {
		struct ctm_fact fact = fact_of(names[k < 2 ? k : k - 2], 04755, 0, 0);

		fact.ino = 12;
		fact.nlink = others[*i].nlink;
		if (k == 2) {
			cr_assert_eq(ctm_plan_wants_names(plan), others[*i].wanted, "%s",
				     others[*i].name);
		}
		cr_assert_eq((k < 2 ? ctm_plan_fact : ctm_plan_other_name)(&fact, plan), 0);
	}
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	cr_assert_eq(plan->actions.n, others[*i].repaired, "%s", others[*i].name);
	f = finding_at(plan, others[*i].repaired ? CTM_F_OWN_HOST : CTM_F_LINK_OUTSIDE, "a/1");
	cr_assert_not_null(f, "%s", others[*i].name);
	cr_assert(others[*i].text ? f->text && strcmp(f->text, others[*i].text) == 0 : !f->text,
		  "%s: %s", others[*i].name, f->text);
}

/* --path / */
Test(finish, the_root_among_the_starts_is_the_whole)
{
	static const char *const names[] = { "b", "a" };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .starts = all, .n_starts = 2 };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = linked(&policy, names, 2, 3);

	cr_assert_not_null(finding_at(plan, CTM_F_LINK_OUTSIDE, "a"));
	cr_assert_eq(plan->actions.n, 0);
}

/* The link count of a directory says nothing about names, and on btrfs it is 1. */
Test(finish, directories_have_no_names_outside)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map };
	struct ctm_fact facts[] = { fact_of("d", S_IFDIR | 0755, 0, 0),
				    fact_of("e", S_IFDIR | 0755, 0, 0) };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;

	facts[0].nlink = 17;
	facts[1].nlink = 1;
	plan = plan_of(&policy, facts, 2);
	cr_assert_eq(plan->actions.n, 2);
	cr_assert_eq(findings_of(plan, CTM_F_LINK_OUTSIDE), 0);
}

/* Inode numbers repeat between subvolumes. */
Test(finish, same_number_on_another_device)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .raw_volume = true };
	struct ctm_fact facts[] = { fact_of("a", 0644, 0, 0), fact_of("sub/a", 0644, 0, 0) };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;

	facts[0].ino = facts[1].ino = 257;
	facts[0].nlink = facts[1].nlink = 2;
	facts[1].dev++;
	plan = plan_of(&policy, facts, 2);
	cr_assert_eq(plan->actions.n, 2);
}

/* Nothing wrong with the inode itself: no finding, however few names there are. */
Test(finish, right_inodes_are_not_asked_for_names)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map };
	struct ctm_fact facts[] = { fact_of("a", 0644, 100000, 100000),
				    fact_of("b", 0644, 70000, 100000) };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;

	facts[0].nlink = facts[1].nlink = 3;
	plan = plan_of(&policy, facts, 2);
	cr_assert_eq(plan->findings.n, 1, "b stays as it is anyway");
	cr_assert_eq(plan->findings.v[0].code, CTM_F_OWN_BEYOND);
}

/* A lock with a second name is repaired at its first one, and the lock's place is mentioned. */
Test(finish, lock_with_a_second_name)
{
	static const bool rules_on[16] = { [0 ... 15] = true };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .raw_volume = true, .rules_on = rules_on };
	struct ctm_fact facts[] = { fact_of("var/lib/dpkg/lock", 0640, 0, 0),
				    fact_of("etc/copy", 0640, 0, 0) };

	facts[0].ino = facts[1].ino = 9;
	facts[0].nlink = facts[1].nlink = 2;
	for (int turn = 0; turn < 2; turn++) {
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = plan_of(&policy, facts, 2);
		struct ctm_fact tmp = facts[0];

		cr_assert_eq(plan->actions.n, 1);
		cr_assert_str_eq(plan->actions.v[0].path, "etc/copy");
		cr_assert_eq(plan->actions.v[0].names, 2);
		cr_assert_eq(finding_at(plan, CTM_F_PKG_LOCK, "var/lib/dpkg/lock")->action, 0);
		cr_assert_eq(plan->findings.n, 3);
		facts[0] = facts[1];
		facts[1] = tmp;
	}
}

static const struct {
	const char *name;
	uint64_t inodes;
	uint64_t host[2];
	bool part;
	bool whole; /* counts of the whole volume are given beside those of the part */
	bool convert;
	bool refused;
	const char *text;
} trees[] = {
	{ "exactly half", 1300, { 650, 650 }, false, false, false, false, NULL },
	{ "one more",
	  1300,
	  { 651, 651 },
	  false,
	  false,
	  false,
	  true,
	  "651 of 1300 inodes (50 %) have uid and gid of the host" },
	{ "half of an odd number", 1301, { 650, 650 }, false, false, false, false, NULL },
	{ "more than half of an odd number",
	  1301,
	  { 651, 651 },
	  false,
	  false,
	  false,
	  true,
	  "651 of 1301 inodes (50 %) have uid and gid of the host" },
	{ "uids alone",
	  1300,
	  { 1234, 3 },
	  false,
	  false,
	  false,
	  true,
	  "1234 of 1300 inodes (94 %) have a uid of the host" },
	{ "gids alone",
	  1300,
	  { 0, 1300 },
	  false,
	  false,
	  false,
	  true,
	  "1300 of 1300 inodes (100 %) have a gid of the host" },
	{ "converted", 1300, { 1300, 1300 }, false, false, true, false, NULL },
	{ "one inode",
	  1,
	  { 1, 1 },
	  false,
	  false,
	  false,
	  true,
	  "1 of 1 inodes (100 %) have uid and gid of the host" },
	{ "nothing counted", 0, { 0, 0 }, false, false, false, false, NULL },
	{ "a part, nothing known of the rest", 10, { 10, 10 }, true, false, false, false, NULL },
	{ "a selection of a sound volume", 1300, { 10, 10 }, true, true, false, false, NULL },
	{ "a selection of a volume never shifted",
	  1300,
	  { 1299, 1299 },
	  true,
	  true,
	  false,
	  true,
	  "1299 of 1300 inodes (99 %) have uid and gid of the host" },
	{ "very many",
	  UINT64_C(40000000000),
	  { UINT64_C(20000000001), 0 },
	  false,
	  false,
	  false,
	  true,
	  "20000000001 of 40000000000 inodes (50 %) have a uid of the host" },
};

CASES(finish, tree_host, trees)
{
	static const bool rules_on[16] = { [0 ... 15] = true };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = {
		.map = map,
		.convert = trees[*i].convert,
		.starts = part,
		.n_starts = trees[*i].part,
		.rules_on = rules_on,
	};
	struct ctm_scan_totals counted = {
		.inodes = trees[*i].inodes,
		.host = { trees[*i].host[0], trees[*i].host[1] },
	};
	struct ctm_scan_totals selected = { .inodes = 2, .host = { 2, 2 } };
	const struct ctm_fact facts[] = { fact_of("usr/bin/sudo", 04755, 0, 0),
					  fact_of("var/lib/dpkg/lock", 0640, 0, 0) };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_finding *f;

	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_eq(ctm_plan_fact(&facts[0], plan), 0);
	cr_assert_eq(ctm_plan_fact(&facts[1], plan), 0);
	counted.ids[0].v = calloc(1, sizeof(*counted.ids[0].v)); /* the plan's from now on */
	if (trees[*i].whole) {
		ctm_plan_totals(plan, &selected, &counted);
		cr_assert_eq(plan->totals.inodes, 2);
		ctm_scan_totals_done(&counted);
	} else {
		ctm_plan_totals(plan, &counted, NULL);
		cr_assert_eq(counted.inodes, 0);
		cr_assert_null(counted.ids[0].v);
		cr_assert_eq(plan->totals.inodes, trees[*i].inodes);
	}
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	f = finding_at(plan, CTM_F_TREE_HOST, NULL);
	cr_assert_eq(plan->refuse_tree, trees[*i].refused, "%s", trees[*i].name);
	cr_assert_eq(f != NULL, trees[*i].refused, "%s", trees[*i].name);
	cr_assert(!f || strcmp(f->text, trees[*i].text) == 0, "%s: %s", trees[*i].name, f->text);
	cr_assert_eq(plan->actions.n, trees[*i].refused ? 0 : 2, "%s: no lock is removed either",
		     trees[*i].name);
	cr_assert_eq(findings_of(plan, CTM_F_OWN_HOST), 2, "%s: what is wrong is still said",
		     trees[*i].name);
	cr_assert(ctm_plan_has_work(plan), "%s", trees[*i].name);
	cr_assert_eq(ctm_plan_has_leftover(plan), trees[*i].refused, "%s", trees[*i].name);
}

/* --- random trees ----------------------------------------------------------------------------- */

#define INODES 60
#define NAMES  (2 * INODES)

/* What the kernel holds: inodes, and names for them. */
struct model {
	struct ctm_inode_state st[INODES];
	uint32_t attr[INODES];
	bool gone[INODES];
	uint32_t extra[INODES]; /* names outside */
	unsigned char acl[INODES][2][4 + 8 * 6];
	unsigned char cap[INODES][24];
	size_t n;
	struct {
		char path[40];
		size_t ino;
	} names[NAMES];
	size_t n_names;
};

static uint32_t random_id(uint64_t *rng)
{
	switch (prng_below(rng, 8)) {
	case 0:
	case 1:
	case 2:
		return 100000 + prng_below(rng, 20);
	case 3:
		return 70000 + prng_below(rng, 3);
	case 4:
		return 33;
	case 5:
		return prng(rng) % 4294967295U;
	default:
		return prng_below(rng, 20);
	}
}

static struct ctm_bytes random_acl(uint64_t *rng, unsigned char *store)
{
	size_t n = 1 + prng_below(rng, 5);

	memset(store, 0, 4 + 8 * n);
	store[0] = 2;
	for (size_t i = 0; i < n; i++) {
		uint32_t id = random_id(rng);

		store[4 + 8 * i] = prng_below(rng, 2) ? 2 : 8;
		store[6 + 8 * i] = 5;
		memcpy(store + 8 + 8 * i, &id, 4);
	}
	/* now and then one that no kernel wrote */
	return (struct ctm_bytes){ .p = store, .len = 4 + 8 * n - (prng_below(rng, 20) == 0) };
}

static struct ctm_bytes random_caps(uint64_t *rng, unsigned char *store)
{
	switch (prng_below(rng, 4)) {
	case 0:
		memset(store, 0x55, 24); /* malformed */
		return (struct ctm_bytes){ .p = store, .len = 24 };
	case 1:
		return caps_v3(random_id(rng) | 1, store);
	default:
		memcpy(store, caps_v2, 20);
		return (struct ctm_bytes){ .p = store, .len = 20 };
	}
}

static void random_inode(uint64_t *rng, struct model *m, size_t i)
{
	static const uint32_t types[] = { S_IFREG, S_IFREG, S_IFREG,  S_IFDIR, S_IFLNK,
					  S_IFIFO, S_IFCHR, S_IFSOCK, S_IFBLK, S_IFREG };
	struct ctm_inode_state *st = &m->st[i];

	*st = (struct ctm_inode_state){
		.mode = types[prng_below(rng, 10)] | prng_below(rng, 010000),
		.uid = { random_id(rng) },
		.gid = { random_id(rng) },
	};
	if (!S_ISLNK(st->mode) && prng_below(rng, 3) == 0) {
		st->acl_access = random_acl(rng, m->acl[i][0]);
	}
	if (S_ISDIR(st->mode) && prng_below(rng, 3) == 0) {
		st->acl_default = random_acl(rng, m->acl[i][1]);
	}
	if (S_ISREG(st->mode) && prng_below(rng, 4) == 0) {
		st->caps = random_caps(rng, m->cap[i]);
	}
	m->attr[i] = prng_below(rng, 12) ? 0 : CTM_ATTR_IMMUTABLE;
	m->extra[i] = prng_below(rng, 10) == 0;
}

static void random_name(uint64_t *rng, struct model *m, size_t ino)
{
	static const char *const dirs[] = {
		"", "etc/", "var/lib/dpkg/", "var/lib/apt/lists/partial/", "a/b/c/", "a/b.c/"
	};
	static const char *const known[] = { "var/lib/dpkg/lock", "var/cache/apt/pkgcache.bin",
					     "var/lib/apt/lists/lock", "var/lib/dpkg/updates/1" };
	char *path = m->names[m->n_names].path;

	if (m->n_names < 4 && prng_below(rng, 2)) {
		memcpy(path, known[m->n_names], strlen(known[m->n_names]) + 1);
	} else {
		snprintf(path, sizeof(m->names[0].path), "%s%x%zu", dirs[prng_below(rng, 6)],
			 prng_below(rng, 256), m->n_names);
	}
	m->names[m->n_names++].ino = ino;
}

static void random_model(uint64_t *rng, struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->n = 1 + prng_below(rng, INODES);
	for (size_t i = 0; i < m->n; i++) {
		size_t names = 1;

		random_inode(rng, m, i);
		if (!S_ISDIR(m->st[i].mode) && prng_below(rng, 4) == 0) {
			names = 2;
		}
		for (size_t k = 0; k < names && m->n_names < NAMES; k++) {
			random_name(rng, m, i);
		}
	}
}

/* The names of the model as facts, in any order. */
static struct ctm_plan *model_plan(uint64_t *rng, const struct model *m,
				   const struct ctm_policy *policy)
{
	struct ctm_fact facts[NAMES];
	size_t n = 0;

	for (size_t i = 0; i < m->n_names; i++) {
		size_t ino = m->names[i].ino;
		const struct ctm_inode_state *st = &m->st[ino];
		struct ctm_fact fact = fact_of(m->names[i].path, st->mode, st->uid.v, st->gid.v);
		size_t at = n ? prng_below(rng, (uint32_t)n + 1) : 0;

		if (m->gone[ino]) {
			continue;
		}
		fact.ino = 1000 + ino;
		fact.attr = m->attr[ino];
		fact.acl_access = st->acl_access;
		fact.acl_default = st->acl_default;
		fact.caps = st->caps;
		fact.size = 100;
		fact.nlink = m->extra[ino];
		for (size_t k = 0; k < m->n_names; k++) {
			fact.nlink += m->names[k].ino == ino;
		}
		facts[n++] = facts[at];
		facts[at] = fact;
	}
	return plan_of(policy, facts, n);
}

/* chown(2) as Linux does it for root: see the table in capabilities(7) and chown(2). */
static void kernel_chown(struct ctm_inode_state *st, ctm_did uid, ctm_did gid)
{
	st->uid = uid;
	st->gid = gid;
	if (S_ISDIR(st->mode) || S_ISLNK(st->mode)) {
		return;
	}
	st->mode &= ~(uint32_t)S_ISUID;
	if ((st->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP)) {
		st->mode &= ~(uint32_t)S_ISGID;
	}
	st->caps = (struct ctm_bytes){ 0 };
}

/* Values of the plan's arena move into the model's own memory. */
static struct ctm_bytes stored(struct ctm_bytes value, unsigned char *store)
{
	if (value.p && value.p != store) {
		memcpy(store, value.p, value.len);
		value.p = store;
	}
	return value;
}

static void apply(struct model *m, const struct ctm_plan *plan)
{
	for (size_t i = 0; i < plan->actions.n; i++) {
		const struct ctm_action *a = &plan->actions.v[i];
		size_t ino = (size_t)a->ino - 1000;
		struct ctm_inode_state *st = &m->st[ino];

		cr_assert(ctm_inode_state_eq(st, &a->before), "%s: before", a->path);
		cr_assert_eq(m->attr[ino], 0, "%s: the kernel would refuse", a->path);
		if (a->kind == CTM_ACT_REMOVE) {
			m->gone[ino] = true;
			continue;
		}
		if (a->after.uid.v != st->uid.v || a->after.gid.v != st->gid.v) {
			kernel_chown(st, a->after.uid, a->after.gid);
		}
		if (plan->policy.flatten) {
			cr_assert_eq(st->mode, a->after.mode, "%s: what chown leaves", a->path);
		}
		st->mode = a->after.mode;
		st->acl_access = stored(a->after.acl_access, m->acl[ino][0]);
		st->acl_default = stored(a->after.acl_default, m->acl[ino][1]);
		/* setxattr(2) refuses a malformed value: it must not be needed to put one back */
		cr_assert(!a->after.caps.p || *(const unsigned char *)a->after.caps.p != 0x55 ||
				  S_ISDIR(st->mode) || st->caps.p,
			  "%s: a malformed capability is lost", a->path);
		st->caps = stored(a->after.caps, m->cap[ino]);
	}
}

static void same_plan(const struct ctm_plan *a, const struct ctm_plan *b, int round)
{
	char digests[2][33];

	ctm_plan_digest(a, "x", digests[0]);
	ctm_plan_digest(b, "x", digests[1]);
	cr_assert_str_eq(digests[0], digests[1], "round %d", round);
	cr_assert_eq(a->findings.n, b->findings.n, "round %d", round);
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct ctm_finding *x = &a->findings.v[i];
		const struct ctm_finding *y = &b->findings.v[i];

		cr_assert(x->code == y->code && x->kind == y->kind && x->id == y->id &&
				  x->action == y->action && x->path_len == y->path_len &&
				  memcmp(x->path, y->path, x->path_len) == 0 &&
				  !x->text == !y->text && (!x->text || !strcmp(x->text, y->text)),
			  "round %d: finding %zu", round, i);
	}
}

/* The map alone says where an id goes; not through any function under test. */
static uint32_t model_target(uint32_t id)
{
	return id == 33 ? 33 : id < 65536 ? 100000 + id : id;
}

static bool model_owns(uint32_t id)
{
	return id == 33 || (id >= 100000 && id < 165536 && id != 100033);
}

static void check_owners(const struct model *was, const struct model *is,
			 const struct ctm_policy *policy, int round)
{
	for (size_t i = 0; i < was->n; i++) {
		const struct ctm_inode_state *a = &was->st[i];
		const struct ctm_inode_state *b = &is->st[i];
		bool bad = a->caps.p && *(const unsigned char *)a->caps.p == 0x55;
		bool outside = was->extra[i] && !policy->raw_volume && !S_ISDIR(a->mode);
		/* own.device; character devices of the model are 0:0, which are whiteouts */
		bool device = S_ISBLK(a->mode) && !model_owns(a->uid.v);

		if (is->gone[i]) {
			continue;
		}
		if (was->attr[i] || bad || outside || device) {
			cr_assert_eq(a->uid.v, b->uid.v, "round %d", round);
			cr_assert_eq(a->gid.v, b->gid.v, "round %d", round);
		} else if (policy->flatten) {
			cr_assert(b->uid.v == 100000 && b->gid.v == 100000, "round %d", round);
		} else {
			cr_assert_eq(b->uid.v, model_target(a->uid.v), "round %d", round);
			cr_assert_eq(b->gid.v, model_target(a->gid.v), "round %d", round);
			cr_assert_eq(a->mode, b->mode, "round %d", round);
		}
	}
}

Test(finish, second_plan_is_empty, .timeout = 120)
{
	static const bool rules_on[16] = { [0 ... 15] = true };
	CLEANUP(ctm_idmap_freep)
	struct ctm_idmap *map = map_of("0:100000:33,33:33:1,34:100034:65502");
	CLEANUP_FREE struct model *m = calloc(2, sizeof(*m));
	uint64_t rng = PRNG_SEED;

	cr_assert_not_null(m);
	for (int round = 0; round < 5000; round++) {
		struct ctm_policy policy = {
			.map = map,
			.clean = (enum ctm_clean)prng_below(&rng, 3),
			.flatten = prng_below(&rng, 6) == 0,
			.raw_volume = prng_below(&rng, 2),
			.starts = part,
			.n_starts = prng_below(&rng, 2),
			.rules_on = rules_on,
		};
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
		CLEANUP(ctm_planp_free) struct ctm_plan *again = NULL;
		CLEANUP(ctm_planp_free) struct ctm_plan *second = NULL;
		size_t left = 0;

		random_model(&rng, &m[0]);
		plan = model_plan(&rng, &m[0], &policy);
		again = model_plan(&rng, &m[0], &policy);
		same_plan(plan, again, round);
		m[1] = m[0];
		apply(&m[1], plan);
		second = model_plan(&rng, &m[1], &policy);
		cr_assert_eq(second->actions.n, 0, "round %d: %s", round,
			     second->actions.n ? second->actions.v[0].path : "");
		for (size_t i = 0; i < plan->findings.n; i++) {
			left += plan->findings.v[i].action == CTM_NO_ACTION;
		}
		cr_assert_eq(second->findings.n, left, "round %d", round);
		check_owners(&m[0], &m[1], &policy, round);
	}
}

/* --- what a volume as a whole says of --fix and of nobody ------------------------------------- */

static const struct {
	const char *name;
	uint64_t inodes; /* of the volume; 2 are seen, both on the base 165536 */
	uint64_t nobody[2];
	unsigned int fix;
	bool convert;
	bool from;
	bool refused;
	const char *text; /* of tree.fix or own.overflow, or NULL */
} wholes[] = {
	{ "named, and most of it",
	  3,
	  { 0, 0 },
	  CTM_FIX_BASE,
	  false,
	  false,
	  true,
	  "2 of 3 inodes (66 %) would get another owner" },
	{ "named, and half of it", 4, { 0, 0 }, CTM_FIX_BASE, false, false, false, NULL },
	{ "named, and to be converted", 3, { 0, 0 }, CTM_FIX_BASE, true, false, false, NULL },
	{ "not named", 3, { 0, 0 }, CTM_FIX_TWICE, false, false, false, NULL },
	{ "--from-map is explicit", 3, { 0, 0 }, 0, false, true, false, NULL },
	{ "a hundred of nobody's in ten thousand",
	  10000,
	  { 100, 0 },
	  0,
	  false,
	  false,
	  false,
	  "100 of 10000 inodes (1 %) have the uid of the container's \"nobody\": a backup or a "
	  "copy was made through the map" },
	{ "fewer than a hundred", 1000, { 99, 99 }, 0, false, false, false, NULL },
	{ "fewer than one in a hundred", 10001, { 100, 100 }, 0, false, false, false, NULL },
	{ "gids alone",
	  1000,
	  { 0, 500 },
	  0,
	  false,
	  false,
	  false,
	  "500 of 1000 inodes (50 %) have the gid of the container's \"nobody\": a backup or a "
	  "copy was made through the map" },
};

CASES(finish, whole, wholes)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = map_of("0:165536:65536");
	const struct ctm_policy policy = {
		.map = map,
		.from = wholes[*i].from ? from : NULL,
		.fix = wholes[*i].fix,
		.convert = wholes[*i].convert,
	};
	struct ctm_scan_totals totals = {
		.inodes = wholes[*i].inodes,
		.nobody = { wholes[*i].nobody[0], wholes[*i].nobody[1] },
	};
	const struct ctm_fact facts[] = { fact_of("a", 0644, 165536, 165536),
					  fact_of("b", 0644, 165541, 100000) };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	bool moves = wholes[*i].from || (wholes[*i].fix & CTM_FIX_BASE);
	const struct ctm_finding *f;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		totals.ids[kind].v = calloc(2, sizeof(*totals.ids[kind].v));
		totals.ids[kind].v[0] = (struct ctm_id_count){ 165536, 1 };
		totals.ids[kind].v[1] = (struct ctm_id_count){ 165541, 1 };
		totals.ids[kind].n = kind == CTM_UID ? 2 : 1;
	}
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_eq(ctm_plan_fact(&facts[0], plan), 0);
	cr_assert_eq(ctm_plan_fact(&facts[1], plan), 0);
	cr_assert_eq(ctm_plan_waits(plan), !wholes[*i].from, "%s", wholes[*i].name);
	ctm_plan_totals(plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	cr_assert_eq(plan->refuse_tree, wholes[*i].refused, "%s", wholes[*i].name);
	cr_assert_eq(plan->actions.n, moves && !wholes[*i].refused ? 2 : 0, "%s", wholes[*i].name);
	cr_assert_eq(findings_of(plan, wholes[*i].from ? CTM_F_OWN_FROM : CTM_F_OWN_BASE), 3, "%s",
		     wholes[*i].name);
	f = finding_at(plan, wholes[*i].refused ? CTM_F_TREE_FIX : CTM_F_OWN_OVERFLOW, NULL);
	cr_assert_eq(f != NULL, wholes[*i].text != NULL, "%s", wholes[*i].name);
	cr_assert(!f || strcmp(f->text, wholes[*i].text) == 0, "%s: %s", wholes[*i].name, f->text);
}

/* An inode with names outside the volume moves when that was asked for, and is no leftover. */
Test(finish, names_outside_are_no_matter_when_asked)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_LINK };
	struct ctm_fact fact = fact_of("etc/x", 0644, 0, 0);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;

	fact.nlink = 3;
	plan = plan_of(&policy, &fact, 1);
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_eq(plan->actions.v[0].after.uid.v, 100000);
	cr_assert_eq(findings_of(plan, CTM_F_LINK_OUTSIDE), 1);
	cr_assert_not(ctm_plan_has_leftover(plan));
}

/* One name in a nested container's root is enough, whatever comes first. */
Test(finish, a_nested_name_counts_for_all)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	const struct ctm_policy policy = { .map = map, .fix = CTM_FIX_TWICE, .raw_volume = true };
	struct ctm_fact facts[] = {
		fact_of("etc/x", 0644, 200000, 200000),
		fact_of("var/lib/lxc/in/rootfs/x", 0644, 200000, 200000),
	};

	facts[0].nlink = facts[1].nlink = 2;
	facts[1].ino = facts[0].ino;
	for (int order = 0; order < 2; order++) {
		const struct ctm_fact both[] = { facts[order], facts[!order] };
		struct ctm_scan_totals totals = { .inodes = 100 };
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;

		for (int kind = 0; kind < 2; kind++) {
			totals.ids[kind].v = calloc(1, sizeof(*totals.ids[kind].v));
			totals.ids[kind].v[0] = (struct ctm_id_count){ 200000, 1 };
			totals.ids[kind].n = 1;
		}
		cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
		cr_assert_eq(ctm_plan_fact(&both[0], plan), 0);
		cr_assert_eq(ctm_plan_fact(&both[1], plan), 0);
		ctm_plan_totals(plan, &totals, NULL);
		cr_assert_eq(ctm_plan_finish(plan), 0);
		check_plan(plan);
		cr_assert_eq(plan->actions.n, 0);
		cr_assert_eq(findings_of(plan, CTM_F_OWN_BEYOND), 2);
		cr_assert_eq(findings_of(plan, CTM_F_OWN_TWICE), 0);
	}
}
