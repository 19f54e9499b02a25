/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detached clones of a mount. */
#include "target/clone.h"

#include <errno.h>
#include <fcntl.h>
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
