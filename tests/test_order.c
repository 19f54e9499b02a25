/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fast order of paths is that of ctm_path_cmp(). */
#include "plan/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "cases.h"
#include "prng.h"

static void check_order(const struct ctm_order *v, size_t n, const char *what)
{
	for (size_t i = 1; i < n; i++) {
		int cmp = ctm_path_cmp(v[i - 1].path, v[i - 1].len, v[i].path, v[i].len);

		cr_assert(cmp < 0 || (cmp == 0 && v[i - 1].ref < v[i].ref), "%s: %s, then %s", what,
			  v[i - 1].path, v[i].path);
		cr_assert_eq(v[i].key, cmp == 0, "%s: %s, then %s", what, v[i - 1].path, v[i].path);
	}
}

/* In order; the test turns them round. */
static const char *const ordered[] = {
	"",
	"a",
	"a/b",
	"a/b/c",
	"a\x01",
	"a\x01/z",
	"a b",
	"a-b",
	"a.b",
	"aa",
	"aaaaaaaa",
	"aaaaaaaa/b",
	"aaaaaaaa.b",
	"aaaaaaaaa",
	"usr",
	"usr/bin",
	"usr/bin/sudo",
	"usr/bin-old",
	"usr/share/doc/nano",
	"usr/share/doc/nano/x",
	"usr/share/doc/nano-tiny",
	"usr.d",
	"\x80",
	"\xff",
	"\xff/\xff",
	"\xff\xff",
};

Test(order, edges)
{
	struct ctm_order v[2 * ARRAY_LEN(ordered)];
	size_t n = ARRAY_LEN(ordered);

	for (size_t i = 0; i < 2 * n; i++) {
		const char *path = ordered[n - 1 - i % n];

		v[i] = (struct ctm_order){ .path = path, .len = strlen(path), .ref = i };
	}
	cr_assert_eq(ctm_order_paths(NULL, v, 2 * n), 0);
	check_order(v, 2 * n, "edges");
	for (size_t i = 0; i < 2 * n; i++) {
		cr_assert_str_eq(v[i].path, ordered[i / 2]);
	}
}

Test(order, none_and_one)
{
	struct ctm_order one = { .path = "x", .len = 1, .ref = 5 };

	cr_assert_eq(ctm_order_paths(NULL, &one, 0), 0);
	cr_assert_eq(ctm_order_paths(NULL, &one, 1), 0);
	cr_assert_eq(one.ref, 5);
}

/* Few letters, many slashes: long common prefixes and equal paths. */
Test(order, random_paths)
{
	static char store[400][40];
	uint64_t state = PRNG_SEED;

	for (int round = 0; round < 500; round++) {
		struct ctm_order v[400];
		size_t n = prng_below(&state, 400);

		for (size_t i = 0; i < n; i++) {
			size_t len = prng_below(&state, 40);

			for (size_t k = 0; k < len; k++) {
				store[i][k] = "/aab.\x01\xff"[prng_below(&state, 8) % 7];
			}
			v[i] = (struct ctm_order){ .path = store[i], .len = len, .ref = i };
		}
		cr_assert_eq(ctm_order_paths(NULL, v, n), 0);
		check_order(v, n, "random");
	}
}

/* A path of 10,000 components, and others that leave it at every depth. */
Test(order, deep)
{
	enum { DEPTH = 10000, N = 2000 };
	CLEANUP_FREE char *deep = malloc(2 * DEPTH);
	CLEANUP_FREE struct ctm_order *v = calloc(N, sizeof(*v));

	cr_assert(deep && v);
	for (size_t i = 0; i < DEPTH; i++) {
		memcpy(deep + 2 * i, "d/", 2);
	}
	for (size_t i = 0; i < N; i++) {
		v[i] = (struct ctm_order){ .path = deep, .len = 2 * DEPTH - 1 - 10 * i, .ref = i };
	}
	cr_assert_eq(ctm_order_paths(NULL, v, N), 0);
	for (size_t i = 0; i < N; i++) {
		cr_assert_eq(v[i].ref, N - 1 - i);
	}
}
