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
		plan->work->nested.spill = plan->spill;
	}
	r = ctm_lens_init(&plan->lens, &plan->policy);
	r = r < 0 ? r : ctm_judge_init(policy, &plan->lens, &plan->work->judge);
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
		ctm_links_done(&plan->work->nested);
		ctm_spill_vec_done(plan->spill, &plan->work->names);
		ctm_vec_done(&plan->work->unfinished);
		ctm_spill_vec_done(plan->spill, &plan->work->waiting);
		ctm_vec_done(&plan->work->lost);
		free(plan->work);
	}
	ctm_lens_done(&plan->lens);
	ctm_vec_done(&plan->subvols);
	ctm_scan_totals_done(&plan->totals);
	ctm_scan_totals_done(&plan->volume);
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

/* The words of a verdict, made anew only when another id took its slot. */
static int text_for_id(struct ctm_plan *plan, const struct ctm_issue *issue, const char **ret)
{
	size_t at = (issue->id * 2654435761U >> 8 ^ (uint32_t)issue->kind) % CTM_TEXTS;
	const struct ctm_verdict *v = &issue->verdict;
	const char *words;
	char buf[256];

	if (plan->work->texts[at].text && plan->work->texts[at].id == issue->id &&
	    plan->work->texts[at].kind == issue->kind && plan->work->texts[at].class == v->class &&
	    plan->work->texts[at].nested == v->nested) {
		*ret = plan->work->texts[at].text;
		return 0;
	}
	words = ctm_lens_say(&plan->lens, (enum ctm_idkind)issue->kind, (ctm_did){ issue->id }, v,
			     buf);
	if (words != buf) {
		*ret = words;
		return 0;
	}
	*ret = ctm_arena_dup(&plan->arena, buf, strlen(buf));
	if (!*ret) {
		return -ENOMEM;
	}
	plan->work->texts[at].text = *ret;
	plan->work->texts[at].id = issue->id;
	plan->work->texts[at].kind = issue->kind;
	plan->work->texts[at].class = v->class;
	plan->work->texts[at].nested = v->nested;
	return 0;
}

/* A capability's title says that its root fits nothing, and so it is, if nothing more is known. */
static bool has_words(const struct ctm_issue *issue)
{
	return issue->kind >= 0 && issue->code != CTM_F_FLATTEN &&
	       !(issue->code == CTM_F_CAP_BEYOND && issue->verdict.class == CTM_CLASS_BEYOND);
}

int ctm_plan_add_issues(struct ctm_plan *plan, const struct ctm_judgement *judged,
			const struct ctm_finding *like)
{
	int r = 0;

	for (size_t i = 0; i < judged->n && r == 0; i++) {
		const struct ctm_issue *issue = &judged->issues[i];
		struct ctm_finding f = *like;

		f.code = issue->code;
		f.kind = issue->kind;
		f.action = issue->left ? CTM_NO_ACTION : like->action;
		f.text = issue->text;
		f.id = issue->id;
		f.err = issue->err;
		if (!f.text && has_words(issue)) {
			r = text_for_id(plan, issue, &f.text);
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

bool ctm_scan_totals_odd(const struct ctm_scan_totals *totals)
{
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		if (totals->ids[kind].n || totals->ids[kind].other || totals->nobody[kind]) {
			return true;
		}
	}
	return false;
}

void ctm_plan_totals(struct ctm_plan *plan, struct ctm_scan_totals *totals,
		     struct ctm_scan_totals *whole)
{
	ctm_scan_totals_done(&plan->totals);
	ctm_scan_totals_done(&plan->volume);
	plan->totals = *totals;
	*totals = (struct ctm_scan_totals){ 0 };
	if (whole) {
		plan->volume = *whole;
		*whole = (struct ctm_scan_totals){ 0 };
	} else if (ctm_plan_is_whole(&plan->policy)) {
		plan->volume = plan->totals;
		/* one owner of the memory */
		plan->volume.ids[CTM_UID] = plan->volume.ids[CTM_GID] =
			(struct ctm_id_histogram){ 0 };
	}
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

bool ctm_plan_has(const struct ctm_plan *plan, enum ctm_finding_code code)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		ctm_spill_pass(plan->spill);
		if (plan->findings.v[i].code == code) {
			return true;
		}
	}
	return false;
}

bool ctm_plan_has_work(const struct ctm_plan *plan)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		ctm_spill_pass(plan->spill);
		if (f->action != CTM_NO_ACTION || ctm_finding_info(f->code)->severity != CTM_INFO) {
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
