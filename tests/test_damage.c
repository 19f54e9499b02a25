/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random trees with random damage of every class: a repair makes of them what they were before the
 * damage, a second look finds nothing, and undo brings the damage back. What an inode should be is
 * known from how it was made, not from any function under test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "cases.h"
#include "facts.h"
#include "plan/fix.h"
#include "prng.h"
#include "run/repair.h"
#include "scan/totals.h"
#include "stage.h"

#define TEXT CLEANUP_FREE char
#define ALL  (CTM_FIX_BASE | CTM_FIX_HOLE | CTM_FIX_OVERFLOW | CTM_FIX_TWICE)

#define FILES 40
#define NODES (3 * FILES + 20)

/* Ids of the container, as distributions and people give them out. */
static const uint32_t people[] = { 0, 0, 0, 1, 5, 33, 42, 100, 999, 1000, 1001, 1999 };

/* How an id comes to be where it is on the disk. */
enum way { RIGHT, UNSHIFTED, AGAIN, AGAIN_TWO, OLD_BASE, OLD_MAP, NOBODY, WAYS };

struct world {
	const char *name;
	const char *map;
	const char *from;   /* --from-map, or NULL */
	uint32_t base[2];   /* where the map has the container's root, by kind */
	uint32_t other[2];  /* another base, or what --from-map says */
	uint32_t punched;   /* passed through, and RIGHT as it is; 0: none */
	bool ways[2][WAYS]; /* by kind */
	bool convert;       /* most of the tree is wrong */
};

static const struct world worlds[] = {
	{ "default",
	  "100000",
	  NULL,
	  { 100000, 100000 },
	  { 165536, 165536 },
	  0,
	  { { 1, 1, 1, 1, 1, 0, 1 }, { 1, 1, 1, 1, 1, 0, 1 } },
	  false },
	{ "uid on another base, gid right",
	  "100000",
	  NULL,
	  { 100000, 100000 },
	  { 165536, 165536 },
	  0,
	  { { 0, 0, 0, 0, 1, 0, 0 }, { 1, 0, 0, 0, 0, 0, 0 } },
	  true },
	{ "away from the default",
	  "0:1000000:65536",
	  NULL,
	  { 1000000, 1000000 },
	  { 1065536, 1131072 },
	  0,
	  { { 1, 1, 1, 0, 1, 1, 1 }, { 1, 1, 0, 1, 1, 1, 0 } },
	  false },
	{ "a hole",
	  "0:100000:33,33:33:1,34:100034:65502",
	  NULL,
	  { 100000, 100000 },
	  { 231072, 296608 },
	  33,
	  { { 1, 1, 0, 0, 1, 1, 1 }, { 1, 1, 0, 0, 1, 1, 1 } },
	  false },
	{ "different bases",
	  "u:0:300000:65536,g:0:500000:65536",
	  NULL,
	  { 300000, 500000 },
	  { 365536, 434464 },
	  0,
	  { { 1, 1, 1, 0, 1, 1, 0 }, { 1, 1, 1, 0, 1, 1, 0 } },
	  false },
	{ "moved a little, by name",
	  "0:101000:65536",
	  "100000",
	  { 101000, 101000 },
	  { 100000, 100000 },
	  0,
	  { { 0, 1, 0, 0, 1, 0, 1 }, { 0, 1, 0, 0, 1, 0, 1 } },
	  false },
	{ "one kind by name",
	  "100000",
	  "u:0:165536:65536",
	  { 100000, 100000 },
	  { 165536, 165536 },
	  0,
	  { { 1, 1, 0, 0, 1, 0, 1 }, { 1, 1, 1, 0, 0, 0, 1 } },
	  false },
	{ "up by name",
	  "100000",
	  "0:0:65536",
	  { 100000, 100000 },
	  { 0, 0 },
	  0,
	  { { 1, 0, 0, 0, 1, 0, 0 }, { 1, 0, 0, 0, 1, 0, 0 } },
	  false },
	{ "down by name",
	  "0:0:4294967295",
	  "0:100000:65536",
	  { 0, 0 },
	  { 100000, 100000 },
	  0,
	  { { 1, 0, 0, 0, 1, 0, 0 }, { 1, 0, 0, 0, 1, 0, 0 } },
	  false },
};

