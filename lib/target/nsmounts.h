/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The mounts of one mount namespace that are of certain file systems, fast where there are many.
 *
 * listmount(2) and statmount(2) where they take the id of another namespace (Linux 6.12, found out
 * at run time), else mountinfo. Neither touches what is mounted.
 */
#ifndef CTM_TARGET_NSMOUNTS_H
#define CTM_TARGET_NSMOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct ctm_nsmount {
	dev_t dev;         /* as mountinfo has it */
	const char *root;  /* the place of the file system that is mounted */
	const char *point; /* where, below the namespace's root */
};

struct ctm_nsmounts_query {
	const dev_t *devs; /* any of these; borrowed */
	size_t n_devs;
	/* a btrfs too whose source is one of the devices: its number in mountinfo is another */
	bool btrfs_source;
};

typedef int (*ctm_nsmount_fn)(const struct ctm_nsmount *mount, void *arg);

/**
 * fn for each such mount in the mount namespace of the process, now and then twice; stops when it
 * returns other than 0, and returns that.
 *
 * *ret_whole: all of the namespace's mounts were gone through. False: mountinfo has only those
 * below the process's own root, which is not the namespace's.
 *
 * -ENOENT, -ESRCH, -EINVAL: the process is gone or about to be. -EACCES, -EPERM: it may not be
 * looked into. -EBADMSG: a row cannot be understood.
 */
int ctm_nsmounts_each(pid_t pid, const struct ctm_nsmounts_query *query, ctm_nsmount_fn fn,
		      void *arg, bool *ret_whole);

/** The same from the text of a mountinfo. */
int ctm_nsmounts_from_text(FILE *mountinfo, const struct ctm_nsmounts_query *query,
			   ctm_nsmount_fn fn, void *arg, bool *ret_whole);

/** Makes ctm_nsmounts_each() use mountinfo alone, as on older kernels; for tests. */
void ctm_nsmounts_old_kernel(bool old);

#endif
