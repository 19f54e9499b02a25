/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sorting very many paths into the order of ctm_path_cmp().
 */
#ifndef CTM_PLAN_ORDER_H
#define CTM_PLAN_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/spill.h"

struct ctm_order {
	const char *path;
	size_t len;
	size_t ref; /* the caller's */
	/* scratch; sorted, 1 where the path is that of the element before, else 0 */
	uint64_t key;
};

/** Sorts by path; equal paths by ref. The spill is for what that needs besides. -ENOMEM. */
int ctm_order_paths(struct ctm_spill *spill, struct ctm_order *v, size_t n);

#endif
