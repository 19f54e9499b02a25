/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detached clones of a mount. */
#include "target/clone.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"

int ctm_clone(int dir, const char *name, bool writable, int *ret, struct ctm_err *err)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
			    MOUNT_ATTR_NOATIME | (writable ? 0 : MOUNT_ATTR_RDONLY),
		.attr_clr = MOUNT_ATTR__ATIME,
		/* a peer of the host's mount would take part in what is mounted there later */
		.propagation = MS_PRIVATE,
	};
	CLEANUP_CLOSE int root =
		open_tree(dir, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	struct statvfs fs;

	if (root < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "clone the mount of '%s'", name);
	}
	if (mount_setattr(root, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "set up a mount of '%s'", name);
	}
	if (fstatvfs(root, &fs) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "look at the mount of '%s'", name);
	}
	if (writable && (fs.f_flag & ST_RDONLY)) {
		int r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' is mounted read-only on this host",
				    name);

		ctm_err_hint(err, "remount it read-write first");
		return r;
	}
	*ret = TAKE_FD(root);
	return 0;
}

/* --- of another mount namespace -------------------------------------------------------------- */

struct errand {
	int pidfd;
	int dir;
	int fd; /* the clone, or a negative errno */
};

static void *run_errand(void *arg)
{
	static const unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
	struct errand *e = arg;

	/* root and working directory of this thread alone, which setns() changes */
	if (unshare(CLONE_FS) < 0 || setns(e->pidfd, CLONE_NEWNS) < 0) {
		e->fd = -errno;
		return NULL;
	}
	e->fd = open_tree(e->dir, "", flags);
	if (e->fd < 0 && errno == EINVAL) {
		e->fd = open_tree(e->dir, "", flags | AT_RECURSIVE);
	}
	if (e->fd < 0) {
		e->fd = -errno;
	}
	return NULL;
}

/*
 * Read-only alone keeps the access times. A container's mounts keep the rule for these that they
 * came with: to be told another one is EPERM.
 */
static int set_reader(int root)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			    MOUNT_ATTR_NOEXEC,
		.propagation = MS_PRIVATE,
	};

	return mount_setattr(root, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int ctm_clone_of(int pidfd, int dir, const char *name, int *ret, struct ctm_err *err)
{
	struct errand errand = { .pidfd = pidfd, .dir = dir, .fd = -EIO };
	CLEANUP_CLOSE int root = -1;
	pthread_t thread;
	int r = -pthread_create(&thread, NULL, run_errand, &errand);

	if (r == 0) {
		r = -pthread_join(thread, NULL);
	}
	if (r < 0 || errand.fd < 0) {
		return ctm_err_set(err, CTM_SYS, r < 0 ? r : errand.fd, "clone the mount of '%s'",
				   name);
	}
	root = errand.fd;
	r = set_reader(root);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "set up a mount of '%s'", name);
	}
	*ret = TAKE_FD(root);
	return 0;
}
