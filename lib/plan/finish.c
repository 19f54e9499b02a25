/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be said only when all facts are there: hard links, the tree as a whole, the order.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/order.h"
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
 * other names are mentioned. Names that a whole directory volume does not have are not the
 * container's to change, so it is left. A volume of its own has no outside: if names are missing
 * there, the file system's link count is wrong or a name could not be read, and the owner is
 * repaired.
 */
static int missing_names(struct ctm_plan *plan, const struct ctm_link *link)
{
	const bool whole = ctm_plan_is_whole(&plan->policy);
	const uint32_t inside = whole ? link->names : link->all;
	const bool lies_outside = !plan->policy.raw_volume && inside > 0 && inside < link->nlink;
	struct ctm_finding outside = {
		.code = CTM_F_LINK_OUTSIDE,
		.kind = -1,
		.path = link->path,
		.path_len = link->path_len,
		.action = CTM_NO_ACTION,
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
	/* changes nothing: it is dropped when the plan settles */
	plan->actions.v[link->action].after = plan->actions.v[link->action].before;
	outside.text = ctm_arena_dup(&plan->arena, words, strlen(words));
	return outside.text ? ctm_plan_add(plan, &outside) : -ENOMEM;
}

static int fold_links(struct ctm_plan *plan)
{
	int r = 0;

	for (size_t i = 0; i < plan->work->links.v.n && r == 0; i++) {
		const struct ctm_link *link = &plan->work->links.v.v[i];

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
		if (link->names < link->nlink) {
			r = missing_names(plan, link);
		}
	}
	return r;
}

static int judge_tree(struct ctm_plan *plan)
{
	static const char *const words[] = { "have a uid", "have a gid", "have uid and gid" };
	uint64_t all = plan->volume_inodes;
	uint64_t uids = plan->volume_host[CTM_UID];
	uint64_t gids = plan->volume_host[CTM_GID];
	uint64_t most = uids > gids ? uids : gids;
	bool by_uid = uids > all / 2;
	bool by_gid = gids > all / 2;
	char text[160];

	if (plan->policy.convert || !(by_uid || by_gid)) {
		return 0;
	}
	plan->refuse_tree = true;
	plan->actions.n = 0;
	for (size_t i = 0; i < plan->findings.n; i++) {
		plan->findings.v[i].action = CTM_NO_ACTION;
	}
	(void)snprintf(text, sizeof(text),
		       "%" PRIu64 " of %" PRIu64 " inodes (%" PRIu64 " %%) %s %s", most, all,
		       all ? most * 100 / all : 100,
		       words[by_uid && by_gid ? 2 :
			     by_gid           ? 1 :
						0],
		       "of the host");
	return ctm_plan_note(plan, CTM_F_TREE_HOST, NULL, 0, text);
}

int ctm_plan_finish(struct ctm_plan *plan)
{
	int r = fold_links(plan);

	if (r == 0) {
		r = judge_tree(plan);
	}
	if (r == 0) {
		r = ctm_plan_settle(plan);
	}
	plan->finished = r == 0;
	return r;
}

/* Drops what changes nothing, and findings that are gone. Indexes go through a table. */
static int drop_empty(struct ctm_plan *plan)
{
	CLEANUP_FREE size_t *now = calloc(plan->actions.n + 1, sizeof(*now));
	size_t n = 0;

	if (!now) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < plan->actions.n; i++) {
		const struct ctm_action *a = &plan->actions.v[i];

		if (a->kind == CTM_ACT_SET && ctm_inode_state_eq(&a->before, &a->after)) {
			now[i] = CTM_NO_ACTION;
			continue;
		}
		now[i] = n;
		plan->actions.v[n++] = *a;
	}
	plan->actions.n = n;
	n = 0;
	for (size_t i = 0; i < plan->findings.n; i++) {
		struct ctm_finding *f = &plan->findings.v[i];

		if (f->kind == CTM_KIND_DROPPED) {
			continue;
		}
		if (f->action != CTM_NO_ACTION) {
			f->action = now[f->action];
		}
		plan->findings.v[n++] = *f;
	}
	plan->findings.n = n;
	return 0;
}

