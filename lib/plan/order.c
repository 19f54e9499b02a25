/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths of one tree share long prefixes, so comparing them pair by pair reads the same bytes again
 * and again. Instead: sort by eight bytes at a time, as one number, and go on behind them only in
 * runs that are still equal. What all paths of a run share is passed over at once, however long it
 * is: a run costs no more when it lies deep. Every byte of a path is read once or twice.
 */
#include "plan/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"

#define KEY_LEN 8U

/* The order of ctm_path_cmp() as that of numbers: end, '/', then all other bytes (never 0). */
static uint64_t rank_of_byte(unsigned char c)
{
	if (c == '/') {
		return 1;
	}
	return c < '/' ? (uint64_t)c + 1 : c;
}

static uint64_t key_at(const struct ctm_order *o, size_t depth)
{
	uint64_t key = 0;

	for (size_t i = depth; i < depth + KEY_LEN; i++) {
		key = key << 8 | (i < o->len ? rank_of_byte((unsigned char)o->path[i]) : 0);
	}
	return key;
}

static int by_key(const void *pa, const void *pb)
{
	const struct ctm_order *a = pa;
	const struct ctm_order *b = pb;

	if (a->key != b->key) {
		return a->key < b->key ? -1 : 1;
	}
	return (a->ref > b->ref) - (a->ref < b->ref);
}

/* Whether the paths go on behind this key. One that ends inside it has a zero at its end. */
static bool goes_on(uint64_t key)
{
	return (key & 0xff) != 0;
}

/* How far both are the same, from depth on. */
static size_t same_until(const struct ctm_order *a, const struct ctm_order *b, size_t depth)
{
	const size_t end = a->len < b->len ? a->len : b->len;

	while (depth < end && a->path[depth] == b->path[depth]) {
		depth++;
	}
	return depth;
}

/* The first depth, by whole keys from this one on, at which the paths of the run may differ. */
static size_t pass_over(struct ctm_spill *spill, const struct ctm_order *v, size_t n, size_t depth)
{
	size_t end = v[0].len;

	for (size_t i = 1; i < n && end >= depth + KEY_LEN; i++) {
		const size_t same = same_until(&v[0], &v[i], depth);

		end = same < end ? same : end;
		ctm_spill_pass(spill);
	}
	return end > depth ? depth + (end - depth) / KEY_LEN * KEY_LEN : depth;
}

/* Sorts one run by the bytes at depth. */
static int sort_run(struct ctm_spill *spill, struct ctm_order *v, size_t n, size_t depth)
{
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		v[i].key = key_at(&v[i], depth);
		if (i > 0 && (v[i - 1].key != v[i].key || !goes_on(v[i].key))) {
			sorted = sorted && by_key(&v[i - 1], &v[i]) < 0;
		}
		ctm_spill_pass(spill);
	}
	return sorted ? 0 : ctm_sort(spill, v, n, sizeof(*v), by_key);
}

/* The end of the run of equal keys that starts at i. */
static size_t run_end(struct ctm_spill *spill, const struct ctm_order *v, size_t i, size_t n)
{
	size_t end = i + 1;

	while (end < n && v[end].key == v[i].key) {
		end++;
		ctm_spill_pass(spill);
	}
	return end;
}

static size_t longest(struct ctm_spill *spill, const struct ctm_order *v, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		len = v[i].len > len ? v[i].len : len;
		ctm_spill_pass(spill);
	}
	return len;
}

struct run {
	size_t end;
	size_t depth;
};

int ctm_order_paths(struct ctm_spill *spill, struct ctm_order *v, size_t n)
{
	/* Runs lie within each other: where the enclosing ones end, and the depth of their keys. */
	CLEANUP_FREE struct run *runs = calloc(longest(spill, v, n) / KEY_LEN + 2, sizeof(*runs));
	size_t level = 0;
	size_t i = 0;
	int r;

	if (!runs) {
		return -ENOMEM;
	}
	r = sort_run(spill, v, n, 0);
	runs[0] = (struct run){ .end = n };
	while (r == 0) {
		size_t end;

		ctm_spill_pass(spill);

		if (i == runs[level].end) {
			if (level == 0) {
				return 0;
			}
			level--; /* the keys behind i are still those of this level */
			continue;
		}
		end = run_end(spill, v, i, runs[level].end);
		if (end - i > 1 && goes_on(v[i].key)) {
			const size_t depth = runs[level].depth + KEY_LEN;

			runs[++level] = (struct run){
				.end = end,
				.depth = pass_over(spill, v + i, end - i, depth),
			};
			r = sort_run(spill, v + i, end - i, runs[level].depth);
		} else {
			/* Nobody asks for the keys of what is done. */
			for (size_t first = i; i < end; i++) {
				v[i].key = i > first;
			}
		}
	}
	return r;
}
