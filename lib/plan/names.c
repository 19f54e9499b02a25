/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that were told, sorted, and looked at one by one. */
#include "plan/names.h"

#include <errno.h>

#include "base/pathname.h"
#include "base/sort.h"
#include "plan/work.h"

int ctm_plan_tell_name(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	struct ctm_told_name name = {
		.dev = fact->dev,
		.ino = fact->ino,
		.path_len = fact->path_len,
	};

	if (plan->policy.raw_volume || fact->kind != CTM_FACT_INODE || !ctm_fact_has_names(fact)) {
		return 0;
	}
	name.path = ctm_arena_dup(&plan->arena, fact->path, fact->path_len);
	ctm_spill_pass(plan->spill);
	return name.path ? ctm_spill_push(plan->spill, &plan->work->names, &name) : -ENOMEM;
}

static int by_inode(const void *pa, const void *pb)
{
	const struct ctm_told_name *a = pa;
	const struct ctm_told_name *b = pb;

	if (a->dev != b->dev) {
		return a->dev < b->dev ? -1 : 1;
	}
	if (a->ino != b->ino) {
		return a->ino < b->ino ? -1 : 1;
	}
	return ctm_path_cmp(a->path, a->path_len, b->path, b->path_len);
}

/* 1, 0, or -ENOMEM. Whoever has no tree to look into, as a test, believes what was told. */
static int is_there(const struct ctm_plan *plan, const struct ctm_told_name *name)
{
	const struct ctm_policy *policy = &plan->policy;

	return policy->is_name ? policy->is_name(policy->is_name_arg, name->path, name->path_len,
						 name->dev, name->ino) :
				 1;
}

int ctm_plan_count_names(struct ctm_plan *plan)
{
	const ctm_told_names *names = &plan->work->names;
	int r = ctm_sort(plan->spill, names->v, names->n, sizeof(*names->v), by_inode);

	for (size_t i = 0; r >= 0 && i < names->n; i++) {
		const struct ctm_told_name *name = &names->v[i];
		struct ctm_link *link = ctm_links_get(&plan->work->links, name->dev, name->ino);

		ctm_spill_pass(plan->spill);
		if (!link || link->action == CTM_NO_ACTION ||
		    (i > 0 && by_inode(name - 1, name) == 0)) {
			continue;
		}
		r = is_there(plan, name);
		link->all += r > 0;
	}
	ctm_spill_vec_done(plan->spill, &plan->work->names);
	return r < 0 ? r : 0;
}
