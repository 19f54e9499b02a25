/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a container running? PVE and LXC both mean by that: its monitor listens on the abstract
 * command socket.
 */
#ifndef CTM_TARGET_RUNNING_H
#define CTM_TARGET_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "target/host.h"

/** A socket in the text of /proc/net/unix. */
struct ctm_socket_row {
	bool found;
	uint64_t listening; /* inode of the one that listens, 0: only connections are left */
};

/** Looks for the abstract name (without its leading NUL), compared as a whole. */
void ctm_socket_find(struct ctm_bytes text, const char *name, struct ctm_socket_row *ret);
/** The same in this host's table. */
int ctm_socket_look(const char *name, struct ctm_socket_row *ret, struct ctm_err *err);

/**
 * A container of PVE that reboots from inside has no socket for a moment, but the file
 * <sysroot>/var/lib/lxc/<vmid>/reboot.
 */
int ctm_running_rebooting(const struct ctm_host *host, unsigned int vmid, bool *ret,
			  struct ctm_err *err);

#endif
