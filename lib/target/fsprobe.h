/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What file system is on a device or in an image: by its superblock alone, never by a name.
 */
#ifndef CTM_TARGET_FSPROBE_H
#define CTM_TARGET_FSPROBE_H

#include "base/err.h"

struct ctm_fsprobe {
	char type[32]; /* "ext4", as libblkid says it */
	char uuid[64]; /* "" when it has none */
};

/**
 * fd: readable, a regular file or a block device. CTM_REFUSED when there is no file system, when
 * there are signatures of more than one (whoever mounts by the wrong one destroys the other), or
 * when it is something that is no file system (LVM, LUKS, a disk with partitions); name is for
 * the message.
 */
int ctm_fsprobe(int fd, const char *name, struct ctm_fsprobe *ret, struct ctm_err *err);

#endif
