/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * qsort(3) for arrays that may lie in files.
 *
 * qsort() of glibc 2.36 takes memory for a second array or, where it gets none, jumps about in the
 * one that it has. Here runs of a few megabytes are sorted by it and then merged, so that all is
 * read and written from front to back.
 */
#ifndef CTM_BASE_SORT_H
#define CTM_BASE_SORT_H

#include <stddef.h>

#include "base/spill.h"

/**
 * The order of equal elements is not defined. The array need not lie in the spill; what is needed
 * besides comes out of it. -ENOMEM: the array has the same elements in some order.
 */
int ctm_sort(struct ctm_spill *spill, void *array, size_t n, size_t size,
	     int (*cmp)(const void *a, const void *b));

#endif
