/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps others from writing to a file while it is looked at: a lease of fcntl(2).
 */
#ifndef CTM_TARGET_ROOTFD_LEASE_H
#define CTM_TARGET_ROOTFD_LEASE_H

/**
 * Takes a read lease on a readable descriptor of a regular file; it ends with the descriptor. While
 * it is there, who opens the file for writing waits: up to /proc/sys/fs/lease-break-time, then the
 * kernel takes the lease back. -ETXTBSY: somebody has the file open for writing, or a writable
 * shared mapping of it. -EOPNOTSUPP: the file system has no leases, or none that it decides about
 * itself (NFS, CIFS), or they are switched off.
 */
int ctm_rootfd_keep_out(int fd);
/** 0: nobody has tried to open it for writing since. -ETXTBSY: somebody waits, or got through. */
int ctm_rootfd_kept_out(int fd);

#endif
