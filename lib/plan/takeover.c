/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an unfinished run still has to do becomes a part of the plan.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pathname.h"
#include "base/sort.h"
#include "plan/work.h"

/* One of the run's actions, to be found by its inode. */
struct known {
	uint64_t dev;
	uint64_t ino; /* 0: a file that comes back, and is not there yet */
	size_t at;
	bool used;
};

static int by_inode(const void *pa, const void *pb)
{
	const struct known *a = pa;
	const struct known *b = pb;

	if (a->dev != b->dev) {
		return a->dev < b->dev ? -1 : 1;
	}
	return (a->ino > b->ino) - (a->ino < b->ino);
}

static struct known *find(struct known *all, size_t n, const struct ctm_action *a)
{
	const struct known key = { .dev = a->dev, .ino = a->ino };

	return n && a->ino ? bsearch(&key, all, n, sizeof(*all), by_inode) : NULL;
}

/* The plan's own name of it stays: it is the first of a hard link's. */
static void replace(struct ctm_action *a, const struct ctm_action *by)
{
	struct ctm_action new = *by;

	new.path = a->path;
	new.path_len = a->path_len;
	new.names = a->names;
	*a = new;
}

static void mark(struct ctm_plan *plan, const struct ctm_action *v, struct known *all, size_t n,
		 bool alone)
{
	for (size_t i = 0; i < plan->actions.n; i++) {
		struct ctm_action *a = &plan->actions.v[i];
		struct known *k = find(all, n, a);

		ctm_spill_pass(plan->spill);
		if (k) {
			replace(a, &v[k->at]);
			k->used = true;
		} else if (alone) {
			/* changes nothing: it is dropped when the plan settles */
			a->kind = CTM_ACT_SET;
			a->after = a->before;
		}
	}
}

static int add_rest(struct ctm_plan *plan, const struct ctm_action *v, const struct known *all,
		    size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		if (!all[i].used) {
			r = ctm_spill_push(plan->spill, &plan->actions, &v[all[i].at]);
		}
	}
	return r;
}

/* Every action of the run has a finding, so that counts and places are right. */
static int add_findings(struct ctm_plan *plan)
{
	int r = 0;

	for (size_t i = 0; i < plan->actions.n && r == 0; i++) {
		const struct ctm_action *a = &plan->actions.v[i];
		const struct ctm_finding f = {
			.code = CTM_F_RUN_UNFINISHED,
			.kind = -1,
			.path = a->path,
			.path_len = a->path_len,
			.action = i,
		};

		if (a->cause == CTM_F_RUN_UNFINISHED) {
			r = ctm_plan_add(plan, &f);
		}
	}
	return r;
}

int ctm_plan_take_over(struct ctm_plan *plan, const struct ctm_action *v, size_t n, bool alone)
{
	struct known *all = ctm_spill_zeros(plan->spill, n ? n : 1, sizeof(*all));
	int r;

	if (!all) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		all[i] = (struct known){ .dev = v[i].dev, .ino = v[i].ino, .at = i };
	}
	r = ctm_sort(plan->spill, all, n, sizeof(*all), by_inode);
	if (r == 0) {
		mark(plan, v, all, n, alone);
		r = add_rest(plan, v, all, n);
	}
	ctm_spill_drop(plan->spill, all, (n ? n : 1) * sizeof(*all));
	if (r == 0) {
		r = n ? add_findings(plan) :
			ctm_plan_note(plan, CTM_F_RUN_UNFINISHED, NULL, 0, NULL);
	}
	plan->work->unsettled = true;
	plan->refuse_tree = false;
	return r < 0 ? r : ctm_plan_settle(plan);
}

static bool same(const struct ctm_action *a, const struct ctm_action *b)
{
	return a->kind == b->kind && ctm_inode_state_eq(&a->before, &b->before) &&
	       (a->kind == CTM_ACT_REMOVE ?
			a->size == b->size && memcmp(a->sha256, b->sha256, sizeof(a->sha256)) == 0 :
			ctm_inode_state_eq(&a->after, &b->after));
}

bool ctm_plan_within(const struct ctm_plan *plan, const struct ctm_plan *agreed)
{
	size_t k = 0;

	for (size_t i = 0; i < plan->actions.n; i++) {
		const struct ctm_action *a = &plan->actions.v[i];
		int cmp = -1;

		ctm_spill_pass(plan->spill);
		ctm_spill_pass(agreed->spill);
		for (; k < agreed->actions.n && cmp < 0; k++) {
			cmp = ctm_path_cmp(agreed->actions.v[k].path, agreed->actions.v[k].path_len,
					   a->path, a->path_len);
		}
		if (cmp != 0 || !same(a, &agreed->actions.v[k - 1])) {
			return false;
		}
	}
	return true;
}
