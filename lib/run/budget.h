/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of the state directory's file system removed files may take.
 */
#ifndef CTM_RUN_BUDGET_H
#define CTM_RUN_BUDGET_H

#include <stdint.h>

#include "base/err.h"
#include "run/state.h"
#include "target/host.h"

#define CTM_BUDGET_RUN    (UINT64_C(256) << 20) /* bytes of one run */
#define CTM_BUDGET_TARGET (UINT64_C(1) << 30)   /* of all records of a target */

/**
 * What one more run may take, where that much is free and its target's records have saved that
 * much: CTM_BUDGET_RUN, a tenth of what is free, or what is left of CTM_BUDGET_TARGET, or of a
 * tenth of what would be free without them; the least of these. All in bytes.
 */
uint64_t ctm_budget_of(uint64_t free, uint64_t saved);

/**
 * That of the file system where /var/lib/ctmend is or would be made, so that a diff counts as the
 * repair will. state: the target's records, NULL: there are none. What cannot be read of them
 * counts as nothing.
 */
int ctm_budget(const struct ctm_host *host, struct ctm_state *state, uint64_t *ret,
	       struct ctm_err *err);

/** Bytes on the disk of all files that the target's records have saved, also of those set aside. */
uint64_t ctm_budget_saved(struct ctm_state *state);

#endif
