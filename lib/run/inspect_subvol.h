/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which actions of a plan lie in read-only btrfs subvolumes.
 */
#ifndef CTM_RUN_INSPECT_SUBVOL_H
#define CTM_RUN_INSPECT_SUBVOL_H

#include "plan/plan.h"
#include "run/ops.h"

/**
 * Looks at every device that actions are on, once: is it a subvolume that is read-only? Then
 * ctm_plan_readonly(). What cannot be asked counts as writable; the change will tell. -ENOMEM.
 */
int ctm_inspect_subvols(const struct ctm_ops *ops, void *fs, struct ctm_plan *plan);

#endif
