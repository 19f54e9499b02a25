/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is this volume? */
#include "target/volident.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/cleanup.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

static int copy(char *to, size_t size, const char *from, const char *what, struct ctm_err *err)
{
	if (strlen(from) >= size) {
		return ctm_err_set(err, CTM_SYS, ENAMETOOLONG, "%s '%s'", what, from);
	}
	(void)snprintf(to, size, "%s", from);
	return 0;
}

static void format_uuid(const unsigned char b[static 16], char *to, size_t size)
{
	(void)snprintf(to, size,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
		       b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		       b[13], b[14], b[15]);
}

/* What both kinds have: names, and the root inode. */
static int fill(const struct ctm_volume *vol, const char *path, int root, struct ctm_identity *id,
		struct ctm_err *err)
{
	struct ctm_inode inode;
	/* a path can be typed in many ways, a volume id in one */
	int r = copy(id->volume_id, sizeof(id->volume_id), vol->storage ? vol->id : path, "volume",
		     err);

	r = r < 0 ? r : copy(id->path, sizeof(id->path), path, "path", err);
	if (r < 0) {
		return r;
	}
	r = ctm_rootfd_stat(root, &inode);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at the root of '%s'", path);
	}
	id->root_ino = inode.ino;
	id->root_btime_sec = inode.btime.tv_sec;
	id->root_btime_nsec = (uint32_t)inode.btime.tv_nsec;
	return 0;
}

/* The UUIDs of the file system and of the subvolume. */
static int fill_btrfs(int root, struct ctm_identity *id)
{
	CLEANUP_CLOSE int fd = -1;
	static const unsigned char none[BTRFS_UUID_SIZE];
	struct btrfs_ioctl_fs_info_args fs = { 0 };
	struct btrfs_ioctl_get_subvol_info_args subvol = { 0 };
	/* an ioctl needs a real descriptor */
	int r = ctm_rootfd_open_content(root, "", 0, &fd);

	if (r < 0) {
		return r;
	}
	if (ioctl(fd, BTRFS_IOC_FS_INFO, &fs) < 0 ||
	    ioctl(fd, BTRFS_IOC_GET_SUBVOL_INFO, &subvol) < 0) {
		return -errno;
	}
	format_uuid(fs.fsid, id->uuid, sizeof(id->uuid));
	/* the top-level subvolume of an old file system has none */
	if (memcmp(subvol.uuid, none, sizeof(none)) != 0) {
		format_uuid(subvol.uuid, id->subvol, sizeof(id->subvol));
	}
	return 0;
}

static int fill_zfs(const struct ctm_dirvol *dir, int root, struct ctm_identity *id,
		    struct ctm_err *err)
{
	struct statfs fs;
	uint32_t part[2];
	int r = copy(id->subvol, sizeof(id->subvol), dir->source, "dataset", err);

	if (r < 0) {
		return r;
	}
	if (fstatfs(root, &fs) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "look at the file system of '%s'",
				   dir->path);
	}
	_Static_assert(sizeof(fs.f_fsid) == sizeof(part), "an fsid is two words");
	memcpy(part, &fs.f_fsid, sizeof(part));
	(void)snprintf(id->uuid, sizeof(id->uuid), "%08x%08x", part[1], part[0]);
	return 0;
}

/*
 * The UUID of the file system that a directory is on: from the block device, if its source is one
 * and is the one that is mounted.
 */
static void fill_uuid_of_device(const struct ctm_dirvol *dir, struct ctm_identity *id)
{
	CLEANUP_CLOSE int fd = -1;
	struct ctm_fsprobe probe;
	struct stat st;

	if (dir->source[0] != '/') {
		return;
	}
	fd = open(dir->source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode) || st.st_rdev != dir->dev) {
		return;
	}
	if (ctm_fsprobe(fd, dir->source, &probe, NULL) == 0) {
		(void)snprintf(id->uuid, sizeof(id->uuid), "%s", probe.uuid);
	}
}

int ctm_volident_dir(const struct ctm_volume *vol, const struct ctm_dirvol *dir, int root,
		     struct ctm_identity *ret, struct ctm_err *err)
{
	CLEANUP_FREE struct ctm_identity *id = calloc(1, sizeof(*id));
	int r;

	if (!id) {
		return ctm_err_nomem(err);
	}
	r = fill(vol, dir->path, root, id, err);
	r = r < 0 ? r : copy(id->fstype, sizeof(id->fstype), dir->fstype, "file system", err);
	if (r < 0) {
		return r;
	}
	if (strcmp(dir->fstype, "btrfs") == 0) {
		r = fill_btrfs(root, id);
		if (r < 0) {
			return ctm_err_set(err, CTM_SYS, r, "read the UUID of '%s'", dir->path);
		}
	} else if (strcmp(dir->fstype, "zfs") == 0) {
		r = fill_zfs(dir, root, id, err);
		if (r < 0) {
			return r;
		}
	} else {
		fill_uuid_of_device(dir, id);
	}
	*ret = *id;
	return 0;
}

int ctm_volident_raw(const struct ctm_volume *vol, const char *path,
		     const struct ctm_fsprobe *probe, int root, struct ctm_identity *ret,
		     struct ctm_err *err)
{
	CLEANUP_FREE struct ctm_identity *id = calloc(1, sizeof(*id));
	int r;

	if (!id) {
		return ctm_err_nomem(err);
	}
	r = fill(vol, path, root, id, err);
	if (r < 0) {
		return r;
	}
	_Static_assert(sizeof(id->fstype) >= sizeof(probe->type), "a type fits");
	_Static_assert(sizeof(id->uuid) >= sizeof(probe->uuid), "a UUID fits");
	memcpy(id->fstype, probe->type, sizeof(probe->type));
	memcpy(id->uuid, probe->uuid, sizeof(probe->uuid));
	if (strcmp(probe->type, "btrfs") == 0) {
		r = fill_btrfs(root, id);
		if (r < 0) {
			return ctm_err_set(err, CTM_SYS, r, "read the UUID of '%s'", path);
		}
	}
	*ret = *id;
	return 0;
}
