/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fixed places of the host, movable for tests and rescue systems by --sysroot.
 */
#ifndef CTM_TARGET_HOST_H
#define CTM_TARGET_HOST_H

#include "base/bytes.h"

struct ctm_host {
	const char *sysroot; /* "" or an absolute directory without trailing slash; borrowed */
};

#define CTM_PLACE_PVE       "/etc/pve"
#define CTM_PLACE_RUN       "/run/ctmend"
#define CTM_PLACE_STATE     "/var/lib/ctmend"
#define CTM_PLACE_LXC       "/var/lib/lxc"
#define CTM_PLACE_PVE_LOCKS "/run/lock/lxc"

/** Appends sysroot and the formatted absolute path to a fresh buffer. -ENOMEM. */
int ctm_host_path(const struct ctm_host *host, struct ctm_buf *ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
