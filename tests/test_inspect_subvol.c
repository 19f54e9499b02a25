/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of actions in read-only subvolumes. */
#include "run/inspect_subvol.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "fakefs.h"
#include "plan/fix.h"

struct world {
	struct fakefs fs;
	struct ctm_idmap *map;
	struct ctm_plan *plan;
};

static void world_done(struct world *w)
{
	ctm_plan_free(w->plan);
	ctm_idmap_free(w->map);
	fake_done(&w->fs);
}

#define WORLD __attribute__((cleanup(world_done))) struct world

/* An inode that needs a change, in the volume and in the plan. */
static struct fake_node *add(struct world *w, const char *path, uint32_t mode, uint64_t dev)
{
	const size_t at = fake_add(&w->fs, path, mode, 0, 0);
	struct fake_node *n = &w->fs.nodes.v[at];
	const struct ctm_fact fact = {
		.kind = CTM_FACT_INODE,
		.path = path,
		.path_len = strlen(path),
		.mode = mode,
		.dev = dev,
		.ino = n->ino,
		.nlink = 1,
	};

	n->dev = dev;
	cr_assert_eq(ctm_plan_fact(&fact, w->plan), 0);
	return n;
}

static void add_subvol(struct world *w, const char *path, uint64_t dev, bool readonly)
{
	struct fake_node *n = add(w, path, S_IFDIR | 0755, dev);

	n->subvol = true;
	n->ro_subvol = readonly;
}

/*
 *	""              7
 *	a b c d         7, writable
 *	s               8, read-only, with a directory of many components
 *	s/d/.../rw      9, writable, in it
 *	sx              7: not in s
 */
static void begin(struct world *w, unsigned int fix)
{
	const struct ctm_policy policy = { .map = w->map, .fix = fix, .convert = true };
	struct ctm_scan_totals totals = { .entries = 1000, .inodes = 1000 };
	char path[600] = "s";

	cr_assert_eq(ctm_plan_new(&policy, &w->plan), 0);
	add_subvol(w, "", 7, false);
	(void)add(w, "a", S_IFREG | 0644, 7);
	(void)add(w, "sx", S_IFREG | 0644, 7);
	add_subvol(w, "s", 8, true);
	for (int i = 0; i < 200; i++) {
		(void)memcpy(path + strlen(path), "/d", sizeof("/d"));
		(void)add(w, path, S_IFDIR | 0755, 8);
	}
	(void)memcpy(path + strlen(path), "/rw", sizeof("/rw"));
	add_subvol(w, path, 9, false);
	(void)memcpy(path + strlen(path), "/x", sizeof("/x"));
	(void)add(w, path, S_IFREG | 0644, 9);
	ctm_plan_totals(w->plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(w->plan), 0);
}

static size_t actions_on(const struct ctm_plan *plan, uint64_t dev)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->actions.n; i++) {
		n += plan->actions.v[i].dev == dev;
	}
	return n;
}

static const struct ctm_finding *finding_of(const struct ctm_plan *plan, size_t *ret_n)
{
	const struct ctm_finding *found = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < plan->findings.n; i++) {
		if (plan->findings.v[i].code == CTM_F_ATTR_ROSUBVOL) {
			found = &plan->findings.v[i];
			(*ret_n)++;
		}
	}
	return found;
}

static const struct {
	const char *name;
	unsigned int fix;
	bool received;
	bool stays; /* its actions do */
	const char *text;
} rows[] = {
	{ "left", 0, false, false, "201 changes needed in it" },
	{ "another option", CTM_FIX_FLAGS, false, false, "201 changes needed in it" },
	{ "made writable", CTM_FIX_ROSUBVOL, false, true, "201 changes needed in it" },
	{ "received", CTM_FIX_ROSUBVOL, true, false,
	  "201 changes needed in it; it was made by btrfs receive, so it is left" },
};

CASES(inspect_subvol, actions_in_it, rows)
{
	WORLD w = { .map = ctm_idmap_new() };
	const struct ctm_finding *f;
	char with[33], without[33];
	size_t n;

	cr_assert_eq(ctm_idmap_add_default(w.map), 0);
	begin(&w, rows[*i].fix);
	cr_assert_eq(actions_on(w.plan, 8), 201);
	fake_at(&w.fs, "s")->received = rows[*i].received;
	cr_assert_eq(ctm_inspect_subvols(&fake_ops, &w.fs, w.plan), 0);
	cr_assert_eq(ctm_plan_settle(w.plan), 0);
	cr_assert_eq(w.fs.open, 0);
	cr_assert_eq(actions_on(w.plan, 7), 3, "%s", rows[*i].name);
	cr_assert_eq(actions_on(w.plan, 8), rows[*i].stays ? 201 : 0, "%s", rows[*i].name);
	cr_assert_eq(actions_on(w.plan, 9), 2, "%s: in it, but writable", rows[*i].name);
	f = finding_of(w.plan, &n);
	cr_assert_eq(n, 1, "%s: once", rows[*i].name);
	cr_assert_str_eq(f->path, "s", "%s", rows[*i].name);
	cr_assert_str_eq(f->text, rows[*i].text, "%s", rows[*i].name);
	cr_assert_eq(f->action != CTM_NO_ACTION, rows[*i].stays, "%s", rows[*i].name);
	cr_assert_eq(ctm_plan_has_leftover(w.plan), !rows[*i].stays, "%s", rows[*i].name);
	cr_assert_eq(w.plan->subvols.n, rows[*i].stays ? 1 : 0, "%s", rows[*i].name);
	if (rows[*i].stays) {
		cr_assert_str_eq(w.plan->subvols.v[0].path, "s");
		cr_assert_eq(w.plan->subvols.v[0].ino, fake_at(&w.fs, "s")->ino);
		ctm_plan_digest(w.plan, "x", with);
		w.plan->subvols.n = 0;
		ctm_plan_digest(w.plan, "x", without);
		cr_assert_str_neq(with, without, "who approves a plan approves this as well");
	} else {
		/* Uid and gid of the other inodes. */
		cr_assert_eq(w.plan->findings.n, 1 + 2 * 5, "%s: %zu", rows[*i].name,
			     w.plan->findings.n);
	}
}

/* Half of a hundred thousand components and half of the rest: not one after the other. */
Test(inspect_subvol, asks_little)
{
	WORLD w = { .map = ctm_idmap_new() };

	cr_assert_eq(ctm_idmap_add_default(w.map), 0);
	begin(&w, 0);
	w.fs.calls = 0;
	cr_assert_eq(ctm_inspect_subvols(&fake_ops, &w.fs, w.plan), 0);
	cr_assert_lt(w.fs.calls, 60, "%u calls for three devices", w.fs.calls);
}

Test(inspect_subvol, no_btrfs)
{
	WORLD w = { .map = ctm_idmap_new() };
	size_t n;

	cr_assert_eq(ctm_idmap_add_default(w.map), 0);
	begin(&w, CTM_FIX_ROSUBVOL);
	for (size_t i = 0; i < w.fs.nodes.n; i++) {
		w.fs.nodes.v[i].subvol = false;
	}
	cr_assert_eq(ctm_inspect_subvols(&fake_ops, &w.fs, w.plan), 0);
	cr_assert_null(finding_of(w.plan, &n));
	cr_assert_eq(w.plan->subvols.n, 0);
}
