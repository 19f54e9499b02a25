/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which other bases a volume's ids count from.
 *
 * A number alone never tells: any id is so much above something. A range of 65536 ids is taken for
 * another base when somebody is known to have it, when its first id, the root of whoever had it,
 * owns something, or when it lies a whole number of such ranges from the map's own, as the ranges
 * of neighbouring containers do, and has only ids that systems give out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "plan/lens.h"

#define LEN   ((uint32_t)CTM_IDMAP_DEFAULT_LEN)
#define ROUND 100000u /* what people choose for a base that they think up */
#define NEAR  1024    /* ranges away from the map's own that a neighbour may be */
#define WAYS  5

/* Where the container's id 0 is, or would be; false when below 0. */
static bool own_base(const struct ctm_lens *lens, enum ctm_idkind kind, uint32_t *ret)
{
	ctm_did root;
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(lens->map, kind, &n);

	if (ctm_idmap_to_disk(lens->map, kind, (ctm_cid){ 0 }, &root) == 0) {
		*ret = root.v;
		return true;
	}
	if (n == 0 || v[0].disk < v[0].ct) {
		return false;
	}
	*ret = v[0].disk - v[0].ct;
	return true;
}

/* The bases whose range would hold an id; returns how many. */
static size_t bases_for(const struct ctm_lens *lens, uint32_t id, uint32_t ret[static WAYS])
{
	uint32_t from[WAYS - 1] = { 0, ROUND };
	size_t n_from = 2;
	size_t n = 0;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		n_from += own_base(lens, kind, &from[n_from]) ? 1 : 0;
	}
	for (size_t i = 0; i < n_from; i++) {
		uint32_t offset = (id - from[i]) % LEN; /* LEN divides 2^32 */

		if (offset <= id) {
			ret[n++] = id - offset;
		}
	}
	if (id % ROUND < LEN) {
		ret[n++] = id - id % ROUND;
	}
	return n;
}

static bool meet(uint32_t a, uint32_t a_len, uint32_t b, uint32_t b_len)
{
	return a - b < b_len || b - a < a_len;
}

/* Ids there may be right, or the container's own: nothing tells which. */
static bool meets_map(const struct ctm_lens *lens, enum ctm_idkind kind, uint32_t base)
{
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(lens->map, kind, &n);

	for (size_t i = 0; i < n; i++) {
		if (meet(base, LEN, v[i].disk, v[i].len) || meet(base, LEN, v[i].ct, v[i].len)) {
			return true;
		}
	}
	return false;
}

static bool occurs(const struct ctm_id_histogram *ids, uint32_t id)
{
	size_t at = ctm_lens_at(ids, id);

	return at < ids->n && ids->v[at].id == id;
}

static bool all_low(const struct ctm_id_histogram *ids, uint32_t base)
{
	size_t first = ctm_lens_at(ids, base);
	size_t i = first;

	for (; i < ids->n && ids->v[i].id - base < LEN; i++) {
		uint32_t offset = ids->v[i].id - base;

		if (!ctm_lens_is_low(offset)) {
			return false;
		}
	}
	return i > first;
}

static bool is_neighbour(const struct ctm_lens *lens, enum ctm_idkind kind, uint32_t base)
{
	uint32_t own;
	int64_t apart;

	if (!own_base(lens, kind, &own)) {
		return false;
	}
	apart = (int64_t)base - own;
	return apart % LEN == 0 && apart / LEN <= NEAR && apart / LEN >= -NEAR;
}

static bool speaks_for(const struct ctm_lens *lens, enum ctm_idkind kind, uint32_t base)
{
	if (base > CTM_ID_INVALID - LEN || meets_map(lens, kind, base)) {
		return false;
	}
	return occurs(&lens->ids[CTM_UID], base) || occurs(&lens->ids[CTM_GID], base) ||
	       (is_neighbour(lens, kind, base) && all_low(&lens->ids[kind], base));
}

/* "u:0:165536:65536,g:0:100000:65536": ids of a kind that has none there stay as they are. */
static int put_spec(const struct ctm_lens *lens, const struct ctm_lens_base *base,
		    struct ctm_buf *out)
{
	const struct ctm_range *r = &base->range;
	const char *comma = "";
	int err = 0;

	if (base->n[CTM_UID] && base->n[CTM_GID]) {
		return ctm_buf_addf(out, "%" PRIu32 ":%" PRIu32 ":%" PRIu32, r->ct, r->disk,
				    r->len);
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && err == 0; kind++) {
		size_t n;
		const struct ctm_range *own = ctm_idmap_ranges(lens->map, kind, &n);
		const struct ctm_range *one = base->n[kind] ? r : n == 1 ? own : NULL;

		if (one) {
			err = ctm_buf_addf(out, "%s%c:%" PRIu32 ":%" PRIu32 ":%" PRIu32, comma,
					   kind == CTM_UID ? 'u' : 'g', one->ct, one->disk,
					   one->len);
			comma = ",";
		}
	}
	return err;
}

/* "base 165536 of container 116, uid of 512 inodes: --from-map 0:165536:65536" */
static int say(struct ctm_lens *lens, struct ctm_lens_base *base)
{
	static const char *const words[] = { "uid", "gid" };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_buf_addf(&text, "base %" PRIu32 "%s%s", base->range.disk - base->range.ct,
			     base->owner ? " of " : "", base->owner ? base->owner : "");

	for (int kind = CTM_UID; kind <= CTM_GID && r == 0; kind++) {
		if (base->n[kind]) {
			r = ctm_buf_addf(&text, ", %s of %" PRIu64 " inode%s", words[kind],
					 base->n[kind], base->n[kind] == 1 ? "" : "s");
		}
	}
	if (r == 0 && (base->n[CTM_UID] || base->n[CTM_GID])) {
		r = ctm_buf_addf(&text, ": --from-map ");
		r = r < 0 ? r : put_spec(lens, base, &text);
	}
	if (r < 0) {
		return r;
	}
	base->text = ctm_arena_dup(&lens->arena, text.p, text.len);
	return base->text ? 0 : -ENOMEM;
}

