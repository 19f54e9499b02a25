/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plan's life, and its findings.
 */
#include "plan/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/classify.h"
#include "plan/work.h"

bool ctm_inode_state_eq(const struct ctm_inode_state *a, const struct ctm_inode_state *b)
{
	return a->mode == b->mode && a->uid.v == b->uid.v && a->gid.v == b->gid.v &&
	       ctm_bytes_eq(a->acl_access, b->acl_access) &&
	       ctm_bytes_eq(a->acl_default, b->acl_default) && ctm_bytes_eq(a->caps, b->caps);
}

int ctm_plan_new(const struct ctm_policy *policy, struct ctm_plan **ret)
{
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = calloc(1, sizeof(*plan));
	const struct ctm_idmap *map = policy->map;
	int r;

	if (!plan) {
		return -ENOMEM;
	}
	plan->policy = *policy;
	plan->work = calloc(1, sizeof(*plan->work));
	if (!plan->work) {
		return -ENOMEM;
	}
	if (policy->memory > 0) {
		r = ctm_spill_new(policy->spill_dir, policy->memory, &plan->spill);
		if (r < 0) {
			return r;
		}
		plan->arena.spill = plan->spill;
		plan->work->links.spill = plan->spill;
	}
	r = ctm_judge_init(policy, &plan->work->judge);
	if (r < 0) {
		return r;
	}
	plan->work->judges = map &&
			     !(ctm_idmap_empty(map, CTM_UID) && ctm_idmap_empty(map, CTM_GID));
	*ret = TAKE_PTR(plan);
	return 0;
}

void ctm_plan_free(struct ctm_plan *plan)
{
	if (!plan) {
		return;
	}
	if (plan->work) {
		ctm_links_done(&plan->work->links);
		ctm_vec_done(&plan->work->unfinished);
		free(plan->work);
	}
	ctm_scan_totals_done(&plan->totals);
	ctm_spill_vec_done(plan->spill, &plan->actions);
	ctm_spill_vec_done(plan->spill, &plan->findings);
	ctm_arena_done(&plan->arena);
	ctm_spill_free(plan->spill);
	free(plan);
}

int ctm_plan_add(struct ctm_plan *plan, const struct ctm_finding *finding)
{
	plan->work->unsettled = true;
	ctm_spill_pass(plan->spill);
	return ctm_spill_push(plan->spill, &plan->findings, finding);
}

int ctm_plan_no_room(const struct ctm_plan *plan)
{
	return ctm_spill_error(plan->spill);
}

static bool names_beyond(const struct ctm_issue *issue)
{
	return issue->code == CTM_F_OWN_BEYOND || issue->code == CTM_F_ACL_BEYOND;
}

/* "the map would need u 0 100000 165536", made anew only when another id took its slot. */
static int text_for_id(struct ctm_plan *plan, enum ctm_idkind kind, uint32_t id, const char **ret)
{
	size_t slot = (id * 2654435761U >> 8 ^ (uint32_t)kind) % CTM_TEXTS;
	struct ctm_range need;
	char buf[80];
	int n;

	if (plan->work->texts[slot].text && plan->work->texts[slot].id == id &&
	    plan->work->texts[slot].kind == (int)kind) {
		*ret = plan->work->texts[slot].text;
		return 0;
	}
	if (!ctm_class_needed(plan->policy.map, kind, (ctm_did){ id }, &need)) {
		*ret = "no map can hold it";
		return 0;
	}
	n = snprintf(buf, sizeof(buf),
		     "the map would need %c %" PRIu32 " %" PRIu32 " %" PRIu32 " at least",
		     kind == CTM_UID ? 'u' : 'g', need.ct, need.disk, need.len);
	*ret = ctm_arena_dup(&plan->arena, buf, (size_t)n);
	if (!*ret) {
		return -ENOMEM;
	}
	plan->work->texts[slot].text = *ret;
	plan->work->texts[slot].id = id;
	plan->work->texts[slot].kind = (int)kind;
	return 0;
}

int ctm_plan_add_issues(struct ctm_plan *plan, const struct ctm_judgement *judged, const char *path,
			size_t path_len, size_t action)
{
	int r = 0;

	for (size_t i = 0; i < judged->n && r == 0; i++) {
		const struct ctm_issue *issue = &judged->issues[i];
		struct ctm_finding f = {
			.code = issue->code,
			.kind = issue->kind,
			.path = path,
			.path_len = path_len,
			.action = issue->left ? CTM_NO_ACTION : action,
			.text = issue->text,
			.id = issue->id,
			.err = issue->err,
		};

		if (!f.text && names_beyond(issue)) {
			r = text_for_id(plan, (enum ctm_idkind)issue->kind, issue->id, &f.text);
		}
		if (r == 0) {
			r = ctm_plan_add(plan, &f);
		}
	}
	return r;
}

enum ctm_finding_code ctm_plan_rule_code(const struct ctm_rule *rule)
{
	switch (rule->kind) {
	case CTM_RULE_CACHE:
		return CTM_F_PKG_CACHE;
	case CTM_RULE_LEFTOVER:
		return CTM_F_PKG_PARTIAL;
	case CTM_RULE_UNFINISHED:
		return CTM_F_PKG_UNFINISHED;
	case CTM_RULE_LOCK:
	case CTM_RULE_PIDLOCK:
	case CTM_RULE_DATABASE:
		break;
	}
	return CTM_F_PKG_LOCK;
}

bool ctm_plan_is_whole(const struct ctm_policy *policy)
{
	for (size_t i = 0; i < policy->n_starts; i++) {
		if (policy->starts[i][0] == '\0') {
			return true;
		}
	}
	return policy->n_starts == 0;
}

int ctm_plan_totals(struct ctm_plan *plan, struct ctm_scan_totals *totals,
		    const struct ctm_scan_totals *whole)
{
	if (whole || ctm_plan_is_whole(&plan->policy)) {
		const struct ctm_scan_totals *volume = whole ? whole : totals;

		plan->volume_inodes = volume->inodes;
		plan->volume_host[CTM_UID] = volume->host[CTM_UID];
		plan->volume_host[CTM_GID] = volume->host[CTM_GID];
	}
	ctm_scan_totals_done(&plan->totals);
	plan->totals = *totals;
	*totals = (struct ctm_scan_totals){ 0 };
	return 0;
}

int ctm_plan_note(struct ctm_plan *plan, enum ctm_finding_code code, const char *path,
		  size_t path_len, const char *text)
{
	struct ctm_finding f = {
		.code = code,
		.kind = -1,
		.path_len = path ? path_len : 0,
		.action = CTM_NO_ACTION,
	};

	if (path) {
		f.path = ctm_arena_dup(&plan->arena, path, path_len);
	}
	if (text) {
		f.text = ctm_arena_dup(&plan->arena, text, strlen(text));
	}
	return (path && !f.path) || (text && !f.text) ? -ENOMEM : ctm_plan_add(plan, &f);
}

bool ctm_plan_has_work(const struct ctm_plan *plan)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		ctm_spill_pass(plan->spill);
		if (ctm_finding_info(plan->findings.v[i].code)->severity != CTM_INFO) {
			return true;
		}
	}
	return false;
}

bool ctm_plan_has_leftover(const struct ctm_plan *plan)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		ctm_spill_pass(plan->spill);
		if (f->action == CTM_NO_ACTION && ctm_finding_info(f->code)->severity != CTM_INFO) {
			return true;
		}
	}
	return false;
}
