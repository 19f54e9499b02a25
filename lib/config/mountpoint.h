/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of rootfs and mpN in a Proxmox VE container's configuration.
 *
 * Source: pve-container 6.1 src/PVE/LXC/Config.pm ($rootfs_desc, $mp_desc). PVE leaves a volume
 * whose value it cannot read out without a word; here such a value is an error, because it may
 * come from a version that knows more.
 */
#ifndef CTM_CONFIG_MOUNTPOINT_H
#define CTM_CONFIG_MOUNTPOINT_H

#include <stdbool.h>

#include "base/err.h"
#include "config/propstr.h"

enum ctm_mount_class {
	CTM_MOUNT_VOLUME, /* storage:name */
	CTM_MOUNT_DEVICE, /* /dev/...: the host's */
	CTM_MOUNT_BIND,   /* another path: the host's */
};

/** Zero-initialise; strings are owned by props. */
struct ctm_mountpoint {
	struct ctm_propstr props;
	enum ctm_mount_class class;
	const char *volume;
	const char *mp;    /* "/" for rootfs */
	const char *idmap; /* NULL when there is none */
	bool ro;
};

/** CTM_REFUSED when the value is not to be understood whole. ctm_mountpoint_done() in any case. */
int ctm_mountpoint_parse(bool rootfs, const char *value, struct ctm_mountpoint *ret,
			 struct ctm_err *err);
void ctm_mountpoint_done(struct ctm_mountpoint *mp);

#endif
