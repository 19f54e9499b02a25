/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From facts to a plan: rules of package managers, flags, what is never a finding, notes. */
#include "plan/fix.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "scratch.h"

#define DEF "100000"

static const bool rules_on[16] = { [0 ... 15] = true };

#define LOCK      "var/lib/dpkg/lock"
#define LISTS     "var/lib/apt/lists/lock"
#define CACHE     "var/cache/apt/pkgcache.bin"
#define PARTIAL   "var/lib/apt/lists/partial/x"
#define JOURNAL   "var/lib/dpkg/updates/0001"
#define PACMAN    "var/lib/pacman/db.lck"
#define XBPS      "var/db/xbps/pkgdb-0.38.plist"
#define NO_REMOVE CTM_F_N

static const struct {
	const char *name;
	const char *path;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	uint32_t nlink;
	uint32_t attr;
	enum ctm_clean clean;
	bool no_content;
	bool off; /* the rules do not apply */
	const char *head;
	/* what comes out */
	enum ctm_finding_code removed; /* cause of the removal, or NO_REMOVE */
	int owner_repairs;             /* findings own.host */
	int pkg_left;                  /* findings pkg.* that nothing cures */
} rules[] = {
	{ "stale lock", LOCK, 0100640, 0, 0, 1, 0, CTM_CLEAN_STALE, false, false, NULL,
	  CTM_F_PKG_LOCK, 0, 0 },
	{ "uid alone", LOCK, 0100640, 0, 100000, 1, 0, CTM_CLEAN_STALE, false, false, NULL,
	  CTM_F_PKG_LOCK, 0, 0 },
	{ "gid alone", LISTS, 0100640, 100000, 0, 1, 0, CTM_CLEAN_STALE, false, false, NULL,
	  CTM_F_PKG_LOCK, 0, 0 },
	{ "an owner that fits nothing", LOCK, 0100640, 70000, 70000, 1, 0, CTM_CLEAN_STALE, false,
	  false, NULL, CTM_F_PKG_LOCK, 0, 0 },
	{ "healthy lock", "var/cache/apt/archives/lock", 0100640, 100000, 100000, 1, 0,
	  CTM_CLEAN_STALE, false, false, NULL, NO_REMOVE, 0, 0 },
	{ "healthy lock, --clean all", LOCK, 0100640, 100000, 100000, 1, 0, CTM_CLEAN_ALL, false,
	  false, NULL, CTM_F_PKG_LOCK, 0, 0 },
	{ "stale lock, --clean none", LOCK, 0100640, 0, 0, 1, 0, CTM_CLEAN_NONE, false, false, NULL,
	  NO_REMOVE, 2, 0 },
	{ "stale lock, no such manager here", LOCK, 0100640, 0, 0, 1, 0, CTM_CLEAN_STALE, false,
	  true, NULL, NO_REMOVE, 2, 0 },
	{ "stale lock with two names", LOCK, 0100640, 0, 0, 2, 0, CTM_CLEAN_STALE, false, false,
	  NULL, NO_REMOVE, 2, 0 },
	{ "a directory in its place", LOCK, 0040755, 0, 0, 2, 0, CTM_CLEAN_STALE, false, false,
	  NULL, NO_REMOVE, 2, 0 },
	{ "a link in its place", LOCK, 0120777, 0, 0, 1, 0, CTM_CLEAN_STALE, false, false, NULL,
	  NO_REMOVE, 2, 0 },
	{ "a FIFO in its place, --clean all", LOCK, 0010600, 0, 0, 1, 0, CTM_CLEAN_ALL, false,
	  false, NULL, NO_REMOVE, 2, 0 },
	{ "a healthy link, --clean all", LOCK, 0120777, 100000, 100000, 1, 0, CTM_CLEAN_ALL, false,
	  false, NULL, NO_REMOVE, 0, 0 },
	{ "immutable", LOCK, 0100640, 0, 0, 1, CTM_ATTR_IMMUTABLE, CTM_CLEAN_STALE, false, false,
	  NULL, NO_REMOVE, 0, 1 },
	{ "append-only", LOCK, 0100640, 0, 0, 1, CTM_ATTR_APPEND, CTM_CLEAN_STALE, false, false,
	  NULL, NO_REMOVE, 0, 1 },
	{ "cache of the host", CACHE, 0100644, 0, 0, 1, 0, CTM_CLEAN_STALE, false, false,
	  "\xdc\x76\xfe\x98\x10\0\0\0\xa8\x02\0\0", CTM_F_PKG_CACHE, 0, 0 },
	{ "damaged cache", CACHE, 0100644, 100000, 100000, 1, 0, CTM_CLEAN_STALE, false, false,
	  "garbage garb", CTM_F_PKG_CACHE, 0, 0 },
	{ "damaged cache, the hook does not look", CACHE, 0100644, 100000, 100000, 1, 0,
	  CTM_CLEAN_STALE, true, false, "garbage garb", NO_REMOVE, 0, 0 },
	{ "damaged cache, --clean none", CACHE, 0100644, 100000, 100000, 1, 0, CTM_CLEAN_NONE,
	  false, false, "garbage garb", NO_REMOVE, 0, 0 },
	{ "damaged cache with two names", CACHE, 0100644, 100000, 100000, 2, 0, CTM_CLEAN_STALE,
	  false, false, "garbage garb", NO_REMOVE, 0, 1 },
	{ "sound cache", CACHE, 0100644, 100000, 100000, 1, 0, CTM_CLEAN_STALE, false, false,
	  "\xdc\x76\xfe\x98\x10\0\0\0\xa8\x02\0\0", NO_REMOVE, 0, 0 },
	{ "unfinished download", PARTIAL, 0100644, 42, 0, 1, 0, CTM_CLEAN_STALE, false, false, NULL,
	  CTM_F_PKG_PARTIAL, 0, 0 },
	{ "a download of the container's own", PARTIAL, 0100644, 100042, 100000, 1, 0,
	  CTM_CLEAN_STALE, false, false, NULL, NO_REMOVE, 0, 0 },
	{ "the directory itself", "var/lib/apt/lists/partial", 0040700, 42, 0, 2, 0, CTM_CLEAN_ALL,
	  false, false, NULL, NO_REMOVE, 2, 0 },
	{ "dpkg's journal is never removed", JOURNAL, 0100644, 0, 0, 1, 0, CTM_CLEAN_ALL, false,
	  false, NULL, NO_REMOVE, 2, 0 },
	{ "a lock by being there", PACMAN, 0100000, 100000, 100000, 1, 0, CTM_CLEAN_STALE, false,
	  false, NULL, CTM_F_PKG_LOCK, 0, 0 },
	{ "a lock by being there, of the host", PACMAN, 0100000, 0, 0, 1, 0, CTM_CLEAN_STALE, false,
	  false, NULL, CTM_F_PKG_LOCK, 0, 0 },
	{ "a lock by being there, --clean none", PACMAN, 0100000, 0, 0, 1, 0, CTM_CLEAN_NONE, false,
	  false, NULL, NO_REMOVE, 2, 0 },
	{ "a lock by being there with two names", PACMAN, 0100000, 100000, 100000, 2, 0,
	  CTM_CLEAN_STALE, false, false, NULL, NO_REMOVE, 0, 1 },
	{ "a pid file that stays is no lock by being there", "run/zypp.pid", 0100644, 100000,
	  100000, 1, 0, CTM_CLEAN_STALE, false, false, NULL, NO_REMOVE, 0, 0 },
	{ "a database that is its own lock", XBPS, 0100644, 0, 0, 1, 0, CTM_CLEAN_STALE, false,
	  false, NULL, NO_REMOVE, 2, 0 },
	{ "a database that is its own lock, --clean all", XBPS, 0100644, 0, 0, 1, 0, CTM_CLEAN_ALL,
	  false, false, NULL, NO_REMOVE, 2, 0 },
	{ "cache of libsolv", "var/cache/dnf/a.solv", 0100644, 100000, 100000, 1, 0,
	  CTM_CLEAN_STALE, false, false, "SOLV\0\0\0\x09\0\0\0\x11", NO_REMOVE, 0, 0 },
	{ "damaged cache of libsolv", "var/cache/libdnf5/a-1/solv/a.solv", 0100644, 100000, 100000,
	  1, 0, CTM_CLEAN_STALE, false, false, "\0\0\0\0\0\0\0\0\0\0\0\0", CTM_F_PKG_CACHE, 0, 0 },
	{ "rpm's database", "var/lib/rpm/rpmdb.sqlite", 0100644, 0, 0, 1, 0, CTM_CLEAN_ALL, false,
	  false, NULL, NO_REMOVE, 2, 0 },
	{ "debconf's answers neither", "var/cache/debconf/config.dat", 0100644, 0, 0, 1, 0,
	  CTM_CLEAN_ALL, false, false, NULL, NO_REMOVE, 2, 0 },
};

