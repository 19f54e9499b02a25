/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be said of a volume as a whole, by its counts.
 */
#include <inttypes.h>
#include <stdio.h>

#include "plan/work.h"

#define NOBODY_MIN 100 /* inodes; fewer may well be of whoever is called nobody */

static void refuse(struct ctm_plan *plan)
{
	plan->refuse_tree = true;
	plan->actions.n = 0;
	for (size_t i = 0; i < plan->findings.n; i++) {
		plan->findings.v[i].action = CTM_NO_ACTION;
		ctm_spill_pass(plan->spill);
	}
}

/* Inodes of class host: 65534 is one of them for --convert alone, and then nothing is refused. */
static uint64_t count_host(const struct ctm_plan *plan, enum ctm_idkind kind)
{
	const struct ctm_id_histogram *ids = &plan->lens.ids[kind];
	uint64_t relics = ctm_lens_count(ids, CTM_ID_OVERFLOW, 1);
	uint64_t n = plan->volume.host[kind];
	ctm_did to;

	if (!ctm_idmap_in_ct(plan->policy.map, kind, (ctm_cid){ CTM_ID_OVERFLOW }) ||
	    (plan->policy.from && ctm_idmap_carry(plan->policy.from, plan->policy.map, kind,
						  (ctm_did){ CTM_ID_OVERFLOW }, &to))) {
		return n; /* it was not counted as one */
	}
	return n > relics ? n - relics : 0;
}

static uint64_t percent(uint64_t part, uint64_t all)
{
	return all ? part * 100 / all : 100;
}

static int judge_host(struct ctm_plan *plan)
{
	static const char *const words[] = { "have a uid", "have a gid", "have uid and gid" };
	uint64_t all = plan->volume.inodes;
	uint64_t uids = count_host(plan, CTM_UID);
	uint64_t gids = count_host(plan, CTM_GID);
	uint64_t most = uids > gids ? uids : gids;
	bool by_uid = uids > all / 2;
	bool by_gid = gids > all / 2;
	char text[160];

	if (!(by_uid || by_gid)) {
		return 0;
	}
	refuse(plan);
	(void)snprintf(text, sizeof(text),
		       "%" PRIu64 " of %" PRIu64 " inodes (%" PRIu64 " %%) %s %s", most, all,
		       percent(most, all),
		       words[by_uid && by_gid ? 2 :
			     by_gid           ? 1 :
						0],
		       "of the host");
	return ctm_plan_note(plan, CTM_F_TREE_HOST, NULL, 0, text);
}

/* All classes together that --fix names. */
static int judge_asked(struct ctm_plan *plan)
{
	uint64_t all = plan->volume.inodes;
	uint64_t n = plan->work->asked;
	char text[160];

	if (n <= all / 2) {
		return 0;
	}
	refuse(plan);
	(void)snprintf(text, sizeof(text),
		       "%" PRIu64 " of %" PRIu64 " inodes (%" PRIu64 " %%) would get another owner",
		       n, all, percent(n, all));
	return ctm_plan_note(plan, CTM_F_TREE_FIX, NULL, 0, text);
}

/*
 * The container's own 65534 is right anywhere, but for a tree that has it all over: what made or
 * copied it looked at the files through a map that did not hold their owners.
 */
static int judge_nobody(struct ctm_plan *plan)
{
	static const char *const words[] = { "uid", "gid" };
	const struct ctm_scan_totals *volume = &plan->volume;
	int r = 0;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && r == 0; kind++) {
		uint64_t n = volume->nobody[kind];
		char text[200];

		if (n < NOBODY_MIN || n < volume->inodes / 100 + (volume->inodes % 100 != 0)) {
			continue;
		}
		(void)snprintf(text, sizeof(text),
			       "%" PRIu64 " of %" PRIu64 " inodes (%" PRIu64
			       " %%) have the %s of the container's \"nobody\": a backup or a copy "
			       "was made through the map",
			       n, volume->inodes, percent(n, volume->inodes), words[kind]);
		r = ctm_plan_note(plan, CTM_F_OWN_OVERFLOW, NULL, 0, text);
	}
	return r;
}

int ctm_plan_judge_tree(struct ctm_plan *plan)
{
	int r = judge_nobody(plan);

	if (r < 0 || plan->policy.convert || !plan->work->judges || !plan->volume.inodes) {
		return r;
	}
	r = judge_host(plan);
	return r < 0 ? r : judge_asked(plan);
}
