/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags of inodes (ioctl_iflags(2)). */
#include "target/rootfd_flags.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

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
