/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable array of any type, with overflow checks.
 *
 *	CTM_VEC(struct ctm_action) actions = { 0 };
 *	r = ctm_vec_push(&actions, &one);       copies one element, -ENOMEM
 *	for (size_t i = 0; i < actions.n; i++) { use(&actions.v[i]); }
 *	ctm_vec_done(&actions);
 */
#ifndef CTM_BASE_VEC_H
#define CTM_BASE_VEC_H

#include <stddef.h>

#define CTM_VEC(type)     \
	struct {          \
		type *v;  \
		size_t n; \
		size_t cap; \
	}

int ctm_vec_grow_(void **v, size_t *cap, size_t n, size_t size);

#define ctm_vec_push(vec, elem)                                                                      \
	({                                                                                           \
		int r_ = ctm_vec_grow_((void **)&(vec)->v, &(vec)->cap, (vec)->n, sizeof(*(vec)->v)); \
		if (r_ == 0) {                                                                       \
			(vec)->v[(vec)->n++] = *(elem);                                              \
		}                                                                                    \
		r_;                                                                                  \
	})

#define ctm_vec_done(vec)          \
	do {                       \
		free((vec)->v);    \
		(vec)->v = NULL;   \
		(vec)->n = 0;      \
		(vec)->cap = 0;    \
	} while (0)

#endif
