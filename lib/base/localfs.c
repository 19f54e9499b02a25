/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of file systems, by the number that statfs(2) gives. */
#include "base/localfs.h"

#include <linux/magic.h>
#include <stddef.h>
#include <sys/statfs.h>

#include "base/cleanup.h"

/* Not in linux/magic.h. */
#define XFS_MAGIC      0x58465342
#define ZFS_MAGIC      0x2fc12fc1
#define BCACHEFS_MAGIC 0xca451a4e
#define JFS_MAGIC      0x3153464a

bool ctm_localfs(int fd)
{
	static const unsigned int known[] = {
		EXT4_SUPER_MAGIC, XFS_MAGIC, BTRFS_SUPER_MAGIC,    ZFS_MAGIC,   F2FS_SUPER_MAGIC,
		BCACHEFS_MAGIC,   JFS_MAGIC, REISERFS_SUPER_MAGIC, TMPFS_MAGIC, RAMFS_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if ((unsigned int)fs.f_type == known[i]) {
			return true;
		}
	}
	return false;
}
