/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The evidence for a diagnosis.
 */
#include "session/diagnosing.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/ctmap.h"
#include "session/packages.h"

/* A snapshot's section without a map; -ENOMEM, 0 when there is none, 1. */
static int find_privileged(const struct ctm_target *target, char ret[static 160])
{
	for (size_t i = 1; i < target->conf.sections.n; i++) {
		const struct ctm_pctsection *section = &target->conf.sections.v[i];
		CLEANUP(ctm_ctmap_done) struct ctm_ctmap map = { 0 };
		int r;

		if (section->kind != CTM_PCT_SNAPSHOT) {
			continue;
		}
		r = ctm_ctmap_from_pct(section, target->pct_major, &map, NULL);
		if (r == -ENOMEM) {
			return r;
		}
		if (r == 0 && map.privileged) {
			(void)snprintf(ret, 160, "the section [%.128s]", section->name);
			return 1;
		}
	}
	return 0;
}

int ctm_exam_diagnose(struct ctm_exam *exam, struct ctm_attached *att, struct ctm_err *err)
{
	struct ctm_pkgfiles_found packages = { 0 };
	char section[160];
	struct ctm_evidence evidence = {
		.mount_point = strcmp(exam->volume->key, "rootfs") != 0,
		.plain_lxc = exam->target->kind == CTM_TARGET_LXC,
	};
	int r = 0;

	if (ctm_plan_has(exam->plan, CTM_F_OWN_HOST) && !exam->plan->refuse_tree) {
		r = ctm_packages_look(exam->plan, ctm_attached_root(att), &packages, err);
		evidence.packages = &packages;
	}
	if (r < 0) {
		return r;
	}
	r = find_privileged(exam->target, section);
	evidence.privileged_in = r > 0 ? section : NULL;
	ctm_diagnosis_done(&exam->diagnosis);
	r = r < 0 ? r : ctm_diagnose(exam->plan, &evidence, &exam->diagnosis);
	return r < 0 ? ctm_err_nomem(err) : 0;
}
