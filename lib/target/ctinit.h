/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first process of a running container: the way to a volume that the container has mounted.
 */
#ifndef CTM_TARGET_CTINIT_H
#define CTM_TARGET_CTINIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "target/target.h"

/**
 * The child of a container's monitor that is the container's first process: it lives in another
 * pid or user namespace than the monitor, unlike the hooks that the monitor calls. 1 and *ret, 0:
 * there is none, -errno.
 */
int ctm_ctinit_child(pid_t monitor, pid_t *ret);

/** Zero is not a valid one: { .fd = -1 } is "none". */
struct ctm_ctinit {
	pid_t pid;
	int fd; /* pidfd_open(2): while it is alive, /proc/PID is this process and no other */
};

/**
 * The first process of a running container, by what the kernel says: the child, in other
 * namespaces and with the mount namespace another one than ours, of the process of root that
 * listens on the container's command socket. Where the target has a map of its own, the process
 * must run with it. CTM_REFUSED: none, or it does not.
 */
int ctm_ctinit_find(const struct ctm_target *target, struct ctm_ctinit *ret, struct ctm_err *err);
void ctm_ctinit_done(struct ctm_ctinit *init);

/** Whether it has not ended: what was read below /proc/PID until now was this process's. */
bool ctm_ctinit_alive(const struct ctm_ctinit *init);

#endif
