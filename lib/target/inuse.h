/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does anybody else use a volume: as a mount anywhere, a loop device, or in any way that claims a
 * block device?
 */
#ifndef CTM_TARGET_INUSE_H
#define CTM_TARGET_INUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "target/target.h"

struct ctm_inuse_opts {
	/*
	 * For a writer: read-only loop devices count too, and a block device must be free for an
	 * exclusive open.
	 */
	bool exclusive;
	bool skip_own_namespace; /* mounts in our own mount namespace do not count */
};

/**
 * CTM_REFUSED with who and where. Call it while nothing of ours is attached. A directory volume
 * that has a file system of its own (a dataset) may be mounted at its own place, in any
 * namespace.
 */
int ctm_inuse_check(const struct ctm_volume *vol, const struct ctm_inuse_opts *opts,
		    struct ctm_err *err);

/**
 * A name for the thing itself, the same by whatever path it is reached, fit for a file: kind,
 * device, inode.
 */
int ctm_inuse_key(const struct ctm_volume *vol, char *ret, size_t size, struct ctm_err *err);

#endif
