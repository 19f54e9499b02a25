/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks on the host, all flock(2): they end with their holder, and no program that we start
 * inherits one.
 *
 * PVE's config flock, <sysroot>/run/lock/lxc/pve-config-<vmid>.lock: pct takes it for every change
 * and for a whole start; the file stays for ever.
 *
 * The volume's own, <sysroot>/run/ctmend/lock/<key>: two repairs exclude each other, also where
 * there is no PVE, and by whatever name they call the volume.
 */
#ifndef CTM_TARGET_HOSTLOCK_H
#define CTM_TARGET_HOSTLOCK_H

#include "base/err.h"
#include "target/host.h"

/**
 * Opens the config lock's file (made when missing) without locking it. The directory must belong
 * to root or to us and be writable to nobody else, since /run/lock is open to all: else
 * CTM_REFUSED.
 */
int ctm_hostlock_config_open(const struct ctm_host *host, unsigned int vmid, int *ret,
			     struct ctm_err *err);
/**
 * Waits up to wait seconds for the config flock. CTM_REFUSED: somebody holds it, with process and
 * name. The lock lasts until the descriptor is closed.
 */
int ctm_hostlock_config(const struct ctm_host *host, unsigned int vmid, unsigned int wait, int *ret,
			struct ctm_err *err);
/**
 * The same for a volume; what: its name for the message. Free it with ctm_hostlock_volume_done().
 */
int ctm_hostlock_volume(const struct ctm_host *host, const char *key, const char *what,
			unsigned int wait, int *ret, struct ctm_err *err);
/** Waits up to wait seconds for an exclusive flock on fd. -EWOULDBLOCK: somebody holds it. */
int ctm_hostlock_within(int fd, unsigned int wait);
/** Removes the file while it is still locked, then lets go. */
void ctm_hostlock_volume_done(const struct ctm_host *host, const char *key, int *fd);

#endif
