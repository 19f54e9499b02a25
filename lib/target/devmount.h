/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file system on a device through a mount of our own that hangs nowhere.
 *
 * fsopen(2) and fsmount(2) (Linux 5.2) hand out a mount as a descriptor. It has no mount point,
 * is in no mount namespace but its own, and ends with its last descriptor, however the process
 * ends.
 */
#ifndef CTM_TARGET_DEVMOUNT_H
#define CTM_TARGET_DEVMOUNT_H

#include <stdbool.h>

#include "base/err.h"

/**
 * device: its node. type: as ctm_fsprobe() says; CTM_REFUSED for one that is not in the table.
 * *ret: an O_PATH descriptor of the root, nosuid, nodev, noexec, noatime. Read-only: no journal
 * is replayed, and the device had better be one that the kernel holds read-only, because ext4
 * deletes orphans even so. Writable: -EBUSY as CTM_REFUSED when the file system is mounted
 * already (sharing it would hide that).
 */
int ctm_devmount(const char *device, const char *type, bool writable, int *ret,
		 struct ctm_err *err);
/**
 * The program that checks a file system of this type without changing it ("e2fsck -fn"), or NULL.
 */
const char *ctm_devmount_checker(const char *type);

#endif
