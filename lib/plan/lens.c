/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which class an id is of, and where it belongs.
 */
#include "plan/lens.h"

#include <errno.h>

#include "base/cleanup.h"
#include "plan/fix.h"
#include "plan/plan.h"

#define TIMES_MAX 8 /* so often a tool may have run again; beyond it any id would fit */

int ctm_lens_init(struct ctm_lens *lens, const struct ctm_policy *policy)
{
	*lens = (struct ctm_lens){
		.map = policy->map,
		.from = policy->from,
		.kin = policy->kin,
		.fix = policy->fix,
		.convert = policy->convert,
		.builtin = ctm_idmap_new(),
	};
	return lens->builtin ? ctm_idmap_add_default(lens->builtin) : -ENOMEM;
}

void ctm_lens_done(struct ctm_lens *lens)
{
	ctm_vec_done(&lens->known);
	ctm_vec_done(&lens->found);
	ctm_arena_done(&lens->arena);
	ctm_idmap_free(lens->builtin);
	*lens = (struct ctm_lens){ 0 };
}

size_t ctm_lens_at(const struct ctm_id_histogram *ids, uint32_t id)
{
	size_t low = 0;
	size_t high = ids->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ids->v[mid].id < id) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

bool ctm_lens_complete(const struct ctm_lens *lens)
{
	return lens->ids[CTM_UID].other == 0 && lens->ids[CTM_GID].other == 0;
}

uint64_t ctm_lens_count(const struct ctm_id_histogram *ids, uint32_t first, uint32_t len)
{
	uint64_t n = 0;

	for (size_t i = ctm_lens_at(ids, first); i < ids->n && ids->v[i].id - first < len; i++) {
		n += ids->v[i].n;
	}
	return n;
}

int ctm_lens_settle(struct ctm_lens *lens, const struct ctm_scan_totals *totals)
{
	static const struct ctm_id_histogram none[2];

	lens->settled = true;
	lens->ids = totals ? totals->ids : none;
	lens->inodes = totals ? totals->inodes : 0;
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		uint64_t off = lens->ids[kind].other;

		for (size_t i = 0; i < lens->ids[kind].n; i++) {
			off += lens->ids[kind].v[i].n;
		}
		lens->mapped[kind] = lens->inodes > off ? lens->inodes - off : 0;
	}
	return lens->map ? ctm_lens_find_bases(lens) : 0;
}

const char *ctm_lens_other_map(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
			       ctm_cid *ret)
{
	if (ctm_idmap_to_ct(lens->builtin, kind, id, ret) == 0) {
		return "the default map";
	}
	for (size_t i = 0; lens->kin && i < lens->kin->n_maps; i++) {
		if (ctm_idmap_to_ct(lens->kin->maps[i].map, kind, id, ret) == 0) {
			return lens->kin->maps[i].name;
		}
	}
	return NULL;
}

/* The id without the offset of one of the map's ranges, which is there times too much. */
struct doubled {
	const struct ctm_range *range;
	unsigned int times;
	ctm_cid inside;
};

static bool find_doubled(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
			 struct doubled *ret)
{
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(lens->map, kind, &n);

	for (unsigned int times = 1; times <= TIMES_MAX; times++) {
		for (size_t i = 0; i < n; i++) {
			int64_t offset = (int64_t)v[i].disk - v[i].ct;
			int64_t at = (int64_t)id.v - times * offset - v[i].disk;

			if (offset != 0 && at >= 0 && at < v[i].len) {
				*ret = (struct doubled){ &v[i], times, { v[i].ct + (uint32_t)at } };
				return true;
			}
		}
	}
	return false;
}

static bool occurs(const struct ctm_id_histogram *ids, int64_t id)
{
	size_t at;

	if (id < 0 || id >= CTM_ID_INVALID) {
		return false;
	}
	at = ctm_lens_at(ids, (uint32_t)id);
	return at < ids->n && ids->v[at].id == id;
}

/* Whether the container's root was shifted as often, as uid or gid. */
static bool root_doubled(const struct ctm_lens *lens, unsigned int times)
{
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		ctm_did root;

		if (ctm_idmap_to_disk(lens->map, kind, (ctm_cid){ 0 }, &root) == 0 && root.v &&
		    occurs(&lens->ids[kind], root.v + (int64_t)root.v * times)) {
			return true;
		}
	}
	return false;
}

/* How many different ids of the histogram are those of container ids first to last, so shifted. */
static size_t count_doubled(const struct ctm_id_histogram *ids, const struct doubled *d,
			    uint32_t first, uint32_t last)
{
	int64_t shift = ((int64_t)d->range->disk - d->range->ct) * (d->times + 1);
	int64_t start = first > d->range->ct ? first : d->range->ct;
	int64_t end = (int64_t)d->range->ct + d->range->len;

	end = end < (int64_t)last + 1 ? end : (int64_t)last + 1;
	start = start + shift < 0 ? 0 : start + shift;
	end = end + shift > CTM_ID_INVALID ? CTM_ID_INVALID : end + shift;
	if (end <= start) {
		return 0;
	}
	return ctm_lens_at(ids, (uint32_t)end) - ctm_lens_at(ids, (uint32_t)start);
}

