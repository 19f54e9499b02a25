/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a volume is mounted, and whose root directory it is: in every mount namespace that a
 * process of this host is in, each gone through once.
 *
 * The search runs in a child with limits of time (target/bounded.h): how many namespaces and mounts
 * there are is up to the tenants. Nothing mounted is touched. Mounts that are in no namespace
 * (detached ones like ours) are not found; for block devices the exclusive open finds them.
 */
#ifndef CTM_TARGET_MOUNTSEARCH_H
#define CTM_TARGET_MOUNTSEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "target/bounded.h"
#include "target/mounttab.h"
#include "target/nsmounts.h"
#include "target/procs.h"

struct ctm_mount_query {
	const dev_t *devs; /* any of these file systems; borrowed */
	size_t n_devs;
	/*
	 * Only mounts that show this place of it or below, and processes whose root directory is
	 * there; NULL: any mount, of devices.
	 */
	const char *inside;
	const char *
		home; /* a mount at this point is the volume itself, where it belongs; NULL: none */
	bool skip_own; /* leave our own mount namespace out */
};

enum ctm_mount_hit_kind {
	CTM_HIT_MOUNT,
	CTM_HIT_ROOT, /* the process has its root directory in the volume */
};

struct ctm_mount_hit {
	enum ctm_mount_hit_kind kind;
	pid_t pid; /* of a process that sees it */
	char name[CTM_PROC_NAME];
	struct ctm_buf point; /* mount point or root directory as that namespace has it, escaped */
	bool own;             /* in our own mount namespace */
};

/** Whether this row answers the query: the pure part. */
bool ctm_mountsearch_matches(const struct ctm_mount_query *query, struct libmnt_fs *fs);

/**
 * 1: found, *ret is the first; the caller frees it with ctm_mount_hit_done(). 0: nowhere. -ETIME:
 * it took longer than the limits allow. -errno.
 */
int ctm_mountsearch(const struct ctm_mount_query *query, const struct ctm_bounded *limits,
		    struct ctm_mount_hit *ret);

static inline void ctm_mount_hit_done(struct ctm_mount_hit *hit)
{
	ctm_buf_done(&hit->point);
}

#endif
