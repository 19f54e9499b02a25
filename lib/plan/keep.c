/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Taking a removal back: the file stays, its owner is repaired.
 */
#include <errno.h>

#include "base/pathname.h"
#include "plan/nested.h"
#include "plan/work.h"

/* Where a finding of this code and path would stand in the settled part. */
static size_t lower_bound(const struct ctm_plan *plan, const struct ctm_action *action)
{
	size_t low = 0;
	size_t high = plan->work->settled;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct ctm_finding *f = &plan->findings.v[mid];
		int cmp = (f->code > action->cause) - (f->code < action->cause);

		if (cmp == 0) {
			cmp = f->path ? ctm_path_cmp(f->path, f->path_len, action->path,
						     action->path_len) :
					-1;
		}
		if (cmp < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* The finding that asked for the removal, NULL when there is none (a program error). */
static struct ctm_finding *finding_of(struct ctm_plan *plan, size_t action)
{
	for (size_t i = lower_bound(plan, &plan->actions.v[action]); i < plan->work->settled; i++) {
		struct ctm_finding *f = &plan->findings.v[i];

		if (f->code != plan->actions.v[action].cause) {
			break;
		}
		if (f->action == action && f->kind != CTM_KIND_DROPPED) {
			return f;
		}
	}
	return NULL;
}

int ctm_plan_keep_file(struct ctm_plan *plan, size_t action, enum ctm_finding_code why,
		       const char *text)
{
	struct ctm_place place = { .links = false }; /* what is removed has one name */
	struct ctm_judgement judged;
	struct ctm_finding *asked;
	struct ctm_action *a;
	int r;

	if (action >= plan->actions.n || plan->actions.v[action].kind != CTM_ACT_REMOVE) {
		return -EINVAL;
	}
	a = &plan->actions.v[action];
	place.nested = ctm_path_nested(a->path, a->path_len);
	r = ctm_judge_inode(&plan->work->judge, &a->before, &place, &plan->arena, &judged);
	if (r < 0) {
		return r;
	}
	asked = finding_of(plan, action);
	if (asked && (a->stale == CTM_STALE_OWNER || a->stale == CTM_STALE_NOT)) {
		asked->kind = CTM_KIND_DROPPED; /* the owner has findings of its own now */
	} else if (asked) {
		asked->action = CTM_NO_ACTION;
	}
	a->kind = CTM_ACT_SET;
	a->cause = ctm_judge_cause(&judged);
	a->after = judged.after;
	a->rule = NULL;
	a->stale = CTM_STALE_NOT;
	plan->work->unsettled = true;
	const struct ctm_finding like = {
		.path = a->path,
		.path_len = a->path_len,
		.action = action,
		.mode = a->before.mode,
		.nlink = a->nlink,
	};

	r = ctm_plan_add_issues(plan, &judged, &like);
	return r < 0 ? r : ctm_plan_note(plan, why, a->path, a->path_len, text);
}
