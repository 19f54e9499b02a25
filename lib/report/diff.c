/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan as a unified diff: one hunk per cause, one line per inode before and after.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "report/difflines.h"
#include "report/groups.h"
#include "report/report.h"

static int put_header(struct ctm_difflines *d, const struct ctm_report *rep)
{
	const struct ctm_exam *exam = rep->exam;
	int r = ctm_buf_addf(&d->line, "--- ");

	if (r == 0) {
		r = ctm_path_escape(&d->line, rep->name, strlen(rep->name));
	}
	if (r == 0) {
		r = ctm_buf_addf(&d->line, ":%s as found        ",
				 exam->volume->mp ? exam->volume->mp : "/");
	}
	if (r == 0) {
		r = ctm_path_escape(&d->line, exam->volume->id, strlen(exam->volume->id));
	}
	if (r < 0) {
		return r;
	}
	ctm_diff_line(d, CTM_DIFF_HEAD);
	r = ctm_buf_addf(&d->line, "+++ ");
	if (r == 0) {
		r = ctm_path_escape(&d->line, rep->name, strlen(rep->name));
	}
	if (r == 0) {
		r = ctm_buf_addf(&d->line, ":%s as repaired     map ",
				 exam->volume->mp ? exam->volume->mp : "/");
	}
	if (r == 0) {
		r = ctm_idmap_format(exam->volume->map, &d->line);
	}
	if (r == 0) {
		ctm_diff_line(d, CTM_DIFF_HEAD);
	}
	return r;
}

static int put_notes(struct ctm_difflines *d, const struct ctm_exam *exam)
{
	int r = 0;

	for (size_t i = 0; i < exam->notes.n && r == 0; i++) {
		r = ctm_buf_addf(&d->line, "note: ");
		if (r == 0) {
			r = ctm_path_escape(&d->line, exam->notes.v[i], strlen(exam->notes.v[i]));
		}
		if (r == 0) {
			ctm_diff_line(d, CTM_DIFF_NOTE);
		}
	}
	for (size_t i = 0; exam->plan && i < exam->plan->subvols.n && r == 0; i++) {
		const struct ctm_plan_subvol *subvol = &exam->plan->subvols.v[i];

		r = ctm_diff_subvol(d, subvol->path, subvol->path_len,
				    "made writable for this, and read-only again");
	}
	return r;
}

static const struct ctm_group *group_of(const struct ctm_groups *groups, enum ctm_finding_code code)
{
	for (size_t i = 0; i < groups->v.n; i++) {
		if (groups->v.v[i].code == code) {
			return &groups->v.v[i];
		}
	}
	return NULL;
}

static int put_hunk_header(struct ctm_difflines *d, const struct ctm_plan *plan,
			   const struct ctm_groups *groups, enum ctm_finding_code code, uint64_t n)
{
	const struct ctm_finding_info *info = ctm_finding_info(code);
	const struct ctm_group *group = group_of(groups, code);
	int r = ctm_buf_addf(&d->line, "@@ %s: ", info->code);

	if (r == 0) {
		r = group ? ctm_finding_title(&d->line, &plan->findings.v[group->first],
					      group->n_findings, plan->spill) :
			    ctm_buf_addf(&d->line, "%s", info->title);
	}
	if (r == 0) {
		r = ctm_buf_addf(&d->line, " (%" PRIu64 ") @@", n);
	}
	if (r == 0) {
		ctm_diff_line(d, CTM_DIFF_HUNK);
	}
	return r;
}

static int put_hunk(struct ctm_difflines *d, const struct ctm_plan *plan,
		    const struct ctm_groups *groups, enum ctm_finding_code code, uint64_t n)
{
	int r = put_hunk_header(d, plan, groups, code, n);

	for (size_t i = 0; i < plan->actions.n && r == 0; i++) {
		const struct ctm_action *act = &plan->actions.v[i];

		ctm_spill_pass(plan->spill);
		if (act->cause != code) {
			continue;
		}
		if (act->kind != CTM_ACT_RESTORE) {
			/* flags that were lifted and are to be set again */
			bool lifted = act->kind == CTM_ACT_SET &&
				      ctm_inode_state_eq(&act->before, &act->after);

			r = ctm_diff_inode(d, '-', act->path, act->path_len, &act->before,
					   lifted ? 0 : act->attr, act->rdev);
		}
		if (r == 0 && act->kind != CTM_ACT_REMOVE) {
			r = ctm_diff_inode(d, '+', act->path, act->path_len, &act->after, act->attr,
					   act->rdev);
		}
	}
	return r;
}

static int put_hunks(struct ctm_difflines *d, const struct ctm_plan *plan)
{
	uint64_t n[CTM_F_N] = { 0 };
	struct ctm_groups groups;
	int r = ctm_groups_make(plan, &groups);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < plan->actions.n; i++) {
		n[plan->actions.v[i].cause]++;
		ctm_spill_pass(plan->spill);
	}
	for (int code = 0; code < CTM_F_N && r == 0; code++) {
		if (n[code]) {
			r = put_hunk(d, plan, &groups, (enum ctm_finding_code)code, n[code]);
		}
	}
	ctm_groups_done(&groups);
	return r;
}

int ctm_report_diff(FILE *out, const struct ctm_report *rep)
{
	const struct ctm_plan *plan = rep->exam->plan;
	struct ctm_difflines d = { .out = out, .color = rep->color };
	int r = put_notes(&d, rep->exam);

	if (r == 0 && plan && plan->actions.n) {
		r = put_header(&d, rep);
		if (r == 0) {
			r = put_hunks(&d, plan);
		}
	}
	if (plan && r == 0) {
		fprintf(out, "plan %s  %zu change%s\n", rep->exam->digest, plan->actions.n,
			plan->actions.n == 1 ? "" : "s");
	}
	ctm_buf_done(&d.line);
	return r;
}
