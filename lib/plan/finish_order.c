/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of a plan: its actions by path, its findings by cause. All of it goes from front to
 * back through arrays that may lie in files.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "plan/order.h"
#include "plan/work.h"

/* Drops what changes nothing, and findings that are gone. Indexes go through a table. */
static int drop_empty(struct ctm_plan *plan)
{
	const size_t all = plan->actions.n;
	size_t *now = ctm_spill_zeros(plan->spill, all, sizeof(*now));
	size_t n = 0;

	if (!now) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < all; i++) {
		const struct ctm_action *a = &plan->actions.v[i];

		ctm_spill_pass(plan->spill);
		/* an unfinished run may have flags to set again, and nothing else */
		if (a->kind == CTM_ACT_SET && a->cause != CTM_F_RUN_UNFINISHED &&
		    ctm_inode_state_eq(&a->before, &a->after)) {
			now[i] = CTM_NO_ACTION;
			continue;
		}
		now[i] = n;
		if (n < i) {
			plan->actions.v[n] = *a;
		}
		n++;
	}
	plan->actions.n = n;
	n = 0;
	for (size_t i = 0; i < plan->findings.n; i++) {
		struct ctm_finding *f = &plan->findings.v[i];

		ctm_spill_pass(plan->spill);
		if (f->kind == CTM_KIND_DROPPED) {
			continue;
		}
		if (f->action != CTM_NO_ACTION && f->action != now[f->action]) {
			f->action = now[f->action];
		}
		if (n < i) {
			plan->findings.v[n] = *f;
		}
		n++;
	}
	plan->findings.n = n;
	ctm_spill_drop(plan->spill, now, all * sizeof(*now));
	return 0;
}

/*
 * Ranks of paths, equal ones alike, for actions (0 .. n_actions - 1) and for findings behind them.
 * A finding that shares the path of its action, or of the finding before it, shares its rank too:
 * then stands[i] is that one's place.
 */
struct ranks {
	struct ctm_spill *spill;
	size_t actions;
	size_t findings;
	size_t *rank;
	size_t *stands; /* of each finding, its place in rank */
	size_t *from;   /* the actions in order */
};

static void ranks_done(struct ranks *ranks)
{
	ctm_spill_drop(ranks->spill, ranks->rank,
		       (ranks->actions + ranks->findings) * sizeof(*ranks->rank));
	ctm_spill_drop(ranks->spill, ranks->stands, ranks->findings * sizeof(*ranks->stands));
	ctm_spill_drop(ranks->spill, ranks->from, ranks->actions * sizeof(*ranks->from));
}

static struct ctm_order order_of(const char *path, size_t len, size_t ref)
{
	return (struct ctm_order){ .path = path ? path : "", .len = len, .ref = ref };
}

/* Notes where each finding stands; returns how many places there are. */
static size_t find_places(const struct ctm_plan *plan, struct ranks *ranks)
{
	size_t n = plan->actions.n;

	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		ctm_spill_pass(plan->spill);
		if (f->action != CTM_NO_ACTION && plan->actions.v[f->action].path == f->path) {
			ranks->stands[i] = f->action;
		} else if (i > 0 && plan->findings.v[i - 1].path == f->path) {
			ranks->stands[i] = ranks->stands[i - 1];
		} else {
			ranks->stands[i] = plan->actions.n + i;
			n++;
		}
	}
	return n;
}

/* Fills v with what is to be sorted. */
static void collect(const struct ctm_plan *plan, const struct ranks *ranks, struct ctm_order *v)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->actions.n; i++) {
		v[n++] = order_of(plan->actions.v[i].path, plan->actions.v[i].path_len, i);
		ctm_spill_pass(plan->spill);
	}
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		if (ranks->stands[i] == plan->actions.n + i) {
			v[n++] = order_of(f->path, f->path_len, ranks->stands[i]);
		}
		ctm_spill_pass(plan->spill);
	}
}

