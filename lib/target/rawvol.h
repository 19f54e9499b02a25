/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A raw volume: an image file or a block device, opened once and named by what was opened.
 */
#ifndef CTM_TARGET_RAWVOL_H
#define CTM_TARGET_RAWVOL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "target/target.h"

struct ctm_rawvol {
	int fd;
	bool block;
	dev_t dev;  /* block: the device itself; image: st_dev of the file */
	ino_t ino;  /* image: the file's inode */
	char *node; /* with links resolved ("/dev/dm-3") */
	char *path; /* the name that stays: a block device's as given, dm numbers change */
};

/**
 * Looks at the type before it opens; an image keeps its atime. writable counts for images alone.
 * CTM_REFUSED: nothing there, or not what vol->kind says.
 */
int ctm_rawvol_open(const struct ctm_volume *vol, bool writable, struct ctm_rawvol *ret,
		    struct ctm_err *err);
void ctm_rawvol_done(struct ctm_rawvol *raw);

/**
 * Whether the kernel gives the block device to us alone: opens it with O_EXCL and lets go again.
 * 0, -EBUSY when something has it (a mount in any namespace, device mapper, swap).
 */
int ctm_rawvol_exclusive(const struct ctm_rawvol *raw);

/**
 * Whether a file system on the block device is mounted, in any namespace or none, as far as its
 * driver has a folder for it in /sys/fs (ext2 to ext4, xfs, btrfs, f2fs). Nothing is opened: unlike
 * an exclusive open it is in nobody's way. 1, 0, -errno.
 */
int ctm_rawvol_mounted(const struct ctm_rawvol *raw);

#endif
