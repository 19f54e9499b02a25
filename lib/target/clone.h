/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory through a mount of our own: a detached clone of the mount that holds it.
 *
 * It hangs in no namespace and has no mount point, mounts below the directory are not part of it,
 * and it ends with its last descriptor, however the process ends (open_tree(2), mount_setattr(2),
 * Linux 5.12).
 */
#ifndef CTM_TARGET_CLONE_H
#define CTM_TARGET_CLONE_H

#include <stdbool.h>

#include "base/err.h"

/**
 * dir: O_PATH is enough. name: for messages. *ret: an O_PATH descriptor of the clone's root.
 * Never follows device nodes, setuid bits or programs, never moves an atime; read-only unless
 * writable. CTM_REFUSED when it is to be writable and the host has it mounted read-only.
 */
int ctm_clone(int dir, const char *name, bool writable, int *ret, struct ctm_err *err);

/**
 * The same, read-only, of the root of a mount in the mount namespace of another process:
 * open_tree(2) copies only mounts of the caller's own, so a thread joins that one for the call
 * (setns(2) on a pidfd, Linux 5.8). pidfd: of the process.
 *
 * Where a mount below came with the namespace from one of more rights (mount_namespaces(7),
 * "locked"), as the mount points of a Proxmox VE container do, the kernel makes no clone without
 * the mounts below. Then they are part of it, and whoever walks must stay on the mount of *ret.
 */
int ctm_clone_of(int pidfd, int dir, const char *name, int *ret, struct ctm_err *err);

#endif
