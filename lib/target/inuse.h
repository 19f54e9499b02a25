/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does anybody else use a volume?
 *
 * Devices and images: whether there is a loop device of somebody else's on it, and whether the
 * kernel has given the device away (a mount anywhere, device mapper, ...). That is settled without
 * a look at any mount namespace; once it is in use, they are searched for the words of the message.
 *
 * Directories: mounts that show it or a part of it, and processes that have their root directory in
 * it, in all mount namespaces. What the search costs is up to the tenants, so it can have a budget.
 */
#ifndef CTM_TARGET_INUSE_H
#define CTM_TARGET_INUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "target/bounded.h"
#include "target/target.h"

struct ctm_inuse_opts {
	/*
	 * For a writer: read-only loop devices count too, and a block device must be free for an
	 * exclusive open.
	 */
	bool exclusive;
	bool skip_own_namespace; /* mounts in our own mount namespace do not count */
	/*
	 * For a directory: how long the search may take (total_ms 0: until it is done), and who
	 * hears that it goes on.
	 */
	struct ctm_bounded limits;
};

/**
 * CTM_REFUSED with who and where. Call it while nothing of ours is attached. A directory volume
 * that has a file system of its own (a dataset) may be mounted at its own place, in any
 * namespace. -ETIME, CTM_REFUSED: it could not be found out within the limits.
 */
int ctm_inuse_check(const struct ctm_volume *vol, const struct ctm_inuse_opts *opts,
		    struct ctm_err *err);

/**
 * A name for the thing itself, the same by whatever path it is reached, fit for a file: kind,
 * device, inode.
 */
int ctm_inuse_key(const struct ctm_volume *vol, char *ret, size_t size, struct ctm_err *err);

#endif
