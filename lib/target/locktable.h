/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's table of file locks (proc(5), /proc/locks): who holds one, and who waits behind it.
 *
 *	1: FLOCK  ADVISORY  WRITE 4711 00:18:1234 0 EOF
 *	1: -> FLOCK  ADVISORY  WRITE 4712 00:18:1234 0 EOF
 *
 * The same words stand in /proc/PID/fdinfo/N behind "lock:", for the locks of that open file. A
 * file is named by the device of its file system (as in mountinfo, which for btrfs is not the
 * st_dev of its subvolumes) and its inode. Processes of other pid namespaces are not in the table
 * unless ours holds theirs.
 */
#ifndef CTM_TARGET_LOCKTABLE_H
#define CTM_TARGET_LOCKTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

enum ctm_lock_kind {
	CTM_LOCK_FLOCK, /* flock(2) */
	CTM_LOCK_POSIX, /* fcntl(2) F_SETLK, of a process */
	CTM_LOCK_OFD,   /* fcntl(2) F_OFD_SETLK, of an open file */
	CTM_LOCK_OTHER, /* leases, ... */
};

struct ctm_lock_row {
	enum ctm_lock_kind kind;
	bool waits; /* behind the lock of the row above */
	pid_t pid;  /* who called; -1: OFD. It may have ended while the open file lives on */
	dev_t dev;  /* of the file system */
	uint64_t ino;
};

/** One row, without its newline. False: it is none, or names no file. */
bool ctm_lock_row_parse(const char *line, size_t len, struct ctm_lock_row *ret);

/** fn for each row of the table's text; stops when it returns other than 0, and returns that. */
int ctm_locktable_each(struct ctm_bytes text, int (*fn)(const struct ctm_lock_row *row, void *arg),
		       void *arg);

/** This host's table. -errno. */
int ctm_locktable_read(struct ctm_buf *ret);

/**
 * How the table names the file on which fd, a descriptor of ours, holds a lock: by the row in our
 * own fdinfo. -ENOENT: it holds none; -errno.
 */
int ctm_locktable_of(int fd, struct ctm_lock_row *ret);

/**
 * The first process that waits for a flock on the file (dev and ino of file). Whoever polls with
 * LOCK_NB, as ctmend does, is not in the table. 1 and *ret; 0: none.
 */
int ctm_locktable_waiter(struct ctm_bytes text, const struct ctm_lock_row *file, pid_t *ret);

#endif
