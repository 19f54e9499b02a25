/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read leases on files of a container's tree. */
#include "target/rootfd_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/vfs.h>

/*
 * NFS 4 and CIFS give a lease only where the server has delegated the file, and say EAGAIN where it
 * has not: that tells nothing about writers.
 */
static bool is_remote(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0) {
		return true;
	}
	switch ((unsigned int)fs.f_type) {
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

int ctm_rootfd_keep_out(int fd)
{
	/*
	 * Who wants to write makes the kernel send a signal, by default SIGIO, which ends a process
	 * that does not care for it: that must not be in the hands of others. This one does
	 * nothing; the lease itself says what has become of it.
	 */
	if (fcntl(fd, F_SETSIG, SIGURG) < 0) {
		return -errno;
	}
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
		return 0;
	}
	switch (errno) {
	case EAGAIN:
		return is_remote(fd) ? -EOPNOTSUPP : -ETXTBSY;
	case EINVAL: /* no leases here */
	case EACCES: /* another's file, and no CAP_LEASE */
	case EOPNOTSUPP:
	case ENOLCK:
		return -EOPNOTSUPP;
	default:
		return -errno;
	}
}

int ctm_rootfd_kept_out(int fd)
{
	/* Of a lease that is being broken this is what it will become. */
	return fcntl(fd, F_GETLEASE) == F_RDLCK ? 0 : -ETXTBSY;
}
