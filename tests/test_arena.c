/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arenas: alignment, no overlap, content that stays, accounting. */
#include "base/arena.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "prng.h"

/*
 * Pieces of every size, beyond those that get a block of their own, keep what was written into
 * them.
 */
Test(arena, pieces_are_aligned_and_apart)
{
	enum { N = 2000 };
	static struct {
		unsigned char *p;
		size_t len;
	} piece[N];
	struct ctm_arena arena = { 0 };
	uint64_t state = PRNG_SEED;
	size_t sum = 0;

	for (size_t n = 0; n < N; n++) {
		size_t len = n % 100 == 99 ? prng_below(&state, 100000) : prng_below(&state, 200);

		piece[n].p = ctm_arena_alloc(&arena, len);
		piece[n].len = len;
		cr_assert_not_null(piece[n].p);
		cr_assert_eq((uintptr_t)piece[n].p % _Alignof(max_align_t), 0, "piece %zu", n);
		memset(piece[n].p, (int)(n % 251), len);
		sum += len;
	}
	for (size_t n = 0; n < N; n++) {
		for (size_t at = 0; at < piece[n].len; at++) {
			cr_assert_eq(piece[n].p[at], n % 251, "piece %zu, byte %zu", n, at);
		}
	}
	cr_assert_geq(arena.used, sum);
	cr_assert_leq(arena.used, sum + N * _Alignof(max_align_t));
	ctm_arena_done(&arena);
	cr_assert(!arena.top && arena.used == 0);
	ctm_arena_done(&arena);
}

Test(arena, nothing_is_still_something)
{
	struct ctm_arena arena = { 0 };
	const char *a = ctm_arena_alloc(&arena, 0);
	const char *b = ctm_arena_alloc(&arena, 0);

	cr_assert(a && b && a != b);
	ctm_arena_done(&arena);
}

/* A big piece must not make the space left in the block before it useless. */
Test(arena, big_pieces_leave_the_block_in_use)
{
	struct ctm_arena arena = { 0 };
	const char *a = ctm_arena_dup(&arena, "a", 1);
	const char *big = ctm_arena_alloc(&arena, 1000000);
	const char *b = ctm_arena_dup(&arena, "b", 1);

	cr_assert(a && big && b);
	cr_assert_eq(b - a, 2, "strings lie side by side, not %td apart", b - a);
	ctm_arena_done(&arena);
}

Test(arena, dup)
{
	struct ctm_arena arena = { 0 };
	const char *copy = ctm_arena_dup(&arena, "a\0bc", 3);

	cr_assert_eq(memcmp(copy, "a\0b", 4), 0, "three bytes and a NUL");
	copy = ctm_arena_dup(&arena, NULL, 0);
	cr_assert_str_eq(copy, "");
	cr_assert_null(ctm_arena_dup(&arena, "", SIZE_MAX));
	cr_assert_null(ctm_arena_alloc(&arena, SIZE_MAX));
	ctm_arena_done(&arena);
}

Test(arena, bytes_keep_absent_and_empty_apart)
{
	struct ctm_arena arena = { 0 };
	struct ctm_bytes got = { "untouched", 9 };

	cr_assert_eq(ctm_arena_bytes(&arena, (struct ctm_bytes){ NULL, 0 }, &got), 0);
	cr_assert(!got.p && got.len == 0);
	cr_assert_eq(ctm_arena_bytes(&arena, (struct ctm_bytes){ "", 0 }, &got), 0);
	cr_assert(got.p && got.len == 0);
	cr_assert_eq(ctm_arena_bytes(&arena, (struct ctm_bytes){ "x\0y", 3 }, &got), 0);
	cr_assert_eq(got.len, 3);
	cr_assert_eq(memcmp(got.p, "x\0y", 3), 0);
	ctm_arena_done(&arena);
	got = (struct ctm_bytes){ "untouched", 9 };
	cr_assert_eq(ctm_arena_bytes(&arena, (struct ctm_bytes){ "", SIZE_MAX }, &got), -ENOMEM);
	cr_assert_eq(got.len, 9, "written although it failed");
}
