/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting in runs gives what qsort() gives. */
#include "base/sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "prng.h"
#include "scratch.h"

#define MIB ((size_t)1 << 20)

struct item {
	uint64_t key;
	unsigned char rest[32];
};

static int by_key(const void *pa, const void *pb)
{
	const struct item *a = pa;
	const struct item *b = pb;

	return (a->key > b->key) - (a->key < b->key);
}

/* 4 MiB are a run: 104857 items. */
static const struct {
	const char *name;
	size_t n;
	uint64_t step; /* between keys; 0: random */
	bool down;
} rows[] = {
	{ "nothing", 0, 1, false },
	{ "one", 1, 1, false },
	{ "a full run", 104857, 0, false },
	{ "one more than a run", 104858, 0, false },
	{ "many runs", 1000003, 0, false },
	{ "in order", 400000, 1, false },
	{ "the other way round", 400000, 1, true },
};

CASES(sort, as_qsort, rows)
{
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	size_t n = rows[*i].n;
	CLEANUP_FREE struct item *want = calloc(n + 1, sizeof(*want));
	uint64_t state = PRNG_SEED;
	struct item *got;

	cr_assert_eq(ctm_spill_new(dir.path, MIB, &spill), 0);
	got = ctm_spill_zeros(spill, n + 1, sizeof(*got));
	cr_assert(got && want);
	for (size_t k = 0; k < n; k++) {
		uint64_t at = rows[*i].down ? n - k : k;

		/* no key twice: the low bits are the place */
		want[k].key = rows[*i].step ? at * rows[*i].step : (uint64_t)prng(&state) << 20 | k;
		memset(want[k].rest, (int)(want[k].key % 251), sizeof(want[k].rest));
		got[k] = want[k];
	}
	cr_assert_eq(ctm_sort(spill, got, n, sizeof(*got), by_key), 0);
	if (n > 0) {
		qsort(want, n, sizeof(*want), by_key);
	}
	for (size_t k = 0; k < n; k++) {
		cr_assert_eq(memcmp(&got[k], &want[k], sizeof(*got)), 0, "%s: element %zu",
			     rows[*i].name, k);
	}
	ctm_spill_drop(spill, got, (n + 1) * sizeof(*got));
	cr_expect_eq(ctm_spill_filed(spill), 0, "%s", rows[*i].name);
}

/* Without room for the merge nothing is lost. */
Test(sort, no_room)
{
	enum { N = 300000 };
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	CLEANUP_FREE struct item *v = calloc(N, sizeof(*v));
	uint64_t sum = 0;

	cr_assert(v && ctm_spill_new(NULL, MIB, &spill) == 0);
	for (uint64_t k = 0; k < N; k++) {
		v[k].key = N - k;
	}
	cr_expect_eq(ctm_sort(spill, v, N, sizeof(*v), by_key), -ENOMEM);
	for (size_t k = 0; k < N; k++) {
		sum += v[k].key;
	}
	cr_expect_eq(sum, (uint64_t)N * (N + 1) / 2);
}
