/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open images and block devices. */
#include "target/rawvol.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

CTM_HOST_PATHS

#define PROC_FD_LEN 32

void ctm_rawvol_done(struct ctm_rawvol *raw)
{
	ctm_closep(&raw->fd);
	free(raw->node);
	free(raw->path);
	*raw = (struct ctm_rawvol){ .fd = -1 };
}

static int missing(const struct ctm_volume *vol, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' does not exist", vol->path);

	if (vol->type && strncmp(vol->type, "lvm", 3) == 0) {
		ctm_err_hint(err, "activate the volume with: lvchange -ay -K %s",
			     strncmp(vol->path, "/dev/", 5) == 0 ? vol->path + 5 : vol->path);
	}
	return r;
}

static int check_type(const struct ctm_volume *vol, mode_t mode, struct ctm_err *err)
{
	if (vol->kind == CTM_VOLUME_BLOCK && !S_ISBLK(mode)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is not a block device", vol->path);
	}
	if (vol->kind == CTM_VOLUME_IMAGE && !S_ISREG(mode)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is not a regular file", vol->path);
	}
	return 0;
}

static int resolve(const char *link, char **ret)
{
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	if (n < 0) {
		return -errno;
	}
	path[n] = '\0';
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

/* Opens what seen (O_PATH) names and fills in the rest. */
static int open_seen(const struct ctm_volume *vol, int seen, bool writable, struct ctm_rawvol *raw)
{
	char link[PROC_FD_LEN];
	struct stat st;
	int r;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", seen);
	r = resolve(link, &raw->node);
	if (r < 0) {
		return r;
	}
	/*
	 * A block device is never opened for writing: a kernel without BLK_DEV_WRITE_MOUNTED
	 * would refuse the mount, and udev probes a device again when a writer closes it. The
	 * mount writes by itself.
	 */
	raw->fd = vol->kind == CTM_VOLUME_BLOCK ?
			  open(link, O_RDONLY | O_CLOEXEC) :
			  open(link, (writable ? O_RDWR : O_RDONLY) | O_NOATIME | O_CLOEXEC);
	if (raw->fd < 0 || fstat(raw->fd, &st) < 0) {
		return -errno;
	}
	raw->block = S_ISBLK(st.st_mode);
	raw->dev = raw->block ? st.st_rdev : st.st_dev;
	raw->ino = raw->block ? 0 : st.st_ino;
	raw->path = strdup(raw->block && vol->path[0] == '/' ? vol->path : raw->node);
	return raw->path ? 0 : -ENOMEM;
}

int ctm_rawvol_open(const struct ctm_volume *vol, bool writable, struct ctm_rawvol *ret,
		    struct ctm_err *err)
{
	CLEANUP(ctm_rawvol_done) struct ctm_rawvol raw = { .fd = -1 };
	CLEANUP_CLOSE int seen = open(vol->path, O_PATH | O_CLOEXEC);
	struct stat st;
	int r;

	if (seen < 0 && errno == ENOENT) {
		return missing(vol, err);
	}
	if (seen < 0 || fstat(seen, &st) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "open '%s'", vol->path);
	}
	r = ctm_pin_check(&vol->pin, seen, vol->path, err);
	r = r < 0 ? r : check_type(vol, st.st_mode, err);
	if (r < 0) {
		return r;
	}
	r = open_seen(vol, seen, writable, &raw);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "open '%s'", vol->path);
	}
	*ret = raw;
	raw = (struct ctm_rawvol){ .fd = -1 };
	return 0;
}

int ctm_rawvol_exclusive(const struct ctm_rawvol *raw)
{
	char link[PROC_FD_LEN];
	CLEANUP_CLOSE int fd = -1;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", raw->fd);
	fd = open(link, O_RDONLY | O_EXCL | O_CLOEXEC);
	return fd < 0 ? -errno : 0;
}

/* The kernel's name of the device, "dm-3": the last part of its place below /sys/devices. */
static int kernel_name(dev_t dev, char *ret, size_t size)
{
	char path[64];
	char link[PATH_MAX];
	const char *slash;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0) {
		return -errno;
	}
	link[n] = '\0';
	slash = strrchr(link, '/');
	return snprintf(ret, size, "%s", slash ? slash + 1 : link) < (int)size ? 0 : -ENAMETOOLONG;
}

/* A btrfs has a folder by its UUID, with the names of its devices in one below. */
static bool has_btrfs(const char *name)
{
	DIR *dir = opendir("/sys/fs/btrfs");
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		char path[512];

		found = snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/devices/%s", entry->d_name,
				 name) < (int)sizeof(path) &&
			access(path, F_OK) == 0;
	}
	if (dir) {
		(void)closedir(dir);
	}
	return found;
}

int ctm_rawvol_mounted(const struct ctm_rawvol *raw)
{
	static const char *const types[] = { "ext4", "xfs", "f2fs" };
	char name[256];
	int r = kernel_name(raw->dev, name, sizeof(name));

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		char path[512];

		if (snprintf(path, sizeof(path), "/sys/fs/%s/%s", types[i], name) <
			    (int)sizeof(path) &&
		    access(path, F_OK) == 0) {
			return 1;
		}
	}
	return has_btrfs(name);
}