/* Fills in rank and from by the sorted places. */
static void rank_sorted(const struct ctm_order *v, size_t n, struct ranks *ranks)
{
	size_t acts = 0;
	size_t rank = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && !v[i].key) {
			rank++;
		}
		ranks->rank[v[i].ref] = rank;
		if (v[i].ref < ranks->actions) {
			ranks->from[acts++] = v[i].ref;
		}
		ctm_spill_pass(ranks->spill);
	}
}

static int rank_paths(const struct ctm_plan *plan, struct ranks *ranks)
{
	struct ctm_order *v;
	size_t n;
	int r;

	*ranks = (struct ranks){
		.spill = plan->spill,
		.actions = plan->actions.n,
		.findings = plan->findings.n,
	};
	ranks->rank = ctm_spill_zeros(plan->spill, ranks->actions + ranks->findings,
				      sizeof(*ranks->rank));
	ctm_spill_scattered(plan->spill, ranks->rank);
	ranks->stands = ctm_spill_zeros(plan->spill, ranks->findings, sizeof(*ranks->stands));
	ranks->from = ctm_spill_zeros(plan->spill, ranks->actions, sizeof(*ranks->from));
	if (!ranks->rank || !ranks->stands || !ranks->from) {
		return -ENOMEM;
	}
	n = find_places(plan, ranks);
	v = ctm_spill_zeros(plan->spill, n, sizeof(*v));
	if (!v) {
		return -ENOMEM;
	}
	collect(plan, ranks, v);
	r = ctm_order_paths(plan->spill, v, n);
	if (r == 0) {
		rank_sorted(v, n, ranks);
	}
	ctm_spill_drop(plan->spill, v, n * sizeof(*v));
	return r;
}

/* Where a finding stands: code, then rank of its path; the rest only where these are equal. */
struct place {
	uint64_t key;
	const struct ctm_finding *f;
};

static int text_cmp(const char *a, const char *b)
{
	if (!a || !b) {
		return (a != NULL) - (b != NULL);
	}
	return strcmp(a, b);
}

static int place_cmp(const void *pa, const void *pb)
{
	const struct place *a = pa;
	const struct place *b = pb;

	if (a->key != b->key) {
		return a->key < b->key ? -1 : 1;
	}
	if (!a->f->path != !b->f->path) {
		return a->f->path ? 1 : -1;
	}
	if (a->f->kind != b->f->kind) {
		return a->f->kind < b->f->kind ? -1 : 1;
	}
	if (a->f->id != b->f->id) {
		return a->f->id < b->f->id ? -1 : 1;
	}
	if (a->f->err != b->f->err) {
		return a->f->err < b->f->err ? -1 : 1;
	}
	return text_cmp(a->f->text, b->f->text);
}

/* The places of all findings, in order. */
static int sort_places(const struct ctm_plan *plan, const struct ranks *ranks, struct place *places)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		places[i].key = (uint64_t)f->code << 48 | ranks->rank[ranks->stands[i]];
		places[i].f = f;
		ctm_spill_pass(plan->spill);
	}
	return ctm_sort(plan->spill, places, plan->findings.n, sizeof(*places), place_cmp);
}

static bool is_deep(const struct ctm_finding *f)
{
	return f->text == ctm_plan_deep;
}

/* Says how many there were. */
static int word_deep(struct ctm_plan *plan, struct ctm_finding *f, size_t n)
{
	char buf[128];
	int len = f->err == ENAMETOOLONG ?
			  snprintf(buf, sizeof(buf),
				   n == 1 ?
					   "below it, %zu directory is too deep to be looked at" :
					   "below it, %zu directories are too deep to be looked at",
				   n) :
			  snprintf(buf, sizeof(buf),
				   n == 1 ? "far below it, %zu entry could not be looked at" :
					    "far below it, %zu entries could not be looked at",
				   n);

	f->text = ctm_arena_dup(&plan->arena, buf, (size_t)len);
	return f->text ? 0 : -ENOMEM;
}

