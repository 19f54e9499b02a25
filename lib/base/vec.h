/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable array of any type, with overflow checks.
 *
 *	CTM_VEC(struct ctm_action) actions = { 0 };
 *	r = ctm_vec_push(&actions, &one);       copies one element, -ENOMEM
 *	for (size_t i = 0; i < actions.n; i++) { use(&actions.v[i]); }
 *	ctm_vec_done(&actions);
 *
 * A push may move the array: no pointer into it survives one, but the element that is pushed may
 * itself be part of it. A failed push leaves the array as it was.
 */
#ifndef CTM_BASE_VEC_H
#define CTM_BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define CTM_VEC(type)       \
	struct {            \
		type *v;    \
		size_t n;   \
		size_t cap; \
	}

/* The array with room for one more than n elements, or NULL; *cap says how many it can hold. */
void *ctm_vec_grow_(void *v, size_t *cap, size_t n, size_t size);

#define ctm_vec_push(vec, elem)                                                                    \
	({                                                                                         \
		__typeof__(*(vec)->v) e_ = *(elem);                                                \
		void *v_ = ctm_vec_grow_((vec)->v, &(vec)->cap, (vec)->n, sizeof(__typeof__(e_))); \
		if (v_) {                                                                          \
			(vec)->v = v_;                                                             \
			(vec)->v[(vec)->n++] = e_;                                                 \
		}                                                                                  \
		v_ ? 0 : -ENOMEM;                                                                  \
	})

#define ctm_vec_done(vec)        \
	do {                     \
		free((vec)->v);  \
		(vec)->v = NULL; \
		(vec)->n = 0;    \
		(vec)->cap = 0;  \
	} while (0)

#endif
