/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What makes a volume this volume: recorded by a repair, demanded by undo and resume.
 */
#ifndef CTM_TARGET_IDENTITY_H
#define CTM_TARGET_IDENTITY_H

#include <stdint.h>
#include <time.h>

#include "base/bytes.h"
#include "base/err.h"

struct ctm_identity {
	char volume_id[1024];   /* storage:volume, or the path */
	char path[4096];        /* resolved */
	char fstype[32];        /* "ext4" */
	char uuid[64];          /* file system UUID; "" when there is none to be had */
	char subvol[256];       /* btrfs subvolume UUID, zfs dataset name; "" otherwise */
	int64_t root_btime_sec; /* birth time of the root inode, 0 when unknown */
	uint32_t root_btime_nsec;
	uint64_t root_ino;
};

/** Stable text of one line per field, for the plan's digest and the record's header. -ENOMEM. */
int ctm_identity_format(const struct ctm_identity *id, struct ctm_buf *out);
/** Takes exactly what ctm_identity_format() writes: -EBADMSG for all else, -ENOMEM. */
int ctm_identity_parse(struct ctm_bytes text, struct ctm_identity *ret);
/** 0, or CTM_REFUSED that names the first field which differs. */
int ctm_identity_match(const struct ctm_identity *recorded, const struct ctm_identity *now,
		       struct ctm_err *err);

#endif
