/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts of ids by base.
 */
#include "plan/histogram.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

const char *ctm_ids_word(enum ctm_ids ids)
{
	static const char *const words[] = { "mapped", "host", "base", "other" };

	return words[ids];
}

static int by_place(const void *pa, const void *pb)
{
	const struct ctm_histogram_row *a = pa;
	const struct ctm_histogram_row *b = pb;

	if (a->kind != b->kind) {
		return a->kind < b->kind ? -1 : 1;
	}
	if (a->ids != b->ids) {
		return a->ids < b->ids ? -1 : 1;
	}
	return (a->base > b->base) - (a->base < b->base);
}

/* Which row an id belongs to. */
static struct ctm_histogram_row place(const struct ctm_plan *plan, enum ctm_idkind kind, ctm_did id)
{
	struct ctm_histogram_row row = { .kind = kind, .first = id.v, .last = id.v };
	const struct ctm_lens_base *base;

	switch (ctm_classify(plan->policy.map, kind, id)) {
	case CTM_CLASS_MAPPED:
		return row;
	case CTM_CLASS_HOST:
		row.ids = CTM_IDS_HOST;
		return row;
	default:
		break;
	}
	base = ctm_lens_base_of(&plan->lens, kind, id, false);
	if (base) {
		row.ids = CTM_IDS_BASE;
		row.base = base->range.disk - base->range.ct;
	} else if (ctm_idmap_on_disk(plan->lens.builtin, kind, id)) {
		const struct ctm_range *v;
		size_t n;

		v = ctm_idmap_ranges(plan->lens.builtin, kind, &n);
		row.ids = CTM_IDS_BASE;
		row.base = v[0].disk;
	} else {
		row.ids = CTM_IDS_OTHER;
	}
	return row;
}

static size_t count_bases(const struct ctm_histogram *h, enum ctm_idkind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < h->rows.n; i++) {
		n += h->rows.v[i].kind == kind && h->rows.v[i].ids == CTM_IDS_BASE;
	}
	return n;
}

static struct ctm_histogram_row *find(const struct ctm_histogram *h,
				      const struct ctm_histogram_row *like)
{
	for (size_t i = 0; i < h->rows.n; i++) {
		if (by_place(&h->rows.v[i], like) == 0) {
			return &h->rows.v[i];
		}
	}
	return NULL;
}

/* The row of an id, made when there is none; NULL: no memory. */
static struct ctm_histogram_row *row_of(struct ctm_histogram *h, const struct ctm_plan *plan,
					enum ctm_idkind kind, ctm_did id)
{
	struct ctm_histogram_row like = place(plan, kind, id);
	struct ctm_histogram_row *row = find(h, &like);

	if (!row && like.ids == CTM_IDS_BASE && count_bases(h, kind) == CTM_HISTOGRAM_BASES) {
		like.ids = CTM_IDS_OTHER;
		like.base = 0;
		row = find(h, &like);
	}
	if (!row) {
		if (ctm_vec_push(&h->rows, &like) < 0) {
			return NULL;
		}
		row = &h->rows.v[h->rows.n - 1];
	}
	row->first = id.v < row->first ? id.v : row->first;
	row->last = id.v > row->last ? id.v : row->last;
	return row;
}

/* What the map spans; it has a row also where no inode does. */
static int add_mapped(struct ctm_histogram *h, const struct ctm_plan *plan, enum ctm_idkind kind)
{
	struct ctm_histogram_row row = {
		.kind = kind,
		.first = UINT32_MAX,
		.before = plan->lens.mapped[kind],
		.after = plan->lens.mapped[kind],
	};
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(plan->policy.map, kind, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t last = v[i].disk + v[i].len - 1;

		row.first = v[i].disk < row.first ? v[i].disk : row.first;
		row.last = last > row.last ? last : row.last;
	}
	row.first = n ? row.first : 0;
	return ctm_vec_push(&h->rows, &row);
}

static int count_before(struct ctm_histogram *h, const struct ctm_plan *plan, enum ctm_idkind kind)
{
	const struct ctm_id_histogram *ids = &plan->lens.ids[kind];
	struct ctm_histogram_row others = {
		.kind = kind,
		.ids = CTM_IDS_OTHER,
		.last = CTM_ID_INVALID - 1, /* they were not told apart */
		.before = ids->other,
		.after = ids->other,
	};
	struct ctm_histogram_row *row;

	for (size_t i = 0; i < ids->n; i++) {
		row = row_of(h, plan, kind, (ctm_did){ ids->v[i].id });
		if (!row) {
			return -ENOMEM;
		}
		row->before += ids->v[i].n;
		row->after += ids->v[i].n;
	}
	if (ids->other == 0) {
		return 0;
	}
	row = find(h, &others);
	if (!row) {
		return ctm_vec_push(&h->rows, &others);
	}
	row->before += ids->other;
	row->after += ids->other;
	return 0;
}

/* Counts are rounded where names of a hard link lie outside, so none goes below 0. */
static int leave(struct ctm_histogram *h, const struct ctm_plan *plan, enum ctm_idkind kind,
		 ctm_did id)
{
	struct ctm_histogram_row *row = row_of(h, plan, kind, id);

	if (!row) {
		return -ENOMEM;
	}
	row->after -= row->after > 0;
	return 0;
}

static int arrive(struct ctm_histogram *h, const struct ctm_plan *plan, enum ctm_idkind kind,
		  ctm_did id)
{
	struct ctm_histogram_row *row = row_of(h, plan, kind, id);

	if (!row) {
		return -ENOMEM;
	}
	row->after++;
	return 0;
}

static int count_action(struct ctm_histogram *h, const struct ctm_plan *plan,
			const struct ctm_action *a)
{
	const ctm_did before[] = { [CTM_UID] = a->before.uid, [CTM_GID] = a->before.gid };
	const ctm_did after[] = { [CTM_UID] = a->after.uid, [CTM_GID] = a->after.gid };
	int r = 0;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && r == 0; kind++) {
		if (a->kind == CTM_ACT_SET && before[kind].v == after[kind].v) {
			continue;
		}
		if (a->kind != CTM_ACT_RESTORE) {
			r = leave(h, plan, kind, before[kind]);
		}
		if (r == 0 && a->kind != CTM_ACT_REMOVE) {
			r = arrive(h, plan, kind, after[kind]);
		}
	}
	return r;
}

int ctm_histogram_make(const struct ctm_plan *plan, struct ctm_histogram *ret)
{
	CLEANUP(ctm_histogram_done) struct ctm_histogram h = { 0 };
	const struct ctm_idmap *map = plan->policy.map;
	int r = 0;

	if (!map || !plan->lens.settled || !plan->lens.ids ||
	    (ctm_idmap_empty(map, CTM_UID) && ctm_idmap_empty(map, CTM_GID))) {
		*ret = h;
		return 0;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && r == 0; kind++) {
		r = add_mapped(&h, plan, kind);
		r = r < 0 ? r : count_before(&h, plan, kind);
	}
	for (size_t i = 0; i < plan->actions.n && r == 0; i++) {
		ctm_spill_pass(plan->spill);
		r = count_action(&h, plan, &plan->actions.v[i]);
	}
	if (r < 0) {
		return r;
	}
	qsort(h.rows.v, h.rows.n, sizeof(*h.rows.v), by_place);
	*ret = h;
	h = (struct ctm_histogram){ 0 };
	return 0;
}

void ctm_histogram_done(struct ctm_histogram *histogram)
{
	ctm_vec_done(&histogram->rows);
}
