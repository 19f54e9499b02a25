/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directories above a root file system: may the container's root pass through them?
 *
 * LXC goes to the root file system after it has become the container's root. Of a plain container
 * in a directory that is the path of the configuration. Proxmox VE mounts every volume at
 * /var/lib/lxc/ID/rootfs as the host's root first, so there it is the way to that place, and a
 * closed directory of the storage is in nobody's way.
 */
#ifndef CTM_TARGET_WAY_H
#define CTM_TARGET_WAY_H

#include "base/err.h"
#include "base/vec.h"
#include "target/target.h"

struct ctm_way_dir {
	char *path; /* links resolved; owned */
	uint32_t mode;
	ctm_did uid;
	ctm_did gid;
};

struct ctm_way {
	CTM_VEC(struct ctm_way_dir) v; /* from the top downwards */
};
void ctm_way_done(struct ctm_way *way);

/**
 * The directories that the container's root cannot search: by mode, by ACL, and not by a capability
 * either, which holds only where owner and group are mapped. Under a sysroot only directories
 * below it count. Empty for a path target, a raw volume of a plain container, and where the way
 * does not exist. Errors: CTM_SYS; CTM_REFUSED when its storage does not answer.
 */
int ctm_way_closed(const struct ctm_host *host, const struct ctm_target *target,
		   const struct ctm_volume *vol, struct ctm_way *ret, struct ctm_err *err);

#endif
