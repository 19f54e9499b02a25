/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be said only when all facts are there: hard links, and the tree as a whole.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/fix.h"
#include "plan/work.h"

/* Findings of one inode follow each other from first on. The words go behind those that it has. */
static int add_words(struct ctm_plan *plan, struct ctm_finding *f, const char *words)
{
	char buf[256];
	int n = snprintf(buf, sizeof(buf), "%s%s%s", f->text ? f->text : "", f->text ? "; " : "",
			 words);
	size_t len = (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1;

	f->text = ctm_arena_dup(&plan->arena, buf, len);
	return f->text ? 0 : -ENOMEM;
}

/*
 * An inode has one owner, whatever name it is reached by. In a selection it is repaired and the
 * other names are mentioned, when a whole walk has met them. Names that a whole directory volume
 * does not have are not the container's to change, so it is left unless that was asked for. A
 * volume of its own has no outside: if names are missing there, the file system's link count is
 * wrong or a name could not be read, and the owner is repaired.
 */
static int missing_names(struct ctm_plan *plan, const struct ctm_link *link)
{
	const bool whole = ctm_plan_is_whole(&plan->policy);
	const uint32_t inside = link->all;
	const bool lies_outside = !plan->policy.raw_volume && inside < link->nlink;
	const bool wanted = plan->policy.fix & CTM_FIX_LINK;
	struct ctm_finding outside = {
		.code = CTM_F_LINK_OUTSIDE,
		.kind = -1,
		.path = link->path,
		.path_len = link->path_len,
		.action = wanted ? link->action : CTM_NO_ACTION,
	};
	char words[100];

	if (whole && !lies_outside) {
		return 0;
	}
	(void)snprintf(words, sizeof(words), "%" PRIu32 " of %" PRIu32 " names are inside the %s",
		       lies_outside ? inside : link->names, link->nlink,
		       lies_outside ? "volume" : "selection");
	if (!lies_outside) {
		for (size_t i = link->first; i < link->first + link->n; i++) {
			if (plan->findings.v[i].action == link->action) {
				return add_words(plan, &plan->findings.v[i], words);
			}
		}
		return 0;
	}
	if (!wanted) {
		/* changes nothing: it is dropped when the plan settles */
		plan->actions.v[link->action].after = plan->actions.v[link->action].before;
	}
	outside.text = ctm_arena_dup(&plan->arena, words, strlen(words));
	return outside.text ? ctm_plan_add(plan, &outside) : -ENOMEM;
}

static int fold_links(struct ctm_plan *plan)
{
	int r = 0;

	for (size_t i = 0; i < plan->work->links.v.n && r == 0; i++) {
		const struct ctm_link *link = &plan->work->links.v.v[i];

		ctm_spill_pass(plan->spill);
		for (size_t k = link->first; k < link->first + link->n; k++) {
			plan->findings.v[k].path = link->path;
			plan->findings.v[k].path_len = link->path_len;
		}
		if (link->action == CTM_NO_ACTION) {
			continue;
		}
		plan->actions.v[link->action].path = link->path;
		plan->actions.v[link->action].path_len = link->path_len;
		plan->actions.v[link->action].names = link->names;
		if (link->names < link->nlink ||
		    (!plan->policy.raw_volume && link->all < link->nlink)) {
			r = missing_names(plan, link);
		}
	}
	return r;
}

static int settle_lens(struct ctm_plan *plan)
{
	const bool apart = plan->volume.inodes && !ctm_plan_is_whole(&plan->policy);

	return ctm_lens_settle(&plan->lens, apart ? &plan->volume : &plan->totals);
}

int ctm_plan_finish(struct ctm_plan *plan)
{
	int r = settle_lens(plan);

	if (r == 0) {
		r = ctm_plan_judge_waiting(plan);
	}
	if (r == 0) {
		r = ctm_plan_rest_of_bits(plan);
	}
	if (r == 0) {
		r = ctm_plan_count_names(plan);
	}
	if (r == 0) {
		r = fold_links(plan);
	}
	if (r == 0) {
		r = ctm_plan_judge_tree(plan);
	}
	if (r == 0) {
		r = ctm_plan_settle(plan);
	}
	plan->finished = r == 0;
	return r;
}