static size_t pkg_left(const struct ctm_plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		n += f->code >= CTM_F_PKG_LOCK && f->code <= CTM_F_PKG_PARTIAL &&
		     f->action == CTM_NO_ACTION;
	}
	return n;
}

CASES(plan, rules, rules)
{
	static const bool none_on[16];
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	struct ctm_policy policy = {
		.map = map,
		.clean = rules[*i].clean,
		.no_content = rules[*i].no_content,
		.raw_volume = true,
		.rules_on = rules[*i].off ? none_on : rules_on,
	};
	struct ctm_fact fact =
		fact_of(rules[*i].path, rules[*i].mode, rules[*i].uid, rules[*i].gid);
	const char *name = rules[*i].name;
	const struct ctm_action *a;

	fact.nlink = rules[*i].nlink;
	fact.attr = rules[*i].attr;
	fact.size = CTM_RULES_LOCK_MAX; /* as much as a lock may have */
	if (rules[*i].head) {
		fact.head = (struct ctm_bytes){ .p = rules[*i].head, .len = 12 };
	}
	plan = plan_of(&policy, &fact, 1);
	a = action_at(plan, fact.path);
	if (rules[*i].removed != NO_REMOVE) {
		cr_assert(a && a->kind == CTM_ACT_REMOVE, "%s", name);
		cr_assert_eq(a->cause, rules[*i].removed, "%s", name);
		cr_assert_eq(a->size, fact.size, "%s", name);
		cr_assert_eq(a->before.uid.v, fact.uid.v, "%s", name);
		cr_assert_eq(plan->findings.n, 1, "%s: one inode, one cause", name);
	} else {
		cr_assert(!a || a->kind == CTM_ACT_SET, "%s", name);
		cr_assert_eq(a != NULL, rules[*i].owner_repairs > 0, "%s", name);
	}
	cr_assert_eq(findings_of(plan, CTM_F_OWN_HOST), (size_t)rules[*i].owner_repairs, "%s",
		     name);
	cr_assert_eq(pkg_left(plan), (size_t)rules[*i].pkg_left, "%s", name);
	cr_assert_eq(findings_of(plan, CTM_F_ATTR_FLAG), fact.attr != 0, "%s", name);
}

