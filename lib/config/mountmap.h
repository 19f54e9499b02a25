/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The property idmap= of a volume: which disk id a container id has there.
 *
 * Proxmox VE (pve-container from 6.1.6) mounts such a volume through an idmapped mount when the
 * container starts, so the disk holds other ids than the container's map says. A container id
 * that an entry holds lives at the entry's disk id, every other one where the container's map
 * puts it; "passthrough" means that the disk holds container ids (LXC.pm
 * resolve_mountpoint_idmap).
 */
#ifndef CTM_CONFIG_MOUNTMAP_H
#define CTM_CONFIG_MOUNTMAP_H

#include "base/err.h"
#include "id/idmap.h"

/**
 * option: "passthrough" or "u:123:456:1;g:100:50:5", entries as type:container:disk:length;
 * NULL for a volume without the property, which has a copy of the container's map. What reaches
 * beyond the container's map is cut off, as PVE does. CTM_REFUSED when it is neither, when
 * entries overlap, or when two container ids would share a disk id.
 */
int ctm_mountmap(const struct ctm_idmap *container, const char *option, struct ctm_idmap **ret,
		 struct ctm_err *err);

#endif
