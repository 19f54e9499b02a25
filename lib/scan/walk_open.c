/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening below a directory that is open. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/walk_state.h"

CTM_TREE_CALLS

/*
 * One component, and never through a link, so no path is resolved: only what is in dir itself can
 * be reached, whatever was moved or linked meanwhile. openat2(2) could promise the same for a whole
 * path, but a system call filter cannot look into its structure; see scan/confine.h.
 */
static int open_once(int dir, const char *name, int flags)
{
	int fd;

	do {
		fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

int ctm_walk_openat(struct ctm_worker *w, int dir, const char *name, int flags)
{
	for (;;) {
		int fd = open_once(dir, name, flags | (w->no_noatime ? 0 : O_NOATIME));

		if (fd == -EPERM && !w->no_noatime) {
			/* open(2): only the owner and CAP_FOWNER may ask for it. */
			w->no_noatime = true;
		} else if (fd != -EMFILE || !ctm_walk_close_one(w->walk)) {
			return fd;
		}
	}
}

/*
 * Goes down the components of path (which is changed) but the last one, from dir. *ret_own: the
 * descriptor to close afterwards, or -1. Returns the last component, or NULL with errno.
 */
static char *go_down(struct ctm_worker *w, int dir, char *path, int *ret_own)
{
	CLEANUP_CLOSE int at = -1;
	char *slash;

	while ((slash = strchr(path, '/'))) {
		int next;

		*slash = '\0';
		next = ctm_walk_openat(w, at < 0 ? dir : at, path, O_PATH | O_DIRECTORY);
		if (next < 0) {
			errno = -next;
			return NULL;
		}
		ctm_closep(&at);
		at = next;
		path = slash + 1;
	}
	*ret_own = TAKE_FD(at);
	return path;
}

/*
 * Opens a directory below the anchor and makes sure that it is the one statx(2) saw when the name
 * was read. path is changed.
 */
static int open_dir(struct ctm_worker *w, char *path, const struct ctm_dirnode *node)
{
	CLEANUP_CLOSE int above = -1;
	CLEANUP_CLOSE int fd = -1;
	const char *name = go_down(w, w->anchor->fd, path, &above);
	struct stat st;

	if (!name) {
		return -errno;
	}
	fd = ctm_walk_openat(w, above < 0 ? w->anchor->fd : above, name, O_RDONLY | O_DIRECTORY);
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
	/* One component: nothing in it is changed. */
	fd = open_dir(w, w->node->name, w->node);
	if (fd < 0) {
		return fd;
	}
	w->fd = fd;
	w->own_fd = true;
	return 0;
}