static const struct {
	const char *name;
	const char *path;
	uint32_t owner;
	enum ctm_clean clean;
	bool removed;
	bool said; /* pkg.large */
	int owner_repairs;
} large[] = {
	{ "a lock", LOCK, 0, CTM_CLEAN_STALE, false, true, 2 },
	{ "a lock, --clean all", LOCK, 100000, CTM_CLEAN_ALL, false, true, 0 },
	{ "a healthy lock", LOCK, 100000, CTM_CLEAN_STALE, false, false, 0 },
	{ "a lock, --clean none", LOCK, 0, CTM_CLEAN_NONE, false, false, 2 },
	{ "a lock by being there", PACMAN, 100000, CTM_CLEAN_STALE, false, true, 0 },
	{ "a lock by being there, of the host", PACMAN, 0, CTM_CLEAN_STALE, false, true, 2 },
	{ "a pid file", "var/lib/dnf/rpmdb_lock.pid", 100000, CTM_CLEAN_STALE, false, true, 0 },
	{ "what rpm shares", "var/lib/rpm/__db.001", 0, CTM_CLEAN_STALE, true, false, 0 },
	{ "a cache", CACHE, 0, CTM_CLEAN_STALE, true, false, 0 },
	{ "a download", PARTIAL, 0, CTM_CLEAN_STALE, true, false, 0 },
};

