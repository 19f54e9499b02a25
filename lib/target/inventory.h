/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every container of this host, by name.
 */
#ifndef CTM_TARGET_INVENTORY_H
#define CTM_TARGET_INVENTORY_H

#include "base/err.h"
#include "base/vec.h"
#include "target/host.h"

/** Zero-initialise. */
struct ctm_inventory {
	/*
	 * As ctm_target_locate() takes them: Proxmox VE's ids by number, then plain containers by
	 * name. Owned.
	 */
	CTM_VEC(char *) names;
	/* Why a part could not be listed; code CTM_OK: all is there. */
	struct ctm_err missing;
};
void ctm_inventory_done(struct ctm_inventory *inventory);

/**
 * The configurations in <etc/pve>/lxc, which are this node's, and the folders below LXC's path that
 * hold one. What cannot be read is no reason to leave the rest out: see .missing. A plain
 * container's name of digits alone is none on a Proxmox VE host, where these folders are
 * Proxmox VE's own. CTM_SYS: out of memory.
 */
int ctm_inventory_read(const struct ctm_host *host, struct ctm_inventory *ret, struct ctm_err *err);

#endif
