/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening below a directory that is open. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/walk_state.h"

CTM_TREE_CALLS

/* Often enough for a rename in between, and soon over when there is another reason. */
#define TRIES 8

/*
 * glibc 2.36 has no wrapper. EXDEV means a mount on the way, but also that what was found was moved
 * out of dir in the same moment (complete_walk() of the kernel): the next try finds it gone.
 */
static int openat2_below(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	int tries = TRIES;
	long fd;

	do {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	} while (fd < 0 && (errno == EINTR || (errno == EXDEV && --tries > 0)));
	return fd < 0 ? -errno : (int)fd;
}

int ctm_walk_openat(struct ctm_worker *w, int dir, const char *path, int flags)
{
	for (;;) {
		int fd = openat2_below(dir, path, flags | (w->no_noatime ? 0 : O_NOATIME));

		if (fd == -EPERM && !w->no_noatime) {
			/* open(2): only the owner and CAP_FOWNER may ask for it. */
			w->no_noatime = true;
		} else if (fd != -EMFILE || !ctm_walk_close_one(w->walk)) {
			return fd;
		}
	}
}

/* Opens a directory and makes sure that it is the one statx(2) saw when the name was read. */
static int open_dir(struct ctm_worker *w, const char *path, const struct ctm_dirnode *node)
{
	CLEANUP_CLOSE int fd = ctm_walk_openat(w, w->anchor->fd, path, O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (fd < 0) {
		return fd;
	}
	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	if (st.st_dev != node->dev || st.st_ino != node->ino) {
		return -ESTALE;
	}
	return TAKE_FD(fd);
}

int ctm_walk_open_node(struct ctm_worker *w)
{
	struct ctm_dirnode *parent = w->node->parent;
	int fd;

	if (w->anchor == w->node) {
		w->fd = w->node->fd;
		w->own_fd = false;
		return 0;
	}
	while (w->anchor != parent) {
		struct ctm_dirnode *reached;
		int r = ctm_dirnode_step(w->anchor, parent, &w->step, &reached);

		if (r < 0) {
			return r;
		}
		fd = open_dir(w, w->step.p, reached);
		if (fd < 0) {
			return fd;
		}
		ctm_walk_anchor(w, reached, fd);
	}
	fd = open_dir(w, w->node->name, w->node);
	if (fd < 0) {
		return fd;
	}
	w->fd = fd;
	w->own_fd = true;
	return 0;
}