/* A container can make one anew for each start, 255 MiB long and without a byte in it. */
CASES(plan, no_lock_is_longer_than_a_page, large)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = {
		.map = map,
		.clean = large[*i].clean,
		.no_content = true,
		.raw_volume = true,
		.rules_on = rules_on,
	};
	struct ctm_fact fact = fact_of(large[*i].path, 0100644, large[*i].owner, large[*i].owner);
	const char *name = large[*i].name;
	const struct ctm_action *a;

	fact.size = CTM_RULES_LOCK_MAX + 1;
	plan = plan_of(&policy, &fact, 1);
	a = action_at(plan, fact.path);
	cr_assert_eq(a && a->kind == CTM_ACT_REMOVE, large[*i].removed, "%s", name);
	cr_assert_eq(finding_at(plan, CTM_F_PKG_LARGE, fact.path) != NULL, large[*i].said, "%s",
		     name);
	cr_assert_eq(findings_of(plan, CTM_F_OWN_HOST), (size_t)large[*i].owner_repairs, "%s",
		     name);
	cr_assert_eq(pkg_left(plan), 0, "%s", name);
}

/* Of a running container the lock may be one that somebody holds; its owner counts all the same. */
Test(plan, a_running_container_may_be_at_work)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);

	for (uint32_t owner = 0; owner <= 100000; owner += 100000) {
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
		struct ctm_policy policy = {
			.map = map,
			.rules_on = rules_on,
			.running = true,
			.raw_volume = true,
		};
		struct ctm_fact fact = fact_of(PACMAN, 0100000, owner, owner);

		plan = plan_of(&policy, &fact, 1);
		cr_assert_eq(plan->actions.n, owner == 0, "owner %u", owner);
		cr_assert_eq(plan->findings.n, owner == 0, "owner %u", owner);
	}
}

/* Whatever is asked for, of whichever owner and size: what cannot be built again stays. */
Test(plan, what_is_never_removed)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	size_t n = 0;

	for (size_t i = 0; i < ctm_rules_n; i++) {
		for (size_t k = 0; k < ctm_rules_all[i]->n_never; k++, n++) {
			for (int how = 0; how < 6; how++) {
				CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
				struct ctm_policy policy = {
					.map = map,
					.rules_on = rules_on,
					.clean = (enum ctm_clean)(how / 2),
				};
				struct ctm_fact fact = fact_of(ctm_rules_all[i]->never[k], 0100644,
							       how % 2 ? 100000 : 0, 0);

				plan = plan_of(&policy, &fact, 1);
				cr_assert_eq(plan->actions.n, 1, "%s", fact.path);
				cr_assert_eq(plan->actions.v[0].kind, CTM_ACT_SET, "%s", fact.path);
			}
		}
	}
	cr_assert_gt(n, 30);
}

/* The repair of what stands at a lock's path says why it was not removed. */
Test(plan, odd_things_at_a_rules_path_are_reported)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .rules_on = rules_on };
	struct ctm_fact fact = fact_of(LOCK, S_IFIFO | 0600, 0, 0);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = plan_of(&policy, &fact, 1);
	const struct ctm_finding *f = finding_at(plan, CTM_F_PKG_LOCK, LOCK);

	cr_assert(f && f->text && strstr(f->text, "FIFO"));
	cr_assert_eq(f->action, 0, "the repair of its owner cures it");
	cr_assert_eq(plan->actions.v[0].cause, CTM_F_OWN_HOST);
	cr_assert_not(ctm_plan_has_leftover(plan));
}

