/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's table of mounts (proc(5), /proc/PID/mountinfo) through libmount, and questions
 * about its rows.
 */
#ifndef CTM_TARGET_MOUNTTAB_H
#define CTM_TARGET_MOUNTTAB_H

#include <libmount.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"

/**
 * file: any mountinfo. A line that cannot be read is an error (-EBADMSG), because what it says
 * could be what was asked for. -ENOENT, -ESRCH and -EINVAL: the process is gone or about to be.
 * -ENOMEM.
 */
int ctm_mounttab_read(const char *file, struct libmnt_table **ret);
/** The same from an open stream. */
int ctm_mounttab_parse(FILE *stream, struct libmnt_table **ret);

static inline void ctm_mounttab_unrefp(struct libmnt_table **table)
{
	mnt_unref_table(*table);
}

static inline void ctm_mounttab_free_iterp(struct libmnt_iter **itr)
{
	mnt_free_iter(*itr);
}

/** The row of a mount by its id (statx(2), stx_mnt_id), borrowed. -ENOENT, -ENOMEM. */
int ctm_mounttab_by_id(struct libmnt_table *table, uint64_t id, struct libmnt_fs **ret);

/** Whether the mount translates owners (mount_setattr(2), MOUNT_ATTR_IDMAP). */
bool ctm_mounttab_idmapped(struct libmnt_fs *fs);

/**
 * How the root of the mount's file system names the place that the host calls path: mount root
 * and what path has beyond the mount point. -EXDEV: path is not below that mount point. -ENOMEM.
 */
int ctm_mounttab_inside(struct libmnt_fs *fs, const char *path, struct ctm_buf *ret);

/**
 * Whether the mount shows dir (a place inside the file system, see above) or something below it.
 */
bool ctm_mounttab_shows(struct libmnt_fs *fs, const char *dir);

/**
 * fn once for each mount point below the directory dir, with what follows "dir/", in the order of
 * the table and each once; stops when it returns other than 0, and returns that. -ENOMEM.
 */
int ctm_mounttab_each_below(struct libmnt_table *table, const char *dir,
			    int (*fn)(const char *path, void *arg), void *arg);

#endif
