/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags of inodes (ioctl_iflags(2)), and of btrfs subvolumes. */
#include "target/rootfd_flags.h"

#include <errno.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "scan/fact.h"
#include "target/rootfd.h"

int ctm_rootfd_set_attr(int fd, uint32_t attr)
{
	CLEANUP_CLOSE int readable = -1;
	/* The interface is said to take a long; every file system of Linux reads an int. */
	unsigned int was;
	unsigned int flags;
	int r = ctm_rootfd_readable(fd, &readable);

	if (r < 0) {
		return r;
	}
	if (ioctl(readable, FS_IOC_GETFLAGS, &was) < 0) {
		return -errno;
	}
	flags = was & ~(unsigned int)(FS_IMMUTABLE_FL | FS_APPEND_FL);
	flags |= attr & CTM_ATTR_IMMUTABLE ? FS_IMMUTABLE_FL : 0;
	flags |= attr & CTM_ATTR_APPEND ? FS_APPEND_FL : 0;
	return flags != was && ioctl(readable, FS_IOC_SETFLAGS, &flags) < 0 ? -errno : 0;
}

/* The top directory of every subvolume has this number. */
static int open_top(int fd, int *ret)
{
	struct ctm_inode inode;
	int r = ctm_rootfd_stat(fd, &inode);

	if (r == 0 && (!S_ISDIR(inode.mode) || inode.ino != BTRFS_FIRST_FREE_OBJECTID)) {
		r = -ENOTTY;
	}
	return r < 0 ? r : ctm_rootfd_readable(fd, ret);
}

int ctm_rootfd_subvol(int fd, struct ctm_subvol *ret)
{
	static const unsigned char none[BTRFS_UUID_SIZE];
	struct btrfs_ioctl_get_subvol_info_args info;
	CLEANUP_CLOSE int readable = -1;
	int r = open_top(fd, &readable);

	if (r < 0) {
		return r;
	}
	memset(&info, 0, sizeof(info));
	if (ioctl(readable, BTRFS_IOC_GET_SUBVOL_INFO, &info) < 0) {
		return -errno;
	}
	*ret = (struct ctm_subvol){
		.readonly = (info.flags & BTRFS_ROOT_SUBVOL_RDONLY) != 0,
		.received = memcmp(info.received_uuid, none, sizeof(none)) != 0,
	};
	return 0;
}

int ctm_rootfd_set_subvol(int fd, bool readonly)
{
	CLEANUP_CLOSE int readable = -1;
	uint64_t flags;
	int r = open_top(fd, &readable);

	if (r < 0) {
		return r;
	}
	if (ioctl(readable, BTRFS_IOC_SUBVOL_GETFLAGS, &flags) < 0) {
		return -errno;
	}
	flags = readonly ? flags | BTRFS_SUBVOL_RDONLY : flags & ~BTRFS_SUBVOL_RDONLY;
	return ioctl(readable, BTRFS_IOC_SUBVOL_SETFLAGS, &flags) < 0 ? -errno : 0;
}
