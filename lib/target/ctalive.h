/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a container runs, as far as its command socket and its cgroups prove it.
 *
 * An abstract socket's name is anybody's who binds it first: a local user of the host can imitate a
 * running container, and with that keep every repair away. The kernel knows who made a socket
 * (sock_diag(7)): a monitor of root has made its own as root. A name that only others have taken is
 * no monitor, unless a process is in a cgroup of the container. In doubt it runs.
 */
#ifndef CTM_TARGET_CTALIVE_H
#define CTM_TARGET_CTALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/err.h"

struct ctm_ctalive {
	bool running;
	bool imitated;  /* not running, and yet somebody has the socket */
	uint32_t uid;   /* imitated: whose socket it is */
	uint64_t inode; /* of it */
};

/**
 * socket: the name without its leading NUL; name: of the container, as its cgroups have it. CTM_SYS
 * when the tables of the kernel cannot be read.
 */
int ctm_ctalive(const char *socket, const char *name, struct ctm_ctalive *ret, struct ctm_err *err);

/**
 * One sentence for a person about an imitation, with the process when it is found in a moment.
 * -ENOMEM.
 */
int ctm_ctalive_describe(const struct ctm_ctalive *alive, struct ctm_buf *ret);

/**
 * Whether a path of /proc/PID/cgroup is that of the container's processes or its monitor, or below:
 * lxc/NAME, lxc.monitor/NAME, lxc.payload/NAME (Proxmox VE), lxc.monitor.NAME, lxc.payload.NAME,
 * with "-N" behind it where the name was taken. From the top alone: further down users make cgroups
 * of their own.
 */
bool ctm_ctalive_is_cgroup(const char *path, const char *name);

#endif
