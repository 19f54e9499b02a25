/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open a directory volume and find its place. */
#include "target/dirvol.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "target/mounttab.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

void ctm_dirvol_done(struct ctm_dirvol *dir)
{
	ctm_closep(&dir->fd);
	free(dir->path);
	free(dir->inside);
	free(dir->mount_point);
	free(dir->fstype);
	free(dir->source);
	*dir = (struct ctm_dirvol){ .fd = -1 };
}

static int missing(const struct ctm_volume *vol, int r, struct ctm_err *err)
{
	switch (r) {
	case -ENOENT:
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' does not exist", vol->path);
	case -ELOOP:
		return ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s': a symbolic link stands in the way, and links are not followed",
			vol->path);
	case -ENOTDIR:
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is not a directory", vol->path);
	default:
		return ctm_err_set(err, CTM_SYS, r, "open '%s'", vol->path);
	}
}

/* What stands below the storage's path was made by programs; a link there is somebody's trick. */
static int open_below(const char *prefix, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	CLEANUP_CLOSE int top = open(prefix, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t n = strlen(prefix);
	long fd;

	if (top < 0) {
		return -errno;
	}
	while (n > 0 && prefix[n - 1] == '/') {
		n--;
	}
	if (strncmp(path, prefix, n) != 0 || (path[n] != '/' && path[n] != '\0')) {
		return -EINVAL;
	}
	path += n + strspn(path + n, "/");
	fd = syscall(SYS_openat2, top, *path ? path : ".", &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

static int open_plain(const char *path)
{
	char clean[PATH_MAX];
	size_t n = strlen(path);
	int fd;

	/* A slash at the end would make the kernel follow a link. */
	while (n > 1 && path[n - 1] == '/') {
		n--;
	}
	if (n >= sizeof(clean)) {
		return -ENAMETOOLONG;
	}
	memcpy(clean, path, n);
	clean[n] = '\0';
	fd = open(clean, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_path(int fd, char **ret)
{
	char link[32];
	char path[PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0) {
		return -errno;
	}
	path[n] = '\0';
	if (path[0] != '/') {
		return -EXDEV; /* "(unreachable)..." */
	}
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

/* Where the directory is, in the words of the mount that holds it. */
static int locate(struct ctm_dirvol *dir, uint64_t mnt_id)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf inside = { 0 };
	struct libmnt_fs *fs;
	int r = read_path(dir->fd, &dir->path);

	r = r < 0 ? r : ctm_mounttab_read("/proc/self/mountinfo", &table);
	if (r < 0) {
		return r;
	}
	r = ctm_mounttab_by_id(table, mnt_id, &fs);
	r = r < 0 ? r : ctm_mounttab_inside(fs, dir->path, &inside);
	if (r < 0) {
		return r;
	}
	dir->inside = TAKE_PTR(inside.p);
	dir->dev = mnt_fs_get_devno(fs);
	dir->idmapped = ctm_mounttab_idmapped(fs);
	dir->mount_point = strdup(mnt_fs_get_target(fs));
	dir->fstype = strdup(mnt_fs_get_fstype(fs) ? mnt_fs_get_fstype(fs) : "");
	dir->source = strdup(mnt_fs_get_source(fs) ? mnt_fs_get_source(fs) : "");
	return dir->mount_point && dir->fstype && dir->source ? 0 : -ENOMEM;
}

int ctm_dirvol_open(const struct ctm_volume *vol, struct ctm_dirvol *ret, struct ctm_err *err)
{
	CLEANUP(ctm_dirvol_done) struct ctm_dirvol dir = { .fd = -1 };
	struct ctm_inode inode;
	int r;

	dir.fd = vol->trusted_prefix ? open_below(vol->trusted_prefix, vol->path) :
				       open_plain(vol->path);
	if (dir.fd < 0) {
		return missing(vol, dir.fd, err);
	}
	r = ctm_rootfd_stat(dir.fd, &inode);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at '%s'", vol->path);
	}
	if (!S_ISDIR(inode.mode)) {
		return missing(vol, S_ISLNK(inode.mode) ? -ELOOP : -ENOTDIR, err);
	}
	r = ctm_pin_check(&vol->pin, dir.fd, vol->path, err);
	if (r < 0) {
		return r;
	}
	dir.st_dev = inode.dev;
	dir.ino = inode.ino;
	r = locate(&dir, inode.mnt_id);
	if (r == -ENOMEM) {
		return ctm_err_nomem(err);
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_REFUSED, r,
				   "'%s': cannot find out on which mount it is (%s)", vol->path,
				   strerrordesc_np(-r));
	}
	*ret = dir;
	dir = (struct ctm_dirvol){ .fd = -1 };
	return 0;
}
