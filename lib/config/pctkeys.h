/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keys that Proxmox VE knows in a container's configuration, for its warnings and value checks.
 *
 * Source: pve-container 6.1 src/PVE/LXC/Config.pm ($confdesc, $valid_lxc_conf_keys,
 * $deprecated_lxc_conf_keys).
 */
#ifndef CTM_CONFIG_PCTKEYS_H
#define CTM_CONFIG_PCTKEYS_H

#include "base/bytes.h"

enum ctm_pctkey {
	CTM_PCTKEY_UNKNOWN,
	CTM_PCTKEY_BOOL,
	CTM_PCTKEY_INTEGER,
	CTM_PCTKEY_NUMBER,
	CTM_PCTKEY_TEXT, /* any text; formats of keys that ctmend does not read are not checked */
	CTM_PCTKEY_ROOTFS,
	CTM_PCTKEY_MP,
};
/**
 * An ordinary key, "mp12" and its like included; numbers have no leading zero and stay in PVE's
 * limits.
 */
enum ctm_pctkey ctm_pctkey(struct ctm_bytes key);

enum ctm_pctkey_lxc {
	CTM_PCTKEY_LXC_UNKNOWN, /* warned about, dropped */
	CTM_PCTKEY_LXC_VALID,
	CTM_PCTKEY_LXC_DEPRECATED, /* warned about, kept */
	CTM_PCTKEY_LXC_REFUSED,    /* warned about, dropped: PVE writes it itself */
};
/** A raw key, "lxc.idmap". */
enum ctm_pctkey_lxc ctm_pctkey_lxc(struct ctm_bytes key);

#endif