/*
 * Ranks of paths, equal ones alike, for actions (0 .. n_actions - 1) and for findings behind them.
 * A finding that shares the path of its action, or of the finding before it, shares its rank too:
 * then stands[i] is that one's place.
 */
struct ranks {
	size_t *rank;
	size_t *stands; /* of each finding, its place in rank */
	size_t *from;   /* the actions in order */
};

static void ranks_done(struct ranks *ranks)
{
	free(ranks->rank);
	free(ranks->stands);
	free(ranks->from);
}

static struct ctm_order order_of(const char *path, size_t len, size_t ref)
{
	return (struct ctm_order){ .path = path ? path : "", .len = len, .ref = ref };
}

/* Fills v with what is to be sorted; returns how many. */
static size_t collect(const struct ctm_plan *plan, struct ranks *ranks, struct ctm_order *v)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->actions.n; i++) {
		v[n++] = order_of(plan->actions.v[i].path, plan->actions.v[i].path_len, i);
	}
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		if (f->action != CTM_NO_ACTION && plan->actions.v[f->action].path == f->path) {
			ranks->stands[i] = f->action;
		} else if (i > 0 && plan->findings.v[i - 1].path == f->path) {
			ranks->stands[i] = ranks->stands[i - 1];
		} else {
			ranks->stands[i] = plan->actions.n + i;
			v[n++] = order_of(f->path, f->path_len, ranks->stands[i]);
		}
	}
	return n;
}

static bool same_path(const struct ctm_order *a, const struct ctm_order *b)
{
	return a->len == b->len && memcmp(a->path, b->path, a->len) == 0;
}

static int rank_paths(const struct ctm_plan *plan, struct ranks *ranks)
{
	size_t all = plan->actions.n + plan->findings.n + 1;
	CLEANUP_FREE struct ctm_order *v = calloc(all, sizeof(*v));
	size_t acts = 0;
	size_t rank = 0;
	size_t n;
	int r;

	ranks->rank = calloc(all, sizeof(*ranks->rank));
	ranks->stands = calloc(plan->findings.n + 1, sizeof(*ranks->stands));
	ranks->from = calloc(plan->actions.n + 1, sizeof(*ranks->from));
	if (!v || !ranks->rank || !ranks->stands || !ranks->from) {
		return -ENOMEM;
	}
	n = collect(plan, ranks, v);
	r = ctm_order_paths(v, n);
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && !same_path(&v[i - 1], &v[i])) {
			rank++;
		}
		ranks->rank[v[i].ref] = rank;
		if (v[i].ref < plan->actions.n) {
			ranks->from[acts++] = v[i].ref;
		}
	}
	return 0;
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

static int order_findings(struct ctm_plan *plan, const struct ranks *ranks)
{
	size_t n = plan->findings.n;
	CLEANUP_FREE struct place *places = calloc(n + 1, sizeof(*places));
	CLEANUP_FREE size_t *from = calloc(n + 1, sizeof(*from));
	struct ctm_finding tmp;

	if (!places || !from) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		places[i].key = (uint64_t)f->code << 48 | ranks->rank[ranks->stands[i]];
		places[i].f = f;
	}
	qsort(places, n, sizeof(*places), place_cmp);
	for (size_t i = 0; i < n; i++) {
		from[i] = (size_t)(places[i].f - plan->findings.v);
	}
	ctm_order_apply(plan->findings.v, n, sizeof(tmp), from, &tmp);
	return 0;
}

static int order_actions(struct ctm_plan *plan, struct ranks *ranks)
{
	size_t n = plan->actions.n;
	CLEANUP_FREE size_t *now = calloc(n + 1, sizeof(*now));
	struct ctm_action tmp;

	if (!now) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		now[ranks->from[i]] = i;
	}
	for (size_t i = 0; i < plan->findings.n; i++) {
		if (plan->findings.v[i].action != CTM_NO_ACTION) {
			plan->findings.v[i].action = now[plan->findings.v[i].action];
		}
	}
	ctm_order_apply(plan->actions.v, n, sizeof(tmp), ranks->from, &tmp);
	return 0;
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
