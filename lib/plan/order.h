/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sorting very many paths into the order of ctm_path_cmp().
 */
#ifndef CTM_PLAN_ORDER_H
#define CTM_PLAN_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct ctm_order {
	const char *path;
	size_t len;
	size_t ref;   /* the caller's */
	uint64_t key; /* scratch */
};

/** Sorts by path; equal paths by ref. -ENOMEM. */
int ctm_order_paths(struct ctm_order *v, size_t n);

/**
 * Moves the elements of an array so that element i is what was element from[i]. from is a
 * permutation of 0 .. n - 1 and is used up. tmp has room for one element.
 */
void ctm_order_apply(void *array, size_t n, size_t size, size_t *from, void *tmp);

#endif