/* Where an id of the container belongs. */
static uint32_t right(const struct world *w, enum ctm_idkind kind, uint32_t id)
{
	return w->punched && id == w->punched ? id : w->base[kind] + id;
}

/* A place where the way has left it; *id is the container's, and may be chosen here. */
static uint32_t damaged(const struct world *w, enum ctm_idkind kind, enum way way, uint32_t *id)
{
	uint32_t base = w->base[kind];

	switch (way) {
	case UNSHIFTED:
		return *id;
	case AGAIN:
		return 2 * base + *id;
	case AGAIN_TWO:
		return 3 * base + *id;
	case OLD_BASE:
		return w->other[kind] + *id;
	case OLD_MAP:
		*id = w->punched ? w->punched : *id;
		return 100000 + *id;
	case NOBODY:
		*id = 65534;
		return 65534;
	case RIGHT:
	case WAYS:
		break;
	}
	return right(w, kind, *id);
}

struct one {
	uint32_t was; /* on the disk */
	uint32_t is;  /* after the repair */
};

static struct one random_id(const struct world *w, uint64_t *rng, enum ctm_idkind kind)
{
	uint32_t id = people[prng_below(rng, ARRAY_LEN(people))];
	enum way way;
	struct one one;

	do {
		way = (enum way)prng_below(rng, WAYS);
	} while (!w->ways[kind][way]);
	if (prng_below(rng, 20) == 0 && way != OLD_MAP) {
		id = 1 + prng_below(rng, 1999);
	}
	one.was = damaged(w, kind, way, &id);
	one.is = right(w, kind, id);
	return one;
}

/* "u::rwx,u:ID:rwx,g::r-x,g:ID:r-x,m::rwx,o::---", or without names */
static struct ctm_bytes make_acl(struct stage *s, const uint32_t ids[2])
{
	unsigned char raw[4 + 8 * 6];
	char text[120];

	(void)snprintf(text, sizeof(text), "u::rwx,u:%u:rwx,g::r-x,g:%u:r-x,m::rwx,o::---",
		       ids[CTM_UID], ids[CTM_GID]);
	struct ctm_bytes acl = acl_of(text, raw);

	return fake_bytes(&s->fs, acl.p, acl.len);
}

static struct ctm_bytes make_caps(struct stage *s, uint32_t rootid)
{
	unsigned char raw[24];
	struct ctm_bytes caps = caps_v3(rootid, raw);

	/* as the kernel stores it: revision 3 is never with root id 0 */
	return rootid ? fake_bytes(&s->fs, caps.p, caps.len) :
			fake_bytes(&s->fs, caps_v2, sizeof(caps_v2));
}

/* A file of the fake volume as the damage left it; *want is what it should become. */
static void random_inode(struct stage *s, const struct world *w, uint64_t *rng, struct fake_node *n,
			 struct ctm_inode_state *want)
{
	struct one uid = random_id(w, rng, CTM_UID);
	struct one gid = random_id(w, rng, CTM_GID);

	n->state.uid.v = uid.was;
	n->state.gid.v = gid.was;
	*want = n->state;
	want->uid.v = uid.is;
	want->gid.v = gid.is;
	if (!S_ISLNK(n->state.mode) && prng_below(rng, 3) == 0) {
		struct one ids[2] = { random_id(w, rng, CTM_UID), random_id(w, rng, CTM_GID) };

		n->state.acl_access =
			make_acl(s, (uint32_t[]){ ids[CTM_UID].was, ids[CTM_GID].was });
		want->acl_access = make_acl(s, (uint32_t[]){ ids[CTM_UID].is, ids[CTM_GID].is });
	}
	if (S_ISDIR(n->state.mode) && prng_below(rng, 3) == 0) {
		struct one ids[2] = { random_id(w, rng, CTM_UID), random_id(w, rng, CTM_GID) };

		n->state.acl_default =
			make_acl(s, (uint32_t[]){ ids[CTM_UID].was, ids[CTM_GID].was });
		want->acl_default = make_acl(s, (uint32_t[]){ ids[CTM_UID].is, ids[CTM_GID].is });
	}
	if (S_ISREG(n->state.mode) && prng_below(rng, 4) == 0) {
		struct one root = random_id(w, rng, CTM_UID);

		if (prng_below(rng, 2) || root.was == 0) {
			n->state.caps = make_caps(s, 0);
			want->caps = make_caps(s, uid.was == uid.is ? 0 : w->base[CTM_UID]);
		} else {
			n->state.caps = make_caps(s, root.was);
			want->caps = make_caps(s, root.is);
		}
	}
}