static void count(const struct ctm_lens *lens, struct ctm_lens_base *base)
{
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		base->n[kind] = ctm_lens_count(&lens->ids[kind], base->range.disk, base->range.len);
	}
}

/* A longer or shorter piece of the map itself is no other base. */
static bool is_own(const struct ctm_lens *lens, const struct ctm_kin_base *base)
{
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(lens->map, base->kind, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i].disk - v[i].ct == base->range.disk - base->range.ct) {
			return true;
		}
	}
	return false;
}

static int add_known(struct ctm_lens *lens)
{
	for (size_t i = 0; lens->kin && i < lens->kin->n_bases; i++) {
		const struct ctm_kin_base *kin = &lens->kin->bases[i];
		struct ctm_lens_base base = { .range = kin->range, .owner = kin->owner };
		int r;

		if (is_own(lens, kin)) {
			continue;
		}
		base.for_kind[kin->kind] = true;
		count(lens, &base);
		r = say(lens, &base);
		r = r < 0 ? r : ctm_vec_push(&lens->known, &base);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

struct numbers {
	CTM_VEC(uint32_t) v;
};

static void numbers_done(struct numbers *numbers)
{
	ctm_vec_done(&numbers->v);
}

/* Every base that an id of the kind that fits nothing else could count from, some of them often. */
static int suggest(const struct ctm_lens *lens, enum ctm_idkind kind, struct numbers *out)
{
	const struct ctm_id_histogram *ids = &lens->ids[kind];
	uint32_t last[WAYS] = { 0 };

	for (size_t i = 0; i < ids->n; i++) {
		ctm_did id = { ids->v[i].id };
		uint32_t bases[WAYS];
		ctm_cid inside;
		size_t n;

		if (ctm_classify(lens->map, kind, id) != CTM_CLASS_BEYOND ||
		    ctm_lens_other_map(lens, kind, id, &inside)) {
			continue;
		}
		n = bases_for(lens, id.v, bases);
		for (size_t k = 0; k < n; k++) {
			if (bases[k] == last[k]) {
				continue;
			}
			last[k] = bases[k];
			if (ctm_vec_push(&out->v, &bases[k]) < 0) {
				return -ENOMEM;
			}
		}
	}
	return 0;
}

static int add_found(struct ctm_lens *lens)
{
	CLEANUP(numbers_done) struct numbers bases = { 0 };
	int r = suggest(lens, CTM_UID, &bases);

	r = r < 0 ? r : suggest(lens, CTM_GID, &bases);
	if (r < 0 || bases.v.n == 0) {
		return r;
	}
	qsort(bases.v.v, bases.v.n, sizeof(*bases.v.v), by_number);
	for (size_t i = 0; i < bases.v.n; i++) {
		struct ctm_lens_base base = { .range = { 0, bases.v.v[i], LEN } };

		if (i > 0 && bases.v.v[i] == bases.v.v[i - 1]) {
			continue;
		}
		for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
			base.for_kind[kind] = speaks_for(lens, kind, base.range.disk);
		}
		if (!base.for_kind[CTM_UID] && !base.for_kind[CTM_GID]) {
			continue;
		}
		count(lens, &base);
		r = say(lens, &base);
		r = r < 0 ? r : ctm_vec_push(&lens->found, &base);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

int ctm_lens_find_bases(struct ctm_lens *lens)
{
	int r = add_known(lens);

	return r < 0 || !ctm_lens_complete(lens) ? r : add_found(lens);
}

static const struct ctm_lens_base *found_at(const struct ctm_lens *lens, enum ctm_idkind kind,
					    uint32_t base)
{
	size_t low = 0;
	size_t high = lens->found.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (lens->found.v[mid].range.disk < base) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low < lens->found.n && lens->found.v[low].range.disk == base &&
			       lens->found.v[low].for_kind[kind] ?
		       &lens->found.v[low] :
		       NULL;
}

/* A neighbour of the map's own range before others, then the one with more inodes. */
static bool is_better(const struct ctm_lens *lens, enum ctm_idkind kind,
		      const struct ctm_lens_base *a, const struct ctm_lens_base *b)
{
	bool a_near = is_neighbour(lens, kind, a->range.disk);
	uint64_t a_n = a->n[CTM_UID] + a->n[CTM_GID];
	uint64_t b_n = b->n[CTM_UID] + b->n[CTM_GID];

	if (a_near != is_neighbour(lens, kind, b->range.disk)) {
		return a_near;
	}
	return a_n != b_n ? a_n > b_n : a->range.disk < b->range.disk;
}

const struct ctm_lens_base *ctm_lens_base_of(const struct ctm_lens *lens, enum ctm_idkind kind,
					     ctm_did id, bool known_only)
{
	const struct ctm_lens_base *best = NULL;
	uint32_t bases[WAYS];
	size_t n;

	for (size_t i = 0; i < lens->known.n; i++) {
		const struct ctm_lens_base *base = &lens->known.v[i];

		if (base->for_kind[kind] && id.v - base->range.disk < base->range.len) {
			return base;
		}
	}
	n = known_only || lens->found.n == 0 ? 0 : bases_for(lens, id.v, bases);
	for (size_t i = 0; i < n; i++) {
		const struct ctm_lens_base *base = found_at(lens, kind, bases[i]);

		if (base && (!best || is_better(lens, kind, base, best))) {
			best = base;
		}
	}
	return best;
}
