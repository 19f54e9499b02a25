/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who holds a lock on a file: fcntl(2) (of a process or of an open file) and flock(2).
 *
 * Whether there is a lock is asked of the kernel with the calls that a locker would use, on the
 * inode itself. Who it is stands in /proc/locks and in /proc/PID/fdinfo of every process that has
 * the file open (proc(5)), so that locks without a process number and those in other pid namespaces
 * are found too. No file of another process is looked at, and that search has a deadline: what
 * others have open may lie on a storage that does not answer.
 */
#ifndef CTM_TARGET_LOCKHOLDER_H
#define CTM_TARGET_LOCKHOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "target/procs.h"

struct ctm_lockholder {
	pid_t pid; /* 0: somebody, but no process that /proc shows */
	char name[CTM_PROC_NAME];
	const char *how; /* "fcntl", "flock" or "open", static */
};

/**
 * fd: readable, of a regular file or directory. Never blocks; a flock that is free is taken for
 * an instant. *ret_held: somebody else holds one, shared or exclusive, then *ret is filled in.
 * -errno.
 */
int ctm_lockholder_find(int fd, bool *ret_held, struct ctm_lockholder *ret);

/**
 * The same for a file that is a lock by being there, and that its maker keeps open (pacman's
 * db.lck): *ret_held when another process has it open in whatever way. Every descriptor of the host
 * is looked at, of which there may be a million: within_ms milliseconds, 0: as long as it takes.
 * -ETIME: it was not found out.
 */
int ctm_lockholder_opener(int fd, unsigned int within_ms, bool *ret_held,
			  struct ctm_lockholder *ret);

/**
 * Whether a process that started us (our parent, its parent and so on) has a lock on fd's file.
 * -ETIME: it could not be found out in some seconds.
 */
int ctm_lockholder_above(int fd, bool *ret);

#endif
