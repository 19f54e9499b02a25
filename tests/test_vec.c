/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growable arrays: order, own elements, overflow. */
#include "base/vec.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>

struct pair {
	uint64_t a;
	uint32_t b;
};

Test(vec, keeps_order_while_it_grows)
{
	CTM_VEC(struct pair) vec = { 0 };

	for (uint32_t n = 0; n < 5000; n++) {
		const struct pair one = { .a = n, .b = ~n };

		cr_assert_eq(ctm_vec_push(&vec, &one), 0);
		cr_assert_eq(vec.n, n + 1);
		cr_assert_leq(vec.n, vec.cap);
	}
	for (uint32_t n = 0; n < 5000; n++) {
		cr_assert(vec.v[n].a == n && vec.v[n].b == ~n, "element %u", n);
	}
	ctm_vec_done(&vec);
	cr_assert(!vec.v && vec.n == 0 && vec.cap == 0);
	ctm_vec_done(&vec);
}

/* The move of a full array must not leave the pushed element behind. */
Test(vec, pushes_an_element_of_itself)
{
	CTM_VEC(int) vec = { 0 };
	int first = 42;

	cr_assert_eq(ctm_vec_push(&vec, &first), 0);
	for (int n = 0; n < 1000; n++) {
		cr_assert_eq(ctm_vec_push(&vec, &vec.v[vec.n - 1]), 0);
	}
	cr_assert_eq(vec.n, 1001);
	cr_assert_eq(vec.v[1000], 42);
	ctm_vec_done(&vec);
}

Test(vec, pointers)
{
	CTM_VEC(const char *) vec = { 0 };
	const char *words[] = { "a", "b" };

	cr_assert_eq(ctm_vec_push(&vec, &words[0]), 0);
	cr_assert_eq(ctm_vec_push(&vec, &words[1]), 0);
	cr_assert_str_eq(vec.v[1], "b");
	ctm_vec_done(&vec);
}

Test(vec, refuses_what_no_size_holds)
{
	size_t cap = SIZE_MAX / 2 + 1;

	cr_assert_null(ctm_vec_grow_(NULL, &cap, cap, 1), "the doubled count overflows");
	cr_assert_eq(cap, SIZE_MAX / 2 + 1);
	cap = SIZE_MAX / 16;
	cr_assert_null(ctm_vec_grow_(NULL, &cap, cap, 16), "the bytes overflow");
	cr_assert_eq(cap, SIZE_MAX / 16);
}