/* Whether root was shifted as often, or several of the ids that systems give out were. */
static bool others_doubled(const struct ctm_lens *lens, enum ctm_idkind kind,
			   const struct doubled *d)
{
	const struct ctm_id_histogram *ids = &lens->ids[kind];

	return root_doubled(lens, d->times) ||
	       count_doubled(ids, d, 0, CTM_LENS_LOW_END - 1) +
			       count_doubled(ids, d, CTM_ID_OVERFLOW, CTM_ID_OVERFLOW) >=
		       2;
}

/*
 * A volume that is wholly on the other ids was never shifted to these: it has another base. One
 * inode in a hundred is on the map when a second run of a tool was stopped near its end.
 */
static bool is_shifted(const struct ctm_lens *lens, enum ctm_idkind kind)
{
	return lens->mapped[kind] > 0 && lens->mapped[kind] >= lens->inodes / 100;
}

static bool look_twice(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
		       const struct ctm_place *place, struct ctm_verdict *v)
{
	struct doubled d;

	if (!is_shifted(lens, kind) || !find_doubled(lens, kind, id, &d)) {
		return false;
	}
	if (place->nested) {
		v->nested = true; /* as it should be there, under a wider map */
		v->inside = d.inside;
		return true;
	}
	if (!place->links && !ctm_lens_complete(lens)) {
		return false;
	}
	/* it would be an odd user, and is none on another base */
	if (!ctm_lens_is_low(d.inside.v) && ctm_lens_base_of(lens, kind, id, false)) {
		return false;
	}
	if (!place->links &&
	    (ctm_lens_base_of(lens, kind, id, true) || !others_doubled(lens, kind, &d))) {
		return false;
	}
	v->class = CTM_CLASS_TWICE;
	v->inside = d.inside;
	v->times = d.times;
	v->moves = lens->fix & CTM_FIX_TWICE;
	return true;
}

static bool look_base(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
		      struct ctm_verdict *v)
{
	const struct ctm_lens_base *base = ctm_lens_base_of(lens, kind, id, false);

	if (!base) {
		return false;
	}
	v->class = CTM_CLASS_BASE;
	v->inside.v = id.v - base->range.disk + base->range.ct;
	v->of = base->text;
	v->moves = lens->fix & CTM_FIX_BASE;
	return true;
}

/* The classes off the map, in their order. */
static void look_off(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
		     const struct ctm_place *place, struct ctm_verdict *v)
{
	if (id.v == CTM_ID_OVERFLOW && !lens->convert) {
		v->class = CTM_CLASS_OVERFLOW;
		v->inside.v = id.v;
		v->moves = lens->fix & CTM_FIX_OVERFLOW;
		return;
	}
	if (ctm_idmap_in_ct(lens->map, kind, (ctm_cid){ id.v })) {
		v->class = CTM_CLASS_HOST;
		v->inside.v = id.v;
		v->moves = true;
		return;
	}
	v->of = ctm_lens_other_map(lens, kind, id, &v->inside);
	if (v->of) {
		v->class = CTM_CLASS_HOLE;
		v->moves = lens->fix & CTM_FIX_HOLE;
		return;
	}
	v->class = CTM_CLASS_BEYOND;
	if (id.v == CTM_ID_INVALID) {
		return;
	}
	v->unsure = !lens->settled;
	if (lens->settled && !look_twice(lens, kind, id, place, v)) {
		(void)look_base(lens, kind, id, v);
	}
}

void ctm_lens_look(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
		   const struct ctm_place *place, struct ctm_verdict *ret)
{
	struct ctm_verdict v = { .class = CTM_CLASS_MAPPED, .target = id };

	if (lens->from && ctm_idmap_carry(lens->from, lens->map, kind, id, &v.target)) {
		if (v.target.v != id.v) {
			v.class = CTM_CLASS_FROM;
			v.placed = v.moves = true;
			(void)ctm_idmap_to_ct(lens->from, kind, id, &v.inside);
		}
		*ret = v;
		return;
	}
	if (!ctm_idmap_on_disk(lens->map, kind, id)) {
		look_off(lens, kind, id, place, &v);
		v.placed = v.class != CTM_CLASS_BEYOND &&
			   ctm_idmap_to_disk(lens->map, kind, v.inside, &v.target) == 0;
		v.moves = v.moves && v.placed;
	}
	*ret = v;
}
