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

#endif
