/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The growing half of the array macros.
 */
#include "base/vec.h"

#include <stdint.h>

#define CAP_MIN 8

void *ctm_vec_grow_(void *v, size_t *cap, size_t n, size_t size)
{
	size_t want;
	size_t bytes;
	void *p;

	if (n < *cap) {
		return v;
	}
	if (__builtin_mul_overflow(*cap, 2, &want)) {
		return NULL;
	}
	if (want < CAP_MIN) {
		want = CAP_MIN;
	}
	if (__builtin_mul_overflow(want, size, &bytes)) {
		return NULL;
	}
	p = realloc(v, bytes);
	if (p) {
		*cap = want;
	}
	return p;
}
