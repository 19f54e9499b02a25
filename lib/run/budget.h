/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of the state directory's file system removed files may take.
 */
#ifndef CTM_RUN_BUDGET_H
#define CTM_RUN_BUDGET_H

#include <stdint.h>

#include "base/err.h"
#include "target/host.h"

/**
 * Bytes: 256 MiB, or a tenth of what is free where /var/lib/ctmend is or would be made, if that
 * is less. Needs no state directory, so that a diff counts as the repair will.
 */
int ctm_budget(const struct ctm_host *host, uint64_t *ret, struct ctm_err *err);

#endif
