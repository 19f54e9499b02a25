/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The id map of one volume: ranges, lookups in both directions. What people write is read in
 * mapspec.c.
 *
 * Fixed arrays: the kernel takes no more than 340 ranges, a lookup touches one array, and nothing
 * but ctm_idmap_new() can run out of memory. A finished map is never written, so threads share it
 * freely.
 */
#include "id/idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One range seen from the side that is searched. */
struct run {
	uint32_t from;
	uint32_t to;
	uint32_t len;
};

/* Sorted by from; no two overlap. */
struct table {
	size_t n;
	struct run runs[CTM_IDMAP_MAX];
};

struct side {
	/*
	 * Disk ids of the range that holds container id 0, else of the first: nearly every inode
	 * is there.
	 */
	uint32_t hot;
	uint32_t hot_len;
	struct table by_disk;
	struct table by_ct;
	size_t n;
	struct ctm_range added[CTM_IDMAP_MAX];
};

struct ctm_idmap {
	struct side side[2]; /* by enum ctm_idkind */
};

struct ctm_idmap *ctm_idmap_new(void)
{
	return calloc(1, sizeof(struct ctm_idmap));
}

void ctm_idmap_free(struct ctm_idmap *map)
{
	free(map);
}

/* Number of runs that start at or before the id. */
static size_t runs_upto(const struct table *table, uint32_t id)
{
	size_t low = 0;
	size_t high = table->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (table->runs[mid].from <= id) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

static const struct run *find(const struct table *table, uint32_t id)
{
	size_t at = runs_upto(table, id);
	const struct run *run;

	if (at == 0) {
		return NULL;
	}
	run = &table->runs[at - 1];
	return id - run->from < run->len ? run : NULL;
}

/* Whether the run would overlap one that is there; *ret_at is where it belongs. */
static bool overlaps(const struct table *table, struct run run, size_t *ret_at)
{
	size_t at = runs_upto(table, run.from);

	*ret_at = at;
	if (at > 0 && run.from - table->runs[at - 1].from < table->runs[at - 1].len) {
		return true;
	}
	return at < table->n && table->runs[at].from - run.from < run.len;
}

static void insert(struct table *table, struct run run, size_t at)
{
	memmove(&table->runs[at + 1], &table->runs[at], (table->n - at) * sizeof(run));
	table->runs[at] = run;
	table->n++;
}

int ctm_idmap_add(struct ctm_idmap *map, enum ctm_idkind kind, struct ctm_range range)
{
	const struct run disk = { .from = range.disk, .to = range.ct, .len = range.len };
	const struct run ct = { .from = range.ct, .to = range.disk, .len = range.len };
	struct side *side = &map->side[kind];
	size_t at_disk;
	size_t at_ct;

	if (range.len == 0) {
		return -EINVAL;
	}
	/* the last id, first + len - 1, is below CTM_ID_INVALID */
	if (range.len > CTM_ID_INVALID - range.ct || range.len > CTM_ID_INVALID - range.disk) {
		return -ERANGE;
	}
	if (overlaps(&side->by_disk, disk, &at_disk) || overlaps(&side->by_ct, ct, &at_ct)) {
		return -EEXIST;
	}
	if (side->n == CTM_IDMAP_MAX) {
		return -E2BIG;
	}
	insert(&side->by_disk, disk, at_disk);
	insert(&side->by_ct, ct, at_ct);
	side->added[side->n++] = range;
	if (side->n == 1 || range.ct == 0) {
		side->hot = range.disk;
		side->hot_len = range.len;
	}
	return 0;
}

int ctm_idmap_add_identity(struct ctm_idmap *map)
{
	const struct ctm_range all = { .ct = 0, .disk = 0, .len = CTM_ID_INVALID };
	int r = ctm_idmap_add(map, CTM_UID, all);

	return r < 0 ? r : ctm_idmap_add(map, CTM_GID, all);
}

int ctm_idmap_add_default(struct ctm_idmap *map)
{
	const struct ctm_range range = { .ct = 0, .disk = 100000, .len = CTM_IDMAP_DEFAULT_LEN };
	int r;

	r = ctm_idmap_add(map, CTM_UID, range);
	return r < 0 ? r : ctm_idmap_add(map, CTM_GID, range);
}

bool ctm_idmap_empty(const struct ctm_idmap *map, enum ctm_idkind kind)
{
	return map->side[kind].n == 0;
}

const struct ctm_range *ctm_idmap_ranges(const struct ctm_idmap *map, enum ctm_idkind kind,
					 size_t *ret_n)
{
	*ret_n = map->side[kind].n;
	return map->side[kind].added;
}

int ctm_idmap_to_disk(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_cid id, ctm_did *ret)
{
	const struct run *run = find(&map->side[kind].by_ct, id.v);

	if (!run) {
		return -ERANGE;
	}
	ret->v = run->to + (id.v - run->from);
	return 0;
}

int ctm_idmap_to_ct(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id, ctm_cid *ret)
{
	const struct run *run = find(&map->side[kind].by_disk, id.v);

	if (!run) {
		return -ERANGE;
	}
	ret->v = run->to + (id.v - run->from);
	return 0;
}

bool ctm_idmap_on_disk(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id)
{
	const struct side *side = &map->side[kind];

	/* one comparison for both ends: below hot the difference wraps round */
	if (__builtin_expect(id.v - side->hot < side->hot_len, true)) {
		return true;
	}
	return side->n > 1 && find(&side->by_disk, id.v);
}

bool ctm_idmap_in_ct(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_cid id)
{
	return find(&map->side[kind].by_ct, id.v) != NULL;
}

bool ctm_idmap_carry(const struct ctm_idmap *from, const struct ctm_idmap *to, enum ctm_idkind kind,
		     ctm_did id, ctm_did *ret)
{
	ctm_cid inside;

	return ctm_idmap_to_ct(from, kind, id, &inside) == 0 &&
	       ctm_idmap_to_disk(to, kind, inside, ret) == 0;
}

/* The ids that both have, from *first on; false when there are none. */
static bool common(uint32_t a, uint32_t a_len, uint32_t b, uint32_t b_len, uint32_t *first,
		   uint32_t *len)
{
	uint32_t start = a > b ? a : b;
	uint32_t end = a + a_len < b + b_len ? a + a_len : b + b_len;

	*first = start;
	*len = end - start;
	return start < end;
}

/* Whether an id of these, which are right under the map, is another one of the container's. */
static bool is_moved(const struct ctm_idmap *from, enum ctm_idkind kind, const struct ctm_range *to,
		     uint32_t first, uint32_t len)
{
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(from, kind, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t start;
		uint32_t some;

		if (v[i].disk - v[i].ct != to->disk - to->ct &&
		    common(v[i].disk, v[i].len, first, len, &start, &some)) {
			return true;
		}
	}
	return false;
}

bool ctm_idmap_carries_twice(const struct ctm_idmap *from, const struct ctm_idmap *to)
{
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n_from;
		size_t n_to;
		const struct ctm_range *f = ctm_idmap_ranges(from, kind, &n_from);
		const struct ctm_range *t = ctm_idmap_ranges(to, kind, &n_to);

		for (size_t i = 0; i < n_from * n_to; i++) {
			const struct ctm_range *a = &f[i / n_to];
			const struct ctm_range *b = &t[i % n_to];
			uint32_t ct;
			uint32_t len;

			if (a->disk - a->ct != b->disk - b->ct &&
			    common(a->ct, a->len, b->ct, b->len, &ct, &len) &&
			    is_moved(from, kind, b, ct - b->ct + b->disk, len)) {
				return true;
			}
		}
	}
	return false;
}

