/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * File systems whose bytes come from this machine's kernel alone.
 *
 * Behind FUSE, NFS, CIFS, 9p and their like stands a server, perhaps another user's, that may
 * change a file under the process that maps it. What such a process keeps there must not be
 * pointers.
 */
#ifndef CTM_BASE_LOCALFS_H
#define CTM_BASE_LOCALFS_H

#include <stdbool.h>

/**
 * Whether the open file or directory is on one of the kinds that are known to be the kernel's
 * alone: ext2/3/4, xfs, btrfs, zfs, f2fs, bcachefs, jfs, reiserfs, tmpfs, ramfs. All others,
 * overlayfs too (whose layers may be of any kind): no.
 */
bool ctm_localfs(int fd);

#endif
