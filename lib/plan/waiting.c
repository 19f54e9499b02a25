/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inodes that cannot be judged before the volume is counted.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "plan/nested.h"
#include "plan/work.h"

struct ctm_place ctm_plan_place(const struct ctm_plan *plan, const struct ctm_fact *fact)
{
	const bool links = ctm_fact_has_names(fact);

	return (struct ctm_place){
		.nested = ctm_path_nested(fact->path, fact->path_len) ||
			  (links && ctm_links_get(&plan->work->nested, fact->dev, fact->ino)),
		.links = links,
	};
}

static int put_aside(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	struct ctm_fact copy = *fact;
	struct ctm_bytes *const values[] = { &copy.acl_access, &copy.acl_default, &copy.caps,
					     &copy.head };
	int r = 0;

	copy.path = ctm_arena_dup(&plan->arena, fact->path, fact->path_len);
	if (!copy.path) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < ARRAY_LEN(values) && r == 0; i++) {
		r = ctm_arena_bytes(&plan->arena, *values[i], values[i]);
	}
	ctm_spill_pass(plan->spill);
	return r < 0 ? r : ctm_spill_push(plan->spill, &plan->work->waiting, &copy);
}

int ctm_plan_wait(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	const struct ctm_inode_state state = ctm_fact_state(fact);
	int r;

	if (!ctm_judge_unsure(&plan->work->judge, &state)) {
		return 0;
	}
	r = put_aside(plan, fact);
	return r < 0 ? r : 1;
}

bool ctm_plan_waits(const struct ctm_plan *plan)
{
	return plan->work->waiting.n > 0;
}

/* Of an inode with several names, one in a nested container is enough. */
static int note_nested(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	const struct ctm_link link = { .dev = fact->dev, .ino = fact->ino };

	if (!ctm_fact_has_names(fact) || !ctm_path_nested(fact->path, fact->path_len) ||
	    ctm_links_get(&plan->work->nested, fact->dev, fact->ino)) {
		return 0;
	}
	return ctm_links_add(&plan->work->nested, &link);
}

int ctm_plan_judge_waiting(struct ctm_plan *plan)
{
	struct ctm_plan_work *work = plan->work;
	int r = 0;

	for (size_t i = 0; i < work->waiting.n && r == 0; i++) {
		r = note_nested(plan, &work->waiting.v[i]);
		ctm_spill_pass(plan->spill);
	}
	work->kept = true;
	for (size_t i = 0; i < work->waiting.n && r == 0; i++) {
		r = ctm_plan_inode(plan, &work->waiting.v[i]);
	}
	work->kept = false;
	ctm_spill_vec_done(plan->spill, &work->waiting);
	return r;
}
