/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the package database of a container says of the paths that are wrong.
 */
#include "session/packages.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "target/rootfd.h"

/*
 * Debian's largest lists have some hundred KiB, and a full desktop has some thousand of them and 40
 * MiB in all.
 */
#define LIST_MAX    ((size_t)4 << 20)
#define LISTS_MAX   ((size_t)128 << 20)
#define ENTRIES_MAX 100000u

#define INFO   "var/lib/dpkg/info"
#define SUFFIX ".list"

struct lists {
	struct ctm_pkgfiles *files;
	struct ctm_buf text; /* of the list at hand */
	size_t read;
};

static void dirp_close(DIR **dir)
{
	if (*dir) {
		(void)closedir(*dir);
	}
}

/* All of the file, or nothing: 0 without text where it is none of dpkg's. */
static int read_list(int dir, const char *name, struct lists *lists)
{
	CLEANUP_CLOSE int fd = -1;
	struct ctm_inode inode;
	ssize_t n;

	lists->text.len = 0;
	if (ctm_rootfd_open_content(dir, name, strlen(name), &fd) < 0 ||
	    ctm_rootfd_stat(fd, &inode) < 0 || !S_ISREG(inode.mode) || inode.size > LIST_MAX ||
	    inode.size > LISTS_MAX - lists->read) {
		return 0;
	}
	/* the size counts for the limit, whether or not there is as much to read */
	lists->read += inode.size;
	if (ctm_buf_reserve(&lists->text, inode.size) < 0) {
		return -ENOMEM;
	}
	while (lists->text.len < inode.size) {
		n = read(fd, lists->text.p + lists->text.len, inode.size - lists->text.len);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			break;
		}
		lists->text.len += (size_t)n;
	}
	return 0;
}

static int look_at_list(int dir, const char *name, struct lists *lists)
{
	const size_t len = strlen(name);
	const size_t end = strlen(SUFFIX);
	int r;

	if (len <= end || strcmp(name + len - end, SUFFIX) != 0) {
		return 0;
	}
	r = read_list(dir, name, lists);
	if (r < 0 || !lists->text.len) {
		return r;
	}
	return ctm_pkgfiles_list(lists->files, name, len - end,
				 (struct ctm_bytes){ lists->text.p, lists->text.len });
}

static int look_at_lists(int root, struct lists *lists)
{
	CLEANUP(dirp_close) DIR *dir = NULL;
	struct ctm_inode inode;
	int fd = -1;
	int r = 0;

	if (ctm_rootfd_open_content(root, INFO, strlen(INFO), &fd) < 0) {
		return 0;
	}
	if (ctm_rootfd_stat(fd, &inode) == 0 && S_ISDIR(inode.mode)) {
		dir = fdopendir(fd);
	}
	if (!dir) {
		(void)close(fd);
		return 0;
	}
	for (unsigned int i = 0; i < ENTRIES_MAX && r == 0; i++) {
		const struct dirent *entry = readdir(dir);

		if (!entry) {
			break;
		}
		r = look_at_list(dirfd(dir), entry->d_name, lists);
	}
	return r;
}

static bool exists(int root, const char *path)
{
	CLEANUP_CLOSE int fd = -1;

	return ctm_rootfd_open(root, path, strlen(path), &fd) == 0;
}

int ctm_packages_look(const struct ctm_plan *plan, int root, struct ctm_pkgfiles_found *ret,
		      struct ctm_err *err)
{
	CLEANUP(ctm_pkgfiles_freep) struct ctm_pkgfiles *files = NULL;
	struct lists lists = { 0 };
	int r = ctm_pkgfiles_new(plan, CTM_F_OWN_HOST, &files);

	if (r == 0) {
		lists.files = files;
		r = look_at_lists(root, &lists);
	}
	ctm_buf_done(&lists.text);
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	ctm_pkgfiles_found(files, ret);
	ret->rpm = exists(root, "var/lib/rpm") || exists(root, "usr/lib/sysimage/rpm");
	return 0;
}
