/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a file system was left, read from its superblock without mounting it.
 *
 * Layouts: ext4 in Documentation/filesystems/ext4 of the kernel (super.rst, mmp.rst), btrfs in its
 * btrfs_super_block. A dirty log of xfs cannot be told from its superblock.
 */
#ifndef CTM_TARGET_SBSTATE_H
#define CTM_TARGET_SBSTATE_H

#include <stdbool.h>

#include "base/err.h"

enum ctm_mmp {
	CTM_MMP_NONE,    /* the file system has no multi-mount protection */
	CTM_MMP_CLEAN,   /* unmounted in order: mounts at once */
	CTM_MMP_UNCLEAN, /* the last user vanished or is there: a read-write mount waits */
	CTM_MMP_FSCK,    /* e2fsck works on it or was killed: a read-write mount fails */
};

struct ctm_sbstate {
	bool dirty;  /* a journal or log tree is to be replayed, or orphans are to be deleted */
	bool errors; /* ext: the kernel noted errors, a check of the file system is due */
	enum ctm_mmp mmp;      /* ext4 */
	unsigned int mmp_wait; /* seconds that a read-write mount waits when UNCLEAN */
};

/**
 * fd: readable. type: as ctm_fsprobe() says. All false for types it does not know. -EIO, -EUCLEAN
 * ...
 */
int ctm_sbstate_read(int fd, const char *type, struct ctm_sbstate *ret);

#endif