Test(plan, unfinished_dpkg_is_said_once)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .rules_on = rules_on };
	const struct ctm_fact facts[] = {
		fact_of("var/lib/dpkg/updates/0001", 0644, 100000, 100000),
		fact_of("var/lib/dpkg/updates/0000", 0644, 100000, 100000),
		fact_of("var/lib/dpkg/updates/d", S_IFDIR | 0755, 100000, 100000),
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = plan_of(&policy, facts, 3);
	CLEANUP(ctm_planp_free) struct ctm_plan *none = plan_of(&policy, facts + 2, 1);

	cr_assert_eq(plan->findings.n, 1);
	cr_assert_not_null(finding_at(plan, CTM_F_PKG_UNFINISHED, "var/lib/dpkg/updates"));
	cr_assert_eq(plan->actions.n, 0);
	cr_assert_not(ctm_plan_has_work(plan), "information only");
	cr_assert_eq(none->findings.n, 0);
}

static const struct {
	const char *name;
	const char *path;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	bool raw;
	bool finding;
} never[] = {
	{ "made by the file system's tools", "lost+found", 0040700, 0, 0, true, false },
	{ "in a directory volume", "lost+found", 0040700, 0, 0, false, true },
	{ "not at the top", "var/lost+found", 0040700, 0, 0, true, true },
	{ "inside it", "lost+found/#12", 0100644, 0, 0, true, true },
	{ "a file of that name", "lost+found", 0100700, 0, 0, true, true },
	{ "another owner", "lost+found", 0040700, 1000, 0, true, true },
	{ "another group", "lost+found", 0040700, 0, 5, true, true },
	{ "shifted", "lost+found", 0040700, 100000, 100000, true, false },
	{ "the root", "", 0040755, 0, 0, true, true },
};

CASES(plan, lost_found, never)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .raw_volume = never[*i].raw };
	struct ctm_fact fact =
		fact_of(never[*i].path, never[*i].mode, never[*i].uid, never[*i].gid);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = plan_of(&policy, &fact, 1);

	cr_assert_eq(plan->actions.n, never[*i].finding, "%s", never[*i].name);
	cr_assert_eq(plan->findings.n > 0, never[*i].finding, "%s", never[*i].name);
}

/* Files around an immutable one are repaired, it is reported and left. */
Test(plan, immutable_inodes_are_left)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map };
	struct ctm_fact facts[] = {
		fact_of("home/admin/conf", 0644, 0, 0),
		fact_of("home/admin", S_IFDIR | 0755, 100000, 100000),
		fact_of("home/admin/x", 0644, 0, 0),
		fact_of("home/log", 0644, 0, 100000),
		fact_of("home/odd", 0644, 70000, 100000),
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;

	facts[0].attr = CTM_ATTR_IMMUTABLE;
	facts[1].attr = CTM_ATTR_IMMUTABLE;
	facts[3].attr = CTM_ATTR_APPEND;
	facts[4].attr = CTM_ATTR_IMMUTABLE;
	plan = plan_of(&policy, facts, ARRAY_LEN(facts));
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_str_eq(plan->actions.v[0].path, "home/admin/x");
	cr_assert_eq(findings_of(plan, CTM_F_ATTR_FLAG), 2, "only where a change is needed");
	cr_assert_str_eq(finding_at(plan, CTM_F_ATTR_FLAG, "home/admin/conf")->text, "immutable");
	cr_assert_str_eq(finding_at(plan, CTM_F_ATTR_FLAG, "home/log")->text, "append-only");
	cr_assert_eq(finding_at(plan, CTM_F_OWN_HOST, "home/admin/conf")->action, CTM_NO_ACTION);
	cr_assert(ctm_plan_has_leftover(plan));
}

