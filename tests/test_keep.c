/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking removals back. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"

static const bool rules_on[16] = { [0 ... 15] = true };

#define CACHE "var/cache/apt/pkgcache.bin"

static struct ctm_plan *removal(struct ctm_policy *policy, const struct ctm_idmap *map,
				uint32_t uid, const char *head)
{
	struct ctm_fact fact = fact_of(CACHE, 0644, uid, uid);
	struct ctm_plan *plan;

	policy->map = map;
	policy->rules_on = rules_on;
	fact.size = 1 << 30;
	fact.head = (struct ctm_bytes){ .p = head, .len = head ? 12 : 0 };
	plan = plan_of(policy, &fact, 1);
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_eq(plan->actions.v[0].kind, CTM_ACT_REMOVE);
	return plan;
}

Test(keep, owner_is_repaired_instead)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	struct ctm_policy policy = { 0 };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = removal(&policy, map, 0, NULL);
	const struct ctm_finding *f;

	cr_assert_eq(ctm_plan_keep_file(plan, 0, CTM_F_PKG_LARGE, "1 GiB"), 0);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	check_plan(plan);
	cr_assert_eq(plan->actions.n, 1);
	cr_assert_eq(plan->actions.v[0].kind, CTM_ACT_SET);
	cr_assert_eq(plan->actions.v[0].cause, CTM_F_OWN_HOST);
	cr_assert_eq(plan->actions.v[0].after.uid.v, 100000);
	cr_assert_eq(findings_of(plan, CTM_F_PKG_CACHE), 0, "it is not removed any more");
	cr_assert_eq(findings_of(plan, CTM_F_OWN_HOST), 2);
	f = finding_at(plan, CTM_F_PKG_LARGE, CACHE);
	cr_assert(f && strcmp(f->text, "1 GiB") == 0);
	cr_assert(ctm_plan_has_work(plan));
	cr_assert_not(ctm_plan_has_leftover(plan), "the owner was what was wrong");
}

Test(keep, damaged_and_kept_is_left)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	struct ctm_policy policy = { 0 };
	CLEANUP(ctm_planp_free)
	struct ctm_plan *plan = removal(&policy, map, 100000, "damaged, see");

	cr_assert_eq(ctm_plan_keep_file(plan, 0, CTM_F_PKG_LARGE, NULL), 0);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	check_plan(plan);
	cr_assert_eq(plan->actions.n, 0, "there is nothing to do");
	cr_assert_eq(finding_at(plan, CTM_F_PKG_CACHE, CACHE)->action, CTM_NO_ACTION);
	cr_assert(ctm_plan_has_leftover(plan));
}

Test(keep, healthy_and_kept_is_nothing)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	struct ctm_policy policy = { .clean = CTM_CLEAN_ALL };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = removal(&policy, map, 100000, NULL);

	cr_assert_eq(ctm_plan_keep_file(plan, 0, CTM_F_PKG_LARGE, NULL), 0);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	cr_assert_eq(plan->actions.n, 0);
	cr_assert_eq(plan->findings.n, 1);
	cr_assert_not(ctm_plan_has_work(plan));
}

/* Indexes hold while a caller goes through all removals, and are right again afterwards. */
Test(keep, among_many)
{
	enum { N = 60 };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	struct ctm_policy policy = { .map = map, .rules_on = rules_on, .clean = CTM_CLEAN_ALL };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	struct ctm_fact facts[N];
	char paths[N][48];
	size_t removed = 0;
	size_t kept = 0;

	for (int i = 0; i < N; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s%02d",
			 i % 3 ? "var/lib/apt/lists/partial/" : "usr/", i);
		/* thirds: host's download, healthy download, file of the host */
		facts[i] = fact_of(paths[i], 0644, i % 3 == 2 ? 100000 : 0, 100000);
	}
	plan = plan_of(&policy, facts, N);
	cr_assert_eq(plan->actions.n, N);
	for (size_t i = 0; i < plan->actions.n; i++) {
		if (plan->actions.v[i].kind != CTM_ACT_REMOVE) {
			cr_assert_eq(ctm_plan_keep_file(plan, i, CTM_F_PKG_LARGE, NULL), -EINVAL);
		} else if (++removed % 2) {
			cr_assert_eq(ctm_plan_keep_file(plan, i, CTM_F_PKG_LARGE, NULL), 0);
			kept++;
		}
	}
	cr_assert_eq(ctm_plan_keep_file(plan, N, CTM_F_PKG_LARGE, NULL), -EINVAL);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	check_plan(plan);
	cr_assert_eq(removed, 40);
	cr_assert_eq(findings_of(plan, CTM_F_PKG_LARGE), kept);
	cr_assert_eq(findings_of(plan, CTM_F_PKG_PARTIAL), removed - kept);
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		cr_assert(f->action == CTM_NO_ACTION ||
				  strcmp(f->path, plan->actions.v[f->action].path) == 0,
			  "%s", f->path);
	}
	for (size_t i = 0; i < plan->actions.n; i++) {
		cr_assert(plan->actions.v[i].before.uid.v == 0 ||
				  plan->actions.v[i].kind == CTM_ACT_REMOVE,
			  "%s", plan->actions.v[i].path);
	}
}

Test(keep, settling_twice_changes_nothing)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	struct ctm_policy policy = { 0 };
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = removal(&policy, map, 0, NULL);
	char digests[2][33];

	cr_assert_eq(ctm_plan_keep_file(plan, 0, CTM_F_PKG_HELD, NULL), 0);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	ctm_plan_digest(plan, "", digests[0]);
	cr_assert_eq(ctm_plan_note(plan, CTM_F_CONF_LOCK, NULL, 0, NULL), 0);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	check_plan(plan);
	cr_assert_eq(plan->findings.v[0].code, CTM_F_CONF_LOCK);
	cr_assert_eq(ctm_plan_settle(plan), 0);
	ctm_plan_digest(plan, "", digests[1]);
	cr_assert_str_eq(digests[0], digests[1]);
}
