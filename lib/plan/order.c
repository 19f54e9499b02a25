/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths of one tree share long prefixes, so comparing them pair by pair reads the same bytes again
 * and again. Instead: sort by eight bytes at a time, as one number, and go on behind them only in
 * runs that are still equal. Every byte of a path is read once.
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

int ctm_order_paths(struct ctm_spill *spill, struct ctm_order *v, size_t n)
{
	/* Runs lie within each other, one for each depth: where the enclosing ones end. */
	CLEANUP_FREE size_t *ends = calloc(longest(spill, v, n) / KEY_LEN + 2, sizeof(*ends));
	size_t level = 0;
	size_t i = 0;
	int r;

	if (!ends) {
		return -ENOMEM;
	}
	r = sort_run(spill, v, n, 0);
	ends[0] = n;
	while (r == 0) {
		size_t end;

		ctm_spill_pass(spill);

		if (i == ends[level]) {
			if (level == 0) {
				return 0;
			}
			level--; /* the keys behind i are still those of this level */
			continue;
		}
		end = run_end(spill, v, i, ends[level]);
		if (end - i > 1 && goes_on(v[i].key)) {
			ends[++level] = end;
			r = sort_run(spill, v + i, end - i, level * KEY_LEN);
		} else {
			/* Nobody asks for the keys of what is done. */
			for (size_t first = i; i < end; i++) {
				v[i].key = i > first;
			}
		}
	}
	return r;
}
