/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flags that only ioctl(2) can change, through the door of target/rootfd.h.
 */
#ifndef CTM_TARGET_ROOTFD_FLAGS_H
#define CTM_TARGET_ROOTFD_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Makes the immutable and the append-only flag of the inode behind an O_PATH descriptor as in attr
 * (CTM_ATTR_*); all its other flags stay. -EMEDIUMTYPE: neither a regular file nor a directory, the
 * only ones that can be opened for this without a side effect, and the only ones that chattr(1)
 * sets flags on. -ENOTTY: the file system has no flags. -EPERM: no CAP_LINUX_IMMUTABLE.
 */
int ctm_rootfd_set_attr(int fd, uint32_t attr);

/** A btrfs subvolume (BTRFS_IOC_GET_SUBVOL_INFO, Linux 4.18). */
struct ctm_subvol {
	bool readonly; /* nothing in it can be changed: EROFS */
	/*
	 * It has a received_uuid: btrfs receive(8) made it, and takes it for unchanged when it
	 * applies the next increment.
	 */
	bool received;
};

/** Of the subvolume whose top directory this O_PATH descriptor is. -ENOTTY: it is none. */
int ctm_rootfd_subvol(int fd, struct ctm_subvol *ret);
/** Makes it read-only or writable. -EPERM: it is being sent (btrfs-send(8)). */
int ctm_rootfd_set_subvol(int fd, bool readonly);

#endif
