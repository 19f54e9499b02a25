/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actions in a read-only subvolume: taken back, or carried out while it is writable.
 */
#include <stdio.h>

#include "base/pathname.h"
#include "plan/fix.h"
#include "plan/work.h"

/* Actions on the device: how many, and the first. With drop they change nothing any more. */
static size_t find_all(struct ctm_plan *plan, uint64_t dev, bool drop, size_t *ret_first)
{
	size_t n = 0;

	*ret_first = CTM_NO_ACTION;
	for (size_t i = 0; i < plan->actions.n; i++) {
		struct ctm_action *a = &plan->actions.v[i];

		ctm_spill_pass(plan->spill);
		if (a->dev != dev) {
			continue;
		}
		if (n++ == 0) {
			*ret_first = i;
		}
		if (drop) {
			a->kind = CTM_ACT_SET;
			a->after = a->before;
			a->rule = NULL;
			a->stale = CTM_STALE_NOT;
		}
	}
	return n;
}

static void drop_findings(struct ctm_plan *plan, uint64_t dev)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		struct ctm_finding *f = &plan->findings.v[i];

		ctm_spill_pass(plan->spill);
		if (f->action != CTM_NO_ACTION && plan->actions.v[f->action].dev == dev) {
			f->kind = CTM_KIND_DROPPED;
		}
	}
}

/* In the order of their paths, so that the digest does not depend on device numbers. */
static int add_subvol(struct ctm_plan *plan, const struct ctm_plan_subvol *top)
{
	struct ctm_plan_subvol copy = *top;
	size_t at;
	int r;

	copy.path = ctm_arena_dup(&plan->arena, top->path, top->path_len);
	if (!copy.path) {
		return -ENOMEM;
	}
	r = ctm_vec_push(&plan->subvols, &copy);
	if (r < 0) {
		return r;
	}
	for (at = plan->subvols.n - 1; at > 0; at--) {
		const struct ctm_plan_subvol *before = &plan->subvols.v[at - 1];

		if (ctm_path_cmp(before->path, before->path_len, copy.path, copy.path_len) < 0) {
			break;
		}
		plan->subvols.v[at] = *before;
	}
	plan->subvols.v[at] = copy;
	return 0;
}

int ctm_plan_readonly(struct ctm_plan *plan, uint64_t dev, const struct ctm_plan_subvol *top,
		      const char *why_not)
{
	const bool flip = (plan->policy.fix & CTM_FIX_ROSUBVOL) && !why_not;
	size_t first;
	size_t n = find_all(plan, dev, !flip, &first);
	char text[160];
	int r;

	if (n == 0) {
		return 0;
	}
	if (!flip) {
		drop_findings(plan, dev);
	}
	(void)snprintf(text, sizeof(text), "%zu change%s needed in it%s%s", n, n == 1 ? "" : "s",
		       why_not ? "; " : "", why_not ? why_not : "");
	plan->work->unsettled = true;
	r = ctm_plan_note(plan, CTM_F_ATTR_ROSUBVOL, top->path, top->path_len, text);
	if (r == 0 && flip) {
		plan->findings.v[plan->findings.n - 1].action = first;
		r = add_subvol(plan, top);
	}
	return r;
}
