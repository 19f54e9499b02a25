/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An action of a plan, looked at again through our own descriptors, becomes an entry of a record.
 *
 * The plan's facts come from a process that read a hostile tree. Nothing of them is believed but
 * where to look and what was shown to the user: state, handle and times are read here.
 */
#ifndef CTM_RUN_CONFIRM_H
#define CTM_RUN_CONFIRM_H

#include "plan/plan.h"
#include "run/apply_inode.h"

/**
 * CTM_DID_CHANGE: the inode is as the plan saw it, *ret is filled (values in the arena, the path
 * is the action's). CTM_DID_NOTHING: it is already as it should be. Else it is left, and why.
 */
struct ctm_step ctm_confirm(const struct ctm_ops *ops, void *fs, const struct ctm_action *action,
			    struct ctm_arena *arena, struct ctm_entry *ret);

#endif
