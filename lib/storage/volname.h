/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names that Proxmox VE gives to volumes: "vm-115-disk-0", "base-114-disk-0".
 */
#ifndef CTM_STORAGE_VOLNAME_H
#define CTM_STORAGE_VOLNAME_H

#include <stdbool.h>

/** Whether name is prefix ("vm-"), digits, "-" and something more. */
bool ctm_volname_has_prefix(const char *name, const char *prefix);

#endif
