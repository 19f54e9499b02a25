/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings grouped by cause: counts, ids, places. */
#include "report/groups.h"

#include <criterion/criterion.h>
#include <string.h>

static void add(struct ctm_plan *plan, enum ctm_finding_code code, const char *path, int kind,
		uint32_t id)
{
	struct ctm_finding one = {
		.code = code,
		.path = path,
		.path_len = path ? strlen(path) : 0,
		.kind = kind,
		.id = id,
		.action = CTM_NO_ACTION,
	};

	cr_assert_eq(ctm_vec_push(&plan->findings, &one), 0);
}

Test(groups, counts_inodes_ids_and_places)
{
	struct ctm_plan plan = { 0 };
	struct ctm_groups groups;
	struct ctm_buf ids = { 0 };

	add(&plan, CTM_F_PKG_LOCK, "var/lib/dpkg/lock", CTM_UID, 0);
	add(&plan, CTM_F_OWN_HOST, "", CTM_UID, 0);
	add(&plan, CTM_F_OWN_HOST, "usr", CTM_GID, 4);
	add(&plan, CTM_F_OWN_HOST, "usr/bin/a", CTM_UID, 0);
	add(&plan, CTM_F_OWN_HOST, "usr/bin/a", CTM_GID, 0); /* the same inode */
	add(&plan, CTM_F_OWN_HOST, "usr/bin/b", CTM_UID, 0);
	add(&plan, CTM_F_OWN_HOST, "usr/share/doc/x", CTM_UID, 33);
	add(&plan, CTM_F_OWN_HOST, "usr/zz", CTM_UID, 0); /* counts for usr again */
	add(&plan, CTM_F_CONF_LOCK, NULL, -1, 0);
	cr_assert_eq(ctm_groups_make(&plan, &groups), 0);

	cr_assert_eq(groups.v.n, 3);
	cr_assert_eq(groups.v.v[0].n, 1);
	cr_assert_eq(groups.v.v[0].ids.n, 1);

	const struct ctm_group *own = &groups.v.v[1];

	cr_assert_eq(own->first, 1);
	cr_assert_eq(own->n_findings, 7);
	cr_assert_eq(own->n, 6, "a uid and a gid of one inode are one inode");
	cr_assert_eq(ctm_group_ids_text(own, &ids), 0);
	cr_assert_str_eq(ids.p, "uid 0 on 4, uid 33 on 1, gid 0 on 1, gid 4 on 1");
	cr_assert_eq(own->places.n, 4);
	cr_assert_str_eq(own->places.v[0].dir, "usr");
	cr_assert_eq(own->places.v[0].n, 2);
	cr_assert_str_eq(own->places.v[1].dir, "usr/bin");
	cr_assert_eq(own->places.v[1].n, 2);
	cr_assert_str_eq(own->places.v[2].dir, "");
	cr_assert_str_eq(own->places.v[3].dir, "usr/share");

	cr_assert_eq(groups.v.v[2].n, 1);
	cr_assert_eq(groups.v.v[2].ids.n, 0);
	cr_assert_eq(groups.v.v[2].places.n, 0);
	ctm_groups_done(&groups);
	ctm_buf_done(&ids);
	ctm_vec_done(&plan.findings);
}

Test(groups, many_ids_are_bounded)
{
	struct ctm_plan plan = { 0 };
	struct ctm_groups groups;
	struct ctm_buf ids = { 0 };

	for (uint32_t i = 0; i < 100000; i++) {
		add(&plan, CTM_F_OWN_BEYOND, "f", CTM_UID, 1000000 + i);
	}
	cr_assert_eq(ctm_groups_make(&plan, &groups), 0);
	cr_assert_lt(groups.v.v[0].ids.n, 1000);
	cr_assert_eq(groups.v.v[0].n_findings, 100000);
	cr_assert_eq(ctm_group_ids_text(&groups.v.v[0], &ids), 0);
	cr_assert(strstr(ids.p, " more"), "%s", ids.p);
	ctm_groups_done(&groups);
	ctm_buf_done(&ids);
	ctm_vec_done(&plan.findings);
}

Test(groups, hostile_directory_names_are_escaped)
{
	struct ctm_plan plan = { 0 };
	struct ctm_groups groups;

	add(&plan, CTM_F_OWN_HOST, "a\nb/c/d", CTM_UID, 0);
	cr_assert_eq(ctm_groups_make(&plan, &groups), 0);
	cr_assert_str_eq(groups.v.v[0].places.v[0].dir, "a\\nb/c");
	ctm_groups_done(&groups);
	ctm_vec_done(&plan.findings);
}

Test(groups, nothing)
{
	struct ctm_plan plan = { 0 };
	struct ctm_groups groups;

	cr_assert_eq(ctm_groups_make(&plan, &groups), 0);
	cr_assert_eq(groups.v.n, 0);
	ctm_groups_done(&groups);
}
