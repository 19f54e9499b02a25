/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a repair does only when it is asked by name: the words of --fix.
 */
#ifndef CTM_PLAN_FIX_H
#define CTM_PLAN_FIX_H

#include <stddef.h>

/** Bits of a set. */
enum ctm_fix {
	CTM_FIX_BASE = 1u << 0,     /* ids on another base (own.base) */
	CTM_FIX_BITS = 1u << 1,     /* lost set-id bits, where a record proves them (bits.lost) */
	CTM_FIX_FLAGS = 1u << 2,    /* immutable and append-only inodes (attr.flag) */
	CTM_FIX_HOLE = 1u << 3,     /* ids of another map of this container (own.hole) */
	CTM_FIX_LINK = 1u << 4,     /* inodes with names outside the volume (link.outside) */
	CTM_FIX_OVERFLOW = 1u << 5, /* disk id 65534 (own.overflow) */
	CTM_FIX_ROSUBVOL = 1u << 6, /* read-only btrfs subvolumes (attr.rosubvol) */
	CTM_FIX_TWICE = 1u << 7,    /* ids that were shifted more than once (own.twice) */
	CTM_FIX_DEVICE = 1u << 8,   /* nodes of devices of the host (own.device) */
};

/**
 * Reads names apart by commas into a set; a name may come twice. -EINVAL: an empty or unknown name,
 * which *ret_bad then points to, ret_len bytes long (in text).
 */
int ctm_fix_parse(const char *text, unsigned int *ret, const char **ret_bad, size_t *ret_len);

/** All names, apart by commas; static. */
const char *ctm_fix_names(void);

#endif
