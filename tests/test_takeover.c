/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of a plan that begins with what an unfinished run still has to do. */
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"

/* Two files of the host: numbers 1 and 2 of the volume. */
static struct ctm_plan *two(struct ctm_policy *policy, const struct ctm_idmap *map)
{
	struct ctm_fact facts[] = { fact_of("a", 0644, 0, 0), fact_of("b", 04755, 0, 0) };

	facts[0].ino = 1;
	facts[1].ino = 2;
	policy->map = map;
	return plan_of(policy, facts, 2);
}

static struct ctm_action of_run(const char *path, uint64_t ino, uint32_t before, uint32_t after)
{
	return (struct ctm_action){
		.kind = CTM_ACT_SET,
		.cause = CTM_F_RUN_UNFINISHED,
		.path = path,
		.path_len = strlen(path),
		.ino = ino,
		.nlink = 1,
		.names = 1,
		.before = { .mode = 0104755, .uid.v = before, .gid.v = before },
		.after = { .mode = 0104755, .uid.v = after, .gid.v = after },
	};
}

#define PLAN(name)                                                         \
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000"); \
	struct ctm_policy policy = { 0 };                                  \
	CLEANUP(ctm_planp_free) struct ctm_plan *name = two(&policy, map)

Test(takeover, an_inode_stands_there_once)
{
	PLAN(plan);
	/* another name of the second one, and one that the plan does not have */
	struct ctm_action v[] = { of_run("link", 2, 0, 100000), of_run("c", 3, 33, 100033) };

	v[0].dev = plan->actions.v[1].dev;
	v[1].dev = v[0].dev;
	plan->refuse_tree = true;
	cr_assert_eq(ctm_plan_take_over(plan, v, 2, false), 0);
	check_plan(plan);
	cr_assert_eq(plan->actions.n, 3);
	cr_expect_str_eq(plan->actions.v[0].path, "a");
	cr_expect_eq(plan->actions.v[0].cause, CTM_F_OWN_HOST);
	cr_expect_str_eq(plan->actions.v[1].path, "b", "the plan's name of it");
	cr_expect_eq(plan->actions.v[1].cause, CTM_F_RUN_UNFINISHED);
	cr_expect_eq(plan->actions.v[1].after.uid.v, 100000);
	cr_expect_str_eq(plan->actions.v[2].path, "c");
	cr_expect_eq(findings_of(plan, CTM_F_RUN_UNFINISHED), 2);
	cr_expect_eq(findings_of(plan, CTM_F_OWN_HOST), 4, "what is wrong stays wrong");
	cr_expect_not(ctm_plan_has_leftover(plan));
	cr_expect_not(plan->refuse_tree);
}

Test(takeover, an_undo_stands_alone)
{
	PLAN(plan);
	struct ctm_action v[] = { of_run("b", 2, 100000, 0), of_run("lock", 0, 0, 0) };

	v[0].dev = plan->actions.v[1].dev;
	v[1].kind = CTM_ACT_RESTORE;
	cr_assert_eq(ctm_plan_take_over(plan, v, 2, true), 0);
	cr_assert_eq(plan->actions.n, 2);
	cr_expect_str_eq(plan->actions.v[0].path, "b");
	cr_expect_eq(plan->actions.v[0].after.uid.v, 0);
	cr_expect_eq(plan->actions.v[1].kind, CTM_ACT_RESTORE);
}

Test(takeover, nothing_is_left_but_to_end_it)
{
	PLAN(plan);

	cr_assert_eq(ctm_plan_take_over(plan, NULL, 0, false), 0);
	check_plan(plan);
	cr_assert_eq(plan->actions.n, 2);
	cr_expect_eq(findings_of(plan, CTM_F_RUN_UNFINISHED), 1);
	cr_expect(ctm_plan_has_work(plan));
}

/* The digest covers the run: another after, or a file that comes back, is another plan. */
Test(takeover, digest)
{
	PLAN(own);
	CLEANUP(ctm_planp_free) struct ctm_plan *taken = two(&policy, map);
	CLEANUP(ctm_planp_free) struct ctm_plan *other = two(&policy, map);
	struct ctm_action v[] = { of_run("b", 2, 0, 100000), of_run("lock", 0, 0, 0) };
	char digests[3][33];

	v[0].dev = taken->actions.v[1].dev;
	v[1].kind = CTM_ACT_RESTORE;
	cr_assert_eq(ctm_plan_take_over(taken, v, 2, false), 0);
	v[1].sha256[31] = 1;
	cr_assert_eq(ctm_plan_take_over(other, v, 2, false), 0);
	ctm_plan_digest(own, "id", digests[0]);
	ctm_plan_digest(taken, "id", digests[1]);
	ctm_plan_digest(other, "id", digests[2]);
	cr_expect_str_neq(digests[0], digests[1]);
	cr_expect_str_neq(digests[1], digests[2]);
}

static const struct {
	const char *name;
	size_t keep; /* so many of the facts a, b, c are still there */
	const char *changed;
	bool want;
} within[] = {
	{ "the same", 3, NULL, true },         { "less", 1, NULL, true },
	{ "nothing", 0, NULL, true },          { "one has changed", 3, "b", false },
	{ "one that is new", 3, "bb", false }, { "the last is new", 3, "d", false },
};

CASES(takeover, within, within)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	struct ctm_policy policy = { .map = map };
	struct ctm_fact facts[4] = { fact_of("a", 0644, 0, 0), fact_of("b", 0644, 0, 0),
				     fact_of("c", 0644, 0, 0) };
	CLEANUP(ctm_planp_free) struct ctm_plan *agreed = plan_of(&policy, facts, 3);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	size_t n = within[*i].keep;

	if (within[*i].changed) {
		size_t at = strcmp(within[*i].changed, "b") == 0 ? 1 : n++;

		facts[at] = fact_of(within[*i].changed, 0644, 0, 42);
	}
	plan = plan_of(&policy, facts, n);
	cr_assert_eq(ctm_plan_within(plan, agreed), within[*i].want, "%s", within[*i].name);
}
