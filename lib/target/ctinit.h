/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first process of a running container.
 */
#ifndef CTM_TARGET_CTINIT_H
#define CTM_TARGET_CTINIT_H

#include <sys/types.h>

/**
 * The child of a container's monitor that is the container's first process: it lives in another
 * pid or user namespace than the monitor, unlike the hooks that the monitor calls. 1 and *ret, 0:
 * there is none, -errno.
 */
int ctm_ctinit_child(pid_t monitor, pid_t *ret);

#endif