/* Asked by name: what can be opened is repaired with its flags, all else still left. */
Test(plan, flags_are_lifted_when_asked)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .fix = CTM_FIX_FLAGS, .rules_on = rules_on };
	struct ctm_fact facts[] = {
		fact_of("home/conf", 0100644, 0, 0),
		fact_of("home/dir", S_IFDIR | 0755, 0, 100000),
		fact_of("home/fifo", S_IFIFO | 0644, 0, 0),
		fact_of("home/plain", 0100644, 0, 0),
		fact_of(LOCK, 0100640, 0, 0),
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	char with[33], without[33];

	facts[0].attr = CTM_ATTR_IMMUTABLE | CTM_ATTR_APPEND;
	facts[1].attr = CTM_ATTR_APPEND;
	facts[2].attr = CTM_ATTR_IMMUTABLE;
	facts[4].attr = CTM_ATTR_IMMUTABLE;
	plan = plan_of(&policy, facts, ARRAY_LEN(facts));
	cr_assert_eq(plan->actions.n, 3);
	cr_assert_str_eq(plan->actions.v[0].path, "home/conf");
	cr_assert_eq(plan->actions.v[0].attr, CTM_ATTR_IMMUTABLE | CTM_ATTR_APPEND);
	cr_assert_str_eq(plan->actions.v[1].path, "home/dir");
	cr_assert_eq(plan->actions.v[1].attr, CTM_ATTR_APPEND);
	cr_assert_str_eq(plan->actions.v[2].path, "home/plain");
	cr_assert_eq(plan->actions.v[2].attr, 0);
	cr_assert_eq(findings_of(plan, CTM_F_ATTR_FLAG), 4);
	cr_assert_eq(finding_at(plan, CTM_F_ATTR_FLAG, "home/conf")->action, 0);
	cr_assert_eq(finding_at(plan, CTM_F_ATTR_FLAG, "home/fifo")->action, CTM_NO_ACTION);
	cr_assert_eq(finding_at(plan, CTM_F_ATTR_FLAG, LOCK)->action, CTM_NO_ACTION);
	ctm_plan_digest(plan, "x", with);
	plan->actions.v[0].attr = 0;
	ctm_plan_digest(plan, "x", without);
	cr_assert_str_neq(with, without, "who approves a plan approves this as well");
}

/* 30 files of a vendor's archive: the range that the map would need is said, nothing is done. */
Test(plan, beyond_names_the_needed_range)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map };
	struct ctm_fact facts[30];
	char paths[30][32];
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;

	for (size_t i = 0; i < 30; i++) {
		snprintf(paths[i], sizeof(paths[i]), "opt/vendor/bin/%02zu", i);
		facts[i] = fact_of(paths[i], 0755, 1029054284, 100000);
	}
	plan = plan_of(&policy, facts, 30);
	cr_assert_eq(plan->actions.n, 0);
	cr_assert_eq(plan->findings.n, 30);
	cr_assert_str_eq(plan->findings.v[0].text,
			 "the map would need u 0 100000 1028954285 at least");
	cr_assert_eq(plan->findings.v[29].text, plan->findings.v[0].text, "one text for all");
	cr_assert(ctm_plan_has_work(plan) && ctm_plan_has_leftover(plan));
}

Test(plan, errors_mounts_and_notes)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map };
	const struct ctm_fact facts[] = {
		{ .kind = CTM_FACT_ERROR, .path = "b", .path_len = 1, .err = EIO, .op = "read" },
		{ .kind = CTM_FACT_MOUNT, .path = "mnt", .path_len = 3 },
		{ .kind = CTM_FACT_ERROR,
		  .path = "root",
		  .path_len = 4,
		  .err = ELOOP,
		  .op = "open" },
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	char text[] = "lock: backup";

	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_eq(ctm_plan_fact(&facts[0], plan), 0);
	cr_assert_eq(ctm_plan_fact(&facts[1], plan), 0);
	cr_assert_eq(ctm_plan_fact(&facts[2], plan), 0);
	cr_assert_eq(ctm_plan_note(plan, CTM_F_PATH_LINK, "var/lib", 7, NULL), 0);
	cr_assert_eq(ctm_plan_note(plan, CTM_F_CONF_LOCK, NULL, 0, text), 0);
	text[0] = 'X';
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	cr_assert_eq(plan->findings.n, 5);
	cr_assert_str_eq(finding_at(plan, CTM_F_CONF_LOCK, NULL)->text, "lock: backup");
	cr_assert_eq(finding_at(plan, CTM_F_ERR, "b")->err, EIO);
	cr_assert_str_eq(finding_at(plan, CTM_F_ERR, "b")->text, "read");
	cr_assert_not_null(finding_at(plan, CTM_F_MOUNT_BELOW, "mnt"));
	cr_assert_not_null(finding_at(plan, CTM_F_PATH_LINK, "var/lib"));
	cr_assert_not_null(finding_at(plan, CTM_F_PATH_LINK, "root"));
}