/* Roots of every way, so that there is something to tell it by; the root directory is right. */
static void add_roots(struct stage *s, const struct world *w, struct ctm_inode_state *want)
{
	size_t at = fake_add(&s->fs, "", S_IFDIR | 0755, w->base[CTM_UID], w->base[CTM_GID]);

	want[at] = s->fs.nodes.v[at].state;
	if (w->from) {
		uint32_t id[2] = {
			w->ways[CTM_UID][OLD_BASE] ? w->other[CTM_UID] : w->base[CTM_UID],
			w->ways[CTM_GID][OLD_BASE] ? w->other[CTM_GID] : w->base[CTM_GID]
		};

		s->fs.nodes.v[at].state.uid.v = id[CTM_UID];
		s->fs.nodes.v[at].state.gid.v = id[CTM_GID];
	}
	for (enum way way = AGAIN; way <= OLD_BASE; way++) {
		uint32_t id[2] = { 0 };
		char path[32];

		for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
			uint32_t root = 0;

			id[kind] = w->ways[kind][way] ? damaged(w, kind, way, &root) :
							right(w, kind, 0);
			if (!w->ways[kind][way] && w->from && w->ways[kind][OLD_BASE]) {
				id[kind] = w->other[kind];
			}
		}
		(void)snprintf(path, sizeof(path), "root%d", way);
		at = fake_add(&s->fs, path, S_IFREG | 04755, id[CTM_UID], id[CTM_GID]);
		want[at] = s->fs.nodes.v[at].state;
		want[at].uid.v = w->base[CTM_UID];
		want[at].gid.v = w->base[CTM_GID];
	}
}

static void random_tree(struct stage *s, const struct world *w, uint64_t *rng,
			struct ctm_inode_state *want)
{
	static const uint32_t types[] = { S_IFREG, S_IFREG, S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO };
	size_t files = 1 + prng_below(rng, FILES);

	add_roots(s, w, want);
	for (size_t i = 0; i < files; i++) {
		uint32_t type = types[prng_below(rng, ARRAY_LEN(types))];
		uint32_t mode = type | (S_ISLNK(type) ? 0777 : prng_below(rng, 010000));
		char path[32];
		size_t at;

		(void)snprintf(path, sizeof(path), "d%u/f%zu", prng_below(rng, 4), i);
		at = fake_add(&s->fs, path, mode, 0, 0);
		if (S_ISREG(mode) && prng_below(rng, 6) == 0) {
			s->fs.nodes.v[at].nlink = 2;
		}
		random_inode(s, w, rng, &s->fs.nodes.v[at], &want[at]);
	}
	/* most of a tree is right, or nobody would know its map */
	for (size_t i = 0; i < 2 * files + 10; i++) {
		uint32_t id[2];
		char path[32];
		size_t at;

		for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
			id[kind] = w->ways[kind][RIGHT] ? w->base[kind] : w->other[kind];
		}
		(void)snprintf(path, sizeof(path), "usr/f%zu", i);
		at = fake_add(&s->fs, path, S_IFREG | 0644, id[CTM_UID], id[CTM_GID]);
		want[at] = s->fs.nodes.v[at].state;
		want[at].uid.v = w->base[CTM_UID];
		want[at].gid.v = w->base[CTM_GID];
	}
}

static struct ctm_fact fact_at(const struct fake_node *n, const char *path)
{
	struct ctm_fact fact = fact_of(path, n->state.mode, n->state.uid.v, n->state.gid.v);

	fact.dev = 7; /* that of tests/fakefs.c */
	fact.ino = n->ino;
	fact.nlink = n->nlink;
	fact.acl_access = n->state.acl_access;
	fact.acl_default = n->state.acl_default;
	fact.caps = n->state.caps;
	return fact;
}

