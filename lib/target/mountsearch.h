/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a volume is mounted: in every mount namespace that a process of this host is in.
 *
 * A process sees the mounts below its own root, so each pair of namespace and root is read once;
 * a chroot among the first processes must not hide what the others see. Mounts that are in no
 * namespace (detached ones like ours) are not found; for block devices the exclusive open finds
 * them.
 */
#ifndef CTM_TARGET_MOUNTSEARCH_H
#define CTM_TARGET_MOUNTSEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "target/mounttab.h"
#include "target/procs.h"

struct ctm_mount_query {
	const dev_t *devs; /* any of these file systems; borrowed */
	size_t n_devs;
	const char *inside; /* only mounts that show this place of it or below; NULL: any */
	const char *
		home; /* a mount at this point is the volume itself, where it belongs; NULL: none */
	bool skip_own; /* leave our own mount namespace out */
};

struct ctm_mount_hit {
	pid_t pid; /* of a process that sees it */
	char name[CTM_PROC_NAME];
	struct ctm_buf point; /* the mount point as that process sees it, escaped */
	bool own;             /* in our own mount namespace */
};

/** Whether this row answers the query: the pure part. */
bool ctm_mountsearch_matches(const struct ctm_mount_query *query, struct libmnt_fs *fs);

/**
 * 1: found, *ret is the first; the caller frees it with ctm_mount_hit_done(). 0: nowhere. -errno.
 */
int ctm_mountsearch(const struct ctm_mount_query *query, struct ctm_mount_hit *ret);

static inline void ctm_mount_hit_done(struct ctm_mount_hit *hit)
{
	ctm_buf_done(&hit->point);
}

#endif
