/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Read-only btrfs subvolumes: entries that make one writable and read-only again.
 */
#ifndef CTM_RUN_APPLY_SUBVOL_H
#define CTM_RUN_APPLY_SUBVOL_H

#include "run/apply_inode.h"

/**
 * The entry that makes this subvolume of a plan writable; ref of the other one is the same. The
 * arena is not needed for it. CTM_DID_NOTHING: it is writable already, so it is somebody else's
 * affair.
 */
struct ctm_step ctm_confirm_subvol(const struct ctm_ops *ops, void *fs,
				   const struct ctm_plan_subvol *subvol, struct ctm_entry *ret);

/** A WRITABLE or READONLY entry. One that cannot be made read-only again is half done. */
struct ctm_step ctm_apply_subvol(const struct ctm_ops *ops, void *fs,
				 const struct ctm_entry *entry);

#endif
