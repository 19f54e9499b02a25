/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a `lock:` line of a Proxmox VE container means, and what to do about a leftover one.
 */
#ifndef CTM_CONFIG_PCTLOCK_H
#define CTM_CONFIG_PCTLOCK_H

struct ctm_pctlock {
	const char *name;  /* "backup"; NULL: the row for any other text, which locks as well */
	const char *means; /* who sets it */
	const char *look;  /* what to do before the lock is removed */
	const char *verb;  /* of pct, which removes it: "unlock", "unmount", "destroy" */
};

/** Never NULL. Names: PVE::LXC::Config $confdesc; any non-empty text locks (check_lock). */
const struct ctm_pctlock *ctm_pctlock(const char *name);

#endif