int ctm_idmap_format(const struct ctm_idmap *map, struct ctm_buf *out)
{
	static const char letter[] = { [CTM_UID] = 'u', [CTM_GID] = 'g' };
	const char *comma = "";
	int r;

	r = ctm_buf_reserve(out, 0);
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		const struct side *side = &map->side[kind];

		for (size_t i = 0; r == 0 && i < side->n; i++) {
			const struct ctm_range *range = &side->added[i];

			r = ctm_buf_addf(out, "%s%c %u %u %u", comma, letter[kind], range->ct,
					 range->disk, range->len);
			comma = ", ";
		}
	}
	return r;
}

/* The run that starts at *at, with those behind it that continue it on both sides; moves *at on. */
static struct run joined(const struct table *table, size_t *at)
{
	struct run run = table->runs[(*at)++];

	while (*at < table->n && table->runs[*at].from == run.from + run.len &&
	       table->runs[*at].to == run.to + run.len) {
		run.len += table->runs[(*at)++].len;
	}
	return run;
}

static bool same(const struct table *a, const struct table *b)
{
	size_t i = 0;
	size_t j = 0;

	while (i < a->n && j < b->n) {
		const struct run x = joined(a, &i);
		const struct run y = joined(b, &j);

		if (x.from != y.from || x.to != y.to || x.len != y.len) {
			return false;
		}
	}
	return i == a->n && j == b->n;
}

bool ctm_idmap_eq(const struct ctm_idmap *a, const struct ctm_idmap *b)
{
	return same(&a->side[CTM_UID].by_ct, &b->side[CTM_UID].by_ct) &&
	       same(&a->side[CTM_GID].by_ct, &b->side[CTM_GID].by_ct);
}
