/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A raw volume of a running container, where the container has it mounted.
 */
#ifndef CTM_TARGET_CTROOT_H
#define CTM_TARGET_CTROOT_H

#include "base/err.h"
#include "target/ctinit.h"
#include "target/rawvol.h"
#include "target/target.h"

/**
 * The way leads through /proc/PID/root, which is not a path but the root itself, and from there
 * component by component to the mount point. The container's root may have mounted anything on the
 * way, for example a FUSE whose server sleeps: nothing is asked of a file system before the mount
 * table has said what it is, and none but the host's is gone through.
 *
 * What is found there must be the top of the file system on raw, by the device of its mount.
 * *ret: an O_PATH descriptor of a read-only clone (target/clone.h). CTM_REFUSED when it is not the
 * volume, is mounted with an id map of its own, or the container stops meanwhile.
 */
int ctm_ctroot_open(const struct ctm_ctinit *init, const struct ctm_volume *vol,
		    const struct ctm_rawvol *raw, int *ret, struct ctm_err *err);

#endif
