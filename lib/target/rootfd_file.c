/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regular files of a container's tree: made so that they appear at once, and all their attributes.
 */
#include "target/rootfd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "target/rootfd.h"

CTM_TREE_CALLS

#define FLAGS       (O_RDWR | O_CLOEXEC | O_NOFOLLOW)
#define PROC_FD_LEN 32

static bool is_name(const char *name)
{
	return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

int ctm_rootfd_make_file(int dir, const char *name, int *ret, bool *ret_named)
{
	struct ctm_inode there;
	bool named = false;
	int fd;
	int r;

	if (!is_name(name)) {
		return -EINVAL;
	}
	r = ctm_rootfd_stat_at(dir, name, &there);
	if (r != -ENOENT) {
		return r < 0 ? r : -EEXIST;
	}
	fd = openat(dir, ".", FLAGS | O_TMPFILE, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		named = true;
		fd = openat(dir, name, FLAGS | O_CREAT | O_EXCL, 0600);
	}
	if (fd < 0) {
		return -errno;
	}
	*ret = fd;
	*ret_named = named;
	return 0;
}

int ctm_rootfd_name_file(int fd, int dir, const char *name)
{
	char path[PROC_FD_LEN];

	if (!is_name(name)) {
		return -EINVAL;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* The names, one after the other with a NUL behind each. */
static int list(int fd, char **ret, size_t *ret_len)
{
	for (;;) {
		ssize_t len = flistxattr(fd, NULL, 0);
		char *names;
		ssize_t n;

		if (len < 0) {
			return errno == EOPNOTSUPP ? 0 : -errno;
		}
		names = malloc((size_t)len + 1);
		if (!names) {
			return -ENOMEM;
		}
		n = flistxattr(fd, names, (size_t)len);
		if (n >= 0) {
			*ret = names;
			*ret_len = (size_t)n;
			return 0;
		}
		free(names);
		if (errno != ERANGE) { /* it grew in between */
			return -errno;
		}
	}
}

int ctm_rootfd_each_xattr(int fd, struct ctm_arena *arena, ctm_rootfd_xattr_fn fn, void *arg)
{
	CLEANUP_FREE char *names = NULL;
	size_t len = 0;
	int r = list(fd, &names, &len);

	for (size_t at = 0; r == 0 && at < len; at += strlen(names + at) + 1) {
		struct ctm_bytes value;

		r = ctm_rootfd_get_xattr(fd, names + at, arena, &value);
		if (r == 0 && value.p) {
			r = fn(names + at, value, arg);
		}
	}
	return r;
}
