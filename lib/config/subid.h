/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/subuid and /etc/subgid: which ids of the host root may use in a map (subuid(5)).
 *
 * newuidmap(1) and newgidmap(1) look there before they set a map, also for root, and LXC uses them
 * wherever they are installed.
 */
#ifndef CTM_CONFIG_SUBID_H
#define CTM_CONFIG_SUBID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/**
 * Whether the lines of root ("root:100000:65536", or with "0" for the name) together hold every id
 * from first to first + count - 1. Lines that cannot be read are skipped, as shadow's own tools do.
 */
bool ctm_subid_grants(struct ctm_bytes text, uint32_t first, uint32_t count);

/**
 * The same for the lines of a user: name (NULL: none is known) or uid. *ret_missing is the first id
 * that they do not hold; it is set on false alone.
 */
bool ctm_subid_grants_to(struct ctm_bytes text, const char *name, uint32_t uid, uint32_t first,
			 uint32_t count, uint32_t *ret_missing);

/**
 * Calls fn for the range of each line, whoever's it is, that is not empty and lies below
 * 4294967295; skips other lines. Stops when fn returns other than 0, and returns that.
 */
int ctm_subid_each(struct ctm_bytes text, int (*fn)(uint32_t first, uint32_t count, void *arg),
		   void *arg);

#endif
