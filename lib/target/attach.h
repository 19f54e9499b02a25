/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attach: a volume as a directory descriptor, read-only by the kernel's own hand unless writing
 * was asked for.
 *
 * Directories: a detached clone of their mount (target/clone.h). Images and devices: a mount that
 * hangs in no namespace (target/devmount.h), for reading on a read-only loop device of our own
 * (target/loopdev.h). Neither has a mount point, so no other mount of the host is kept busy and
 * no path leads into the volume; all of it ends with the last descriptor: whatever kills us,
 * nothing is left behind.
 */
#ifndef CTM_TARGET_ATTACH_H
#define CTM_TARGET_ATTACH_H

#include <stdbool.h>

#include "base/err.h"
#include "target/forecast.h"
#include "target/guard.h"
#include "target/host.h"
#include "target/identity.h"
#include "target/target.h"

struct ctm_attached;

/**
 * The caller holds the guard that the access needs. CTM_REFUSED when the attached thing cannot be
 * proven to be the volume (idmapped mount, wrong device, directory without etc or usr, unsuitable
 * file system).
 */
int ctm_attach(const struct ctm_host *host, const struct ctm_volume *vol, enum ctm_access access,
	       struct ctm_attached **ret, struct ctm_err *err);
/**
 * For reading, a raw volume that a running container has mounted: its own mount, cloned read-only
 * (target/ctroot.h). No lock is needed, and what is read may change meanwhile. The identity is the
 * same as that of ctm_attach(). CTM_REFUSED also when the container has just stopped.
 */
int ctm_attach_running(const struct ctm_target *target, const struct ctm_volume *vol,
		       struct ctm_attached **ret, struct ctm_err *err);
/** For reading, as the guard (CTM_GUARD_READ) has found the volume: one or the other of these. */
int ctm_attach_guarded(const struct ctm_guard *guard, const struct ctm_host *host,
		       const struct ctm_target *target, const struct ctm_volume *vol,
		       struct ctm_attached **ret, struct ctm_err *err);
/**
 * Writes everything back, unmounts, detaches and waits until the kernel has let go of the device,
 * so that whoever looks next (losetup -j, an exclusive open) finds nothing. Reports what failed;
 * att is gone in any case. NULL is fine. A process that inherited the root descriptor must have
 * ended before.
 */
int ctm_detach(struct ctm_attached *att, struct ctm_err *err);
void ctm_attached_freep(struct ctm_attached **att); /* ctm_detach() without a report */

int ctm_attached_root(const struct ctm_attached *att); /* borrowed O_PATH|O_DIRECTORY descriptor */
const struct ctm_identity *ctm_attached_identity(const struct ctm_attached *att);
/** The file system's type by name ("ext4"). */
const char *ctm_attached_fstype(const struct ctm_attached *att);
/** One sentence a person should read ("the journal is dirty: ..."), or NULL. */
const char *ctm_attached_note(const struct ctm_attached *att);
/**
 * Whether this is the file system without what is in its journal, so that a writer, whose mount
 * replays it, may find something else.
 */
bool ctm_attached_stale(const struct ctm_attached *att);
/**
 * Whether it is so for certain. Of xfs, whose superblock does not tell, the other one alone is
 * true.
 */
bool ctm_attached_dirty(const struct ctm_attached *att);
/** syncfs(2) of the volume, with the errors of earlier writes since it was attached. */
int ctm_attached_sync(struct ctm_attached *att);

/**
 * Mounts below a directory volume on the host (relative paths), for mount.below: fn once for each.
 */
int ctm_attached_mounts_below(const struct ctm_attached *att,
			      int (*fn)(const char *path, void *arg), void *arg);

#endif