/* Copies the findings in their order; those of too deep directories below one path become one. */
static int copy_ordered(struct ctm_plan *plan, const struct place *places, struct ctm_finding *to,
			size_t *ret_n)
{
	const size_t all = plan->findings.n;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all;) {
		const size_t first = i;

		to[n] = *places[i++].f;
		while (is_deep(&to[n]) && i < all && is_deep(places[i].f) &&
		       places[i].key == places[first].key && places[i].f->err == to[n].err) {
			i++;
			ctm_spill_pass(plan->spill);
		}
		if (is_deep(&to[n])) {
			r = word_deep(plan, &to[n], i - first);
		}
		n++;
		ctm_spill_pass(plan->spill);
	}
	*ret_n = n;
	return r;
}

/*
 * Into a second array: in place, an element at a time would be moved from one end to the other,
 * and each would have to be read from the disk. Their old order is that of the scan, which goes
 * through the tree a directory at a time, so that what follows each other here did so there.
 */
static int order_findings(struct ctm_plan *plan, const struct ranks *ranks)
{
	size_t n = plan->findings.n;
	struct place *places = ctm_spill_zeros(plan->spill, n, sizeof(*places));
	__typeof__(plan->findings) ordered = { .n = n, .cap = n };
	int r = places ? sort_places(plan, ranks, places) : -ENOMEM;

	if (r == 0) {
		ordered.v = ctm_spill_zeros(plan->spill, n, sizeof(*ordered.v));
		r = ordered.v ? 0 : -ENOMEM;
	}
	ctm_spill_scattered(plan->spill, plan->findings.v);
	if (r == 0 && ordered.v) {
		r = copy_ordered(plan, places, ordered.v, &ordered.n);
	}
	ctm_spill_drop(plan->spill, places, n * sizeof(*places));
	if (r == 0) {
		ctm_spill_vec_done(plan->spill, &plan->findings);
		plan->findings = ordered;
	}
	return r;
}

static int renumber(struct ctm_plan *plan, const struct ranks *ranks)
{
	size_t n = plan->actions.n;
	size_t *now = ctm_spill_zeros(plan->spill, n, sizeof(*now));

	if (!now) {
		return -ENOMEM;
	}
	ctm_spill_scattered(plan->spill, now);
	for (size_t i = 0; i < n; i++) {
		now[ranks->from[i]] = i;
		ctm_spill_pass(plan->spill);
	}
	for (size_t i = 0; i < plan->findings.n; i++) {
		if (plan->findings.v[i].action != CTM_NO_ACTION) {
			plan->findings.v[i].action = now[plan->findings.v[i].action];
		}
		ctm_spill_pass(plan->spill);
	}
	ctm_spill_drop(plan->spill, now, n * sizeof(*now));
	return 0;
}

static int order_actions(struct ctm_plan *plan, const struct ranks *ranks)
{
	size_t n = plan->actions.n;
	__typeof__(plan->actions) ordered = { .n = n, .cap = n };
	int r = renumber(plan, ranks);

	if (r == 0) {
		ordered.v = ctm_spill_zeros(plan->spill, n, sizeof(*ordered.v));
		r = ordered.v ? 0 : -ENOMEM;
	}
	ctm_spill_scattered(plan->spill, plan->actions.v);
	for (size_t i = 0; r == 0 && i < n; i++) {
		ordered.v[i] = plan->actions.v[ranks->from[i]];
		ctm_spill_pass(plan->spill);
	}
	if (r == 0) {
		ctm_spill_vec_done(plan->spill, &plan->actions);
		plan->actions = ordered;
	}
	return r;
}

int ctm_plan_settle(struct ctm_plan *plan)
{
	CLEANUP(ranks_done) struct ranks ranks = { 0 };
	int r;

	if (!plan->work->unsettled) {
		return 0;
	}
	r = drop_empty(plan);
	if (r == 0) {
		r = rank_paths(plan, &ranks);
	}
	if (r == 0) {
		r = order_findings(plan, &ranks);
	}
	if (r == 0) {
		r = order_actions(plan, &ranks);
	}
	plan->work->settled = plan->findings.n;
	plan->work->unsettled = r < 0;
	return r;
}
