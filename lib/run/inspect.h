/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inspect: what only the file system knows of the files a plan would remove, asked before the plan
 * is shown.
 */
#ifndef CTM_RUN_INSPECT_H
#define CTM_RUN_INSPECT_H

#include <stdint.h>

#include "base/err.h"
#include "plan/plan.h"
#include "run/ops.h"

/**
 * For every removal of a finished plan: is it still that regular file, does a process hold a lock
 * on it (then plan->refuse_held and a finding pkg.held), its size and SHA-256, does it fit the
 * budget (bytes; else its owner is repaired: pkg.large). What has changed or cannot be read is no
 * removal any more. Lock files with a right owner are asked for holders too.
 */
int ctm_inspect(const struct ctm_ops *ops, void *fs, struct ctm_plan *plan, uint64_t budget,
		struct ctm_err *err);

#endif