/* What a walk would send, through the same sieve; the second name of a hard link is "NAME~". */
static struct ctm_plan *scan(const struct stage *s, const struct ctm_policy *policy)
{
	const struct ctm_scan_request req = { .map = policy->map, .from = policy->from };
	struct ctm_scan_totals totals = { 0 };
	struct ctm_tally tally = { 0 };
	struct ctm_plan *plan = NULL;
	struct ctm_sieve sieve;

	ctm_sieve_init(&sieve, &req);
	cr_assert_eq(ctm_plan_new(policy, &plan), 0);
	for (size_t i = 0; i < s->fs.nodes.n; i++) {
		const struct fake_node *n = &s->fs.nodes.v[i];

		for (uint32_t name = 0; name < n->nlink; name++) {
			char path[40];
			struct ctm_fact fact;
			unsigned int off;

			(void)snprintf(path, sizeof(path), "%s%s", n->path, name ? "~" : "");
			fact = fact_at(n, path);
			off = ctm_sieve_owner(&sieve, fact.uid, fact.gid);
			ctm_tally_inode(&tally, &sieve, off, fact.mode, fact.nlink, fact.uid,
					fact.gid);
			if (ctm_sieve_wants(&sieve, &fact, off, false)) {
				cr_assert_eq(ctm_plan_fact(&fact, plan), 0);
			}
		}
	}
	cr_assert_eq(ctm_tally_finish(&tally, &totals), 0);
	ctm_tally_done(&tally);
	ctm_plan_totals(plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	return plan;
}

static void forget(struct stage *s)
{
	fake_done(&s->fs);
	s->fs = (struct fakefs){ 0 };
}

static void check_states(const struct stage *s, const struct ctm_inode_state *want,
			 const char *world, int round)
{
	for (size_t i = 0; i < s->fs.nodes.n; i++) {
		const struct fake_node *n = &s->fs.nodes.v[i];

		cr_assert_eq(n->state.uid.v, want[i].uid.v, "%s %d: %s: uid %u, not %u", world,
			     round, n->path, n->state.uid.v, want[i].uid.v);
		cr_assert_eq(n->state.gid.v, want[i].gid.v, "%s %d: %s: gid %u, not %u", world,
			     round, n->path, n->state.gid.v, want[i].gid.v);
		cr_assert_eq(n->state.mode, want[i].mode, "%s %d: %s: mode", world, round, n->path);
		cr_assert(ctm_inode_state_eq(&n->state, &want[i]), "%s %d: %s: attributes", world,
			  round, n->path);
	}
}

static void one_round(struct stage *s, const struct world *w, const struct ctm_policy *policy,
		      uint64_t *rng, int round)
{
	struct ctm_inode_state want[NODES];
	struct ctm_policy afterwards = *policy;
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_planp_free) struct ctm_plan *left = NULL;
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };
	TEXT *before = NULL;

	random_tree(s, w, rng, want);
	before = fake_listing(&s->fs);
	plan = scan(s, policy);
	cr_assert_not(plan->refuse_tree, "%s %d", w->name, round);
	cr_assert_eq(ctm_repair(&s->run, plan, STAGE_DIGEST, &out, NULL), 0);
	cr_assert_not(ctm_outcome_partial(&out), "%s %d", w->name, round);
	check_states(s, want, w->name, round);
	afterwards.from = NULL;
	left = scan(s, &afterwards);
	cr_assert_eq(left->findings.n, 0, "%s %d", w->name, round);
	if (plan->actions.n) {
		stage_undo(s, NULL);
	}
	stage_expect(s, before, w->name);
	forget(s);
}

#define STAGES 25 /* for each world; the longer a history is, the longer it takes to read */
#define ROUNDS 15

CASES(damage, cured_and_taken_back, worlds)
{
	const struct world *w = &worlds[*i];
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(w->map);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = w->from ? map_of(w->from) : NULL;
	const struct ctm_policy policy = {
		.map = map,
		.from = from,
		.fix = ALL,
		.convert = w->convert,
		.raw_volume = true,
	};
	uint64_t rng = PRNG_SEED + *i;

	for (int stage = 0; stage < STAGES; stage++) {
		STAGE(s);

		ctm_idmap_free(s->map);
		s->map = map_of(w->map);
		s->run.map = s->map;
		for (int round = 0; round < ROUNDS; round++) {
			one_round(s, w, &policy, &rng, stage * ROUNDS + round);
		}
	}
}
