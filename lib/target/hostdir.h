/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Directories of ours, and of Proxmox VE, whose files mean something: only root may write there.
 */
#ifndef CTM_TARGET_HOSTDIR_H
#define CTM_TARGET_HOSTDIR_H

#include <sys/types.h>

#include "base/err.h"
#include "target/host.h"

/**
 * Opens <sysroot>PLACE, made with this mode when it is missing; mode 0: it is not made, -ENOENT. It
 * must belong to root or to us and be writable to nobody else, since places such as /run/lock are
 * open to all: else CTM_REFUSED.
 */
int ctm_hostdir_open(const struct ctm_host *host, const char *place, mode_t mode, int *ret,
		     struct ctm_err *err);

#endif