/* Facts are gone after the call: the plan has its own copies of all that it keeps. */
Test(plan, copies_what_it_keeps)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .rules_on = rules_on };
	unsigned char acl[64];
	unsigned char cap[24];
	char path[] = "usr/bin/x";
	char lock[] = LOCK;
	struct ctm_fact fact = fact_of(path, 0755, 0, 0);
	struct ctm_fact gone = fact_of(lock, 0640, 0, 0);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_action *a;
	unsigned char want[64];

	fact.acl_access = acl_of("u::rwx,g::r-x,m::r-x,o::---", acl);
	fact.caps = caps_v3(100000, cap);
	gone.acl_access = fact.acl_access;
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_eq(ctm_plan_fact(&fact, plan), 0);
	cr_assert_eq(ctm_plan_fact(&gone, plan), 0);
	memset(acl, 0xee, sizeof(acl));
	memset(cap, 0xee, sizeof(cap));
	memset(path, 'y', sizeof(path) - 1);
	memset(lock, 'y', sizeof(lock) - 1);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	a = action_at(plan, "usr/bin/x");
	cr_assert_not_null(a);
	cr_assert(ctm_bytes_eq(a->before.acl_access, acl_of("u::rwx,g::r-x,m::r-x,o::---", want)));
	cr_assert(ctm_bytes_eq(a->after.acl_access, a->before.acl_access));
	cr_assert(ctm_bytes_eq(a->before.caps, caps_v3(100000, cap)));
	a = action_at(plan, LOCK);
	cr_assert(a &&
		  ctm_bytes_eq(a->before.acl_access, acl_of("u::rwx,g::r-x,m::r-x,o::---", want)));
}

/* The deeper a tree, the longer its paths: a few thousand directories can fill any memory. */
static size_t fill_with_long_paths(struct ctm_plan *plan, size_t most, int *ret)
{
	char path[4001];
	size_t n = 0;
	int r;

	memset(path, 'd', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (size_t i = 200; i < sizeof(path) - 1; i += 200) {
		path[i] = '/';
	}
	do {
		(void)snprintf(path + sizeof(path) - 9, 9, "%08zu", n * 2654435761 % 100000000);
		const struct ctm_fact fact = fact_of(path, 0644, 0, 0);

		r = ctm_plan_fact(&fact, plan);
		n++;
	} while (r == 0 && n < most);
	*ret = r;
	return n;
}

/* What is too deep is one finding for each directory that has it, with their number. */
Test(plan, too_deep_is_counted)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .memory = 1 << 20 };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	struct ctm_fact a = { .kind = CTM_FACT_ERROR,
			      .path = "a",
			      .path_len = 1,
			      .err = ENAMETOOLONG,
			      .op = CTM_OP_DEEP };
	struct ctm_fact b = a;
	struct ctm_fact other = a;

	b.path = "b";
	other.op = "open";
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	for (int i = 0; i < 300; i++) {
		cr_assert_eq(ctm_plan_fact(i % 3 ? &a : &b, plan), 0);
	}
	cr_assert_eq(ctm_plan_fact(&other, plan), 0);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	cr_assert_eq(plan->findings.n, 3);
	cr_assert_str_eq(plan->findings.v[0].path, "a");
	cr_assert_str_eq(plan->findings.v[0].text,
			 "below it, 200 directories are too deep to be looked at");
	cr_assert_str_eq(plan->findings.v[1].text, "open");
	cr_assert_str_eq(plan->findings.v[2].path, "b");
	cr_assert_str_eq(plan->findings.v[2].text,
			 "below it, 100 directories are too deep to be looked at");
	/* once more changes nothing */
	cr_assert_eq(ctm_plan_note(plan, CTM_F_PKG_HELD, "c", 1, NULL), 0);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	cr_assert_eq(plan->findings.n, 4);
	cr_assert(ctm_plan_has_leftover(plan));
}

