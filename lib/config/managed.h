/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What else on a Proxmox VE cluster has its hands on a container: the HA manager may start it at
 * any time (ha/resources.cfg, "ct: 115"), a replication job copies its volumes (replication.cfg,
 * "local: 115-0").
 */
#ifndef CTM_CONFIG_MANAGED_H
#define CTM_CONFIG_MANAGED_H

#include <stdbool.h>

#include "base/bytes.h"

/**
 * Whether ha/resources.cfg has the container and its state is not "ignored", where the HA manager
 * keeps its hands off (ha-manager(1)).
 */
bool ctm_managed_ha(struct ctm_bytes text, unsigned int vmid);
/** Whether replication.cfg has a job of the guest that is not disabled. */
bool ctm_managed_replicated(struct ctm_bytes text, unsigned int vmid);

#endif
