/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names that Proxmox VE gives to volumes: "vm-115-disk-0", "base-114-disk-0".
 */
#ifndef CTM_STORAGE_VOLNAME_H
#define CTM_STORAGE_VOLNAME_H

#include <stdbool.h>

/** Whether name is prefix ("vm-"), digits, "-" and something more. */
bool ctm_volname_has_prefix(const char *name, const char *prefix);

/** The last part of a volume id, its own name: "vm-115-disk-0.raw" of "tank:115/vm-115-disk-0.raw".
 */
const char *ctm_volname_last(const char *volid);

/**
 * The guest that such a name is of: 115 of "vm-115-disk-0", "base-115-...", "subvol-115-...",
 * "basevol-115-...". 0: the name is none of Proxmox VE's making.
 */
unsigned int ctm_volname_guest(const char *name);

#endif
