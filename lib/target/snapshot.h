/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A snapshot of a whole container by Proxmox VE's pct(1): of all its volumes and its configuration,
 * on the storages that can.
 */
#ifndef CTM_TARGET_SNAPSHOT_H
#define CTM_TARGET_SNAPSHOT_H

#include "base/err.h"
#include "target/host.h"

/** Proxmox VE takes names of up to 40 letters, digits, "_" and "-", beginning with a letter. */
#define CTM_SNAPSHOT_NAME_MAX 41

/** CTM_REFUSED: <sysroot>/usr/sbin/pct is not there. */
int ctm_snapshot_possible(const struct ctm_host *host, struct ctm_err *err);

/**
 * Takes one and waits until it is there. *ret: its name, after the time
 * ("ctmend_20250131T235959Z"). The caller holds no lock of the container's: pct takes its
 * configuration's. CTM_REFUSED when pct fails, with its own last words.
 */
int ctm_snapshot_take(const struct ctm_host *host, unsigned int vmid,
		      char ret[static CTM_SNAPSHOT_NAME_MAX], struct ctm_err *err);

#endif
