/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether somebody works in a volume right now: an inspection of a plan without facts.
 */
#include "session/held.h"

#include "base/cleanup.h"
#include "run/effects.h"
#include "run/inspect.h"
#include "session/selection.h"

static const struct ctm_finding *find_held(const struct ctm_plan *plan)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		if (plan->findings.v[i].code == CTM_F_PKG_HELD) {
			return &plan->findings.v[i];
		}
	}
	return NULL;
}

static int refuse(const struct ctm_plan *plan, struct ctm_err *err)
{
	const struct ctm_finding *held = find_held(plan);
	int r = ctm_err_set(err, CTM_REFUSED, 0, "a package manager's lock is held: %s",
			    held && held->text ? held->text : "by a process on this host");

	ctm_err_hint(err, "wait for that process to end, or end it");
	return r;
}

int ctm_session_refuse_held(const struct ctm_exam *exam, struct ctm_attached *att,
			    struct ctm_err *err)
{
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_selection_done) struct ctm_selection sel = { 0 };
	CLEANUP(ctm_effects_done) struct ctm_effects fx = { .root = -1, .real = -1 };
	const struct ctm_session_opts whole = { 0 };
	struct ctm_policy policy = { .map = exam->volume->map };
	int r = ctm_selection_make(&whole, exam->volume, ctm_attached_root(att), &sel, err);

	policy.rules_on = sel.rules_on;
	if (r == 0 && (ctm_plan_new(&policy, &plan) < 0 || ctm_plan_finish(plan) < 0)) {
		r = ctm_err_nomem(err);
	}
	if (r == 0) {
		r = ctm_effects_init(&fx, ctm_attached_root(att),
				     exam->volume->kind != CTM_VOLUME_DIR, err);
	}
	if (r == 0) {
		r = ctm_inspect(&ctm_effects_ops, &fx, plan, 0, err);
	}
	return r == 0 && plan->refuse_held ? refuse(plan, err) : r;
}
