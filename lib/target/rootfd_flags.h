/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flags that only ioctl(2) can change, through the door of target/rootfd.h.
 */
#ifndef CTM_TARGET_ROOTFD_FLAGS_H
#define CTM_TARGET_ROOTFD_FLAGS_H

#include <stdint.h>

/**
 * Makes the immutable and the append-only flag of the inode behind an O_PATH descriptor as in attr
 * (CTM_ATTR_*); all its other flags stay. -EMEDIUMTYPE: neither a regular file nor a directory, the
 * only ones that can be opened for this without a side effect, and the only ones that chattr(1) sets
 * flags on. -ENOTTY: the file system has no flags. -EPERM: no CAP_LINUX_IMMUTABLE.
 */
int ctm_rootfd_set_attr(int fd, uint32_t attr);

#endif
