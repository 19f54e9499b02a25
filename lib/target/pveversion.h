/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which Proxmox VE this host has, as far as the reading of a container's configuration depends on
 * it.
 */
#ifndef CTM_TARGET_PVEVERSION_H
#define CTM_TARGET_PVEVERSION_H

#include "base/err.h"
#include "target/host.h"

/**
 * The major version of the installed package pve-container: 4 on Proxmox VE 7, 5 on 8, 6 on 9. Read
 * from <sysroot>/var/lib/dpkg/status, the host's own record; nothing is run. *ret 0: not known (no
 * such package, not unpacked, no such file). CTM_SYS when the file cannot be read.
 */
int ctm_pveversion_container(const struct ctm_host *host, unsigned int *ret, struct ctm_err *err);

#endif