Test(plan, memory_has_an_end)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map, .rules_on = rules_on, .memory = 1 << 20 };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	size_t n;
	int r;

	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	n = fill_with_long_paths(plan, 10000, &r);
	cr_assert_eq(r, -ENOMEM);
	cr_expect_eq(ctm_plan_no_room(plan), -EFBIG);
	cr_assert_gt(n, 50, "%zu", n);
	cr_assert_lt(n, 300, "%zu", n);
}

/* The same with a directory for files: the plan goes on, and is the same as in memory. */
Test(plan, the_rest_lies_in_files)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	SCRATCH(dir);
	struct ctm_policy policies[] = {
		{ .map = map, .rules_on = rules_on },
		{ .map = map, .rules_on = rules_on, .memory = 1 << 20, .spill_dir = dir.path },
	};
	char digests[2][33];

	for (size_t i = 0; i < 2; i++) {
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
		int r;

		cr_assert_eq(ctm_plan_new(&policies[i], &plan), 0);
		cr_assert_eq(fill_with_long_paths(plan, 5000, &r), 5000);
		cr_assert_eq(r, 0);
		cr_assert_eq(ctm_plan_finish(plan), 0);
		cr_assert_eq(plan->actions.n, 5000);
		cr_expect_eq(ctm_spill_filed(plan->spill) > 0, i == 1);
		ctm_plan_digest(plan, "", digests[i]);
		check_plan(plan);
	}
	cr_expect_str_eq(digests[0], digests[1]);
}

Test(plan, without_a_map_nothing_is_judged)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *empty = ctm_idmap_new();
	struct ctm_policy policies[] = { { .map = NULL }, { .map = empty } };
	const struct ctm_fact facts[] = {
		fact_of("a", 0644, 0, 0),
		{ .kind = CTM_FACT_ERROR, .path = "b", .path_len = 1, .err = EACCES, .op = "open" },
	};

	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		CLEANUP(ctm_planp_free) struct ctm_plan *plan = plan_of(&policies[i], facts, 2);

		cr_assert_eq(plan->actions.n, 0);
		cr_assert_eq(plan->findings.n, 1);
	}
}

Test(plan, flatten_without_a_root_is_refused)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("1:100001:65535");
	struct ctm_policy policy = { .map = map, .flatten = true };
	struct ctm_plan *plan = NULL;

	cr_assert_eq(ctm_plan_new(&policy, &plan), -EINVAL);
	cr_assert_null(plan);
}

Test(plan, freeing_nothing)
{
	ctm_plan_free(NULL);
}

static const struct {
	enum ctm_finding_code code;
	bool work;
} severities[] = {
	{ CTM_F_PKG_UNFINISHED, false }, { CTM_F_MOUNT_BELOW, false }, { CTM_F_PKG_LARGE, false },
	{ CTM_F_CONF_LOCK, true },       { CTM_F_ERR, true },          { CTM_F_PKG_HELD, true },
};

CASES(plan, work, severities)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	struct ctm_policy policy = { .map = map };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const char *code = ctm_finding_info(severities[*i].code)->code;

	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_not(ctm_plan_has_work(plan) || ctm_plan_has_leftover(plan));
	cr_assert_eq(ctm_plan_note(plan, severities[*i].code, "x", 1, NULL), 0);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	cr_assert_eq(ctm_plan_has_work(plan), severities[*i].work, "%s", code);
	cr_assert_eq(ctm_plan_has_leftover(plan), severities[*i].work, "%s", code);
}
