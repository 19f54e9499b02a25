/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is this directory the volume, and one that can be worked on? */
#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "target/dirvol.h"
#include "target/hostfile.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

/* The inode of the top directory of every btrfs subvolume (BTRFS_FIRST_FREE_OBJECTID). */
#define BTRFS_TOP_INODE 256

/*
 * libmount knows the pseudo file systems; it counts tmpfs among them, where a container can well
 * live (and overlay and FUSE, whose reasons are worth a sentence).
 */
static int suitable(const struct ctm_volume *vol, const struct ctm_dirvol *dir, struct ctm_err *err)
{
	int r;

	if (strcmp(dir->fstype, "overlay") == 0) {
		r = ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s' is on an overlay: every change would copy the file up and break "
			"its hard links",
			vol->path);
		ctm_err_hint(err, "repair the upper directory of the overlay itself");
		return r;
	}
	if (strcmp(dir->fstype, "fuse") == 0 || strncmp(dir->fstype, "fuse.", 5) == 0 ||
	    strcmp(dir->fstype, "fuseblk") == 0) {
		return ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s' is on a FUSE file system (%s), whose owners another program "
			"makes up",
			vol->path, dir->fstype);
	}
	if (strcmp(dir->fstype, "tmpfs") != 0 && mnt_fstype_is_pseudofs(dir->fstype)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is on %s: no place of a container",
				   vol->path, dir->fstype);
	}
	return 0;
}

static int is_inode_of(const char *path, const struct ctm_dirvol *dir, bool *ret)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		return -errno;
	}
	*ret = st.st_dev == dir->st_dev && st.st_ino == dir->ino;
	return 0;
}

/* The places that a mistyped path or a broken storage definition leads to. */
static int not_the_host(const struct ctm_volume *vol, const struct ctm_dirvol *dir,
			struct ctm_err *err)
{
	bool same = false;
	int r = is_inode_of("/", dir, &same);

	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at '/'");
	}
	if (same) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' is the root directory of this host, not a container",
				   vol->path);
	}
	if (!vol->trusted_prefix) {
		return 0;
	}
	r = is_inode_of(vol->trusted_prefix, dir, &same);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at '%s'", vol->trusted_prefix);
	}
	if (same) {
		return ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s' is the directory of the storage itself, not a volume on it",
			vol->path);
	}
	return 0;
}

/*
 * The part of a volume's id that names it on its storage: "zfs:basevol-9/subvol-1" -> "subvol-1".
 */
static const char *volume_name(const struct ctm_volume *vol)
{
	const char *colon = strchr(vol->id, ':');
	const char *slash = strrchr(vol->id, '/');

	return slash ? slash + 1 : colon ? colon + 1 : vol->id;
}

/*
 * A dataset that is not mounted leaves an empty directory of the parent dataset, at the same
 * path.
 */
static int prove_zfs(const struct ctm_volume *vol, const struct ctm_dirvol *dir,
		     struct ctm_err *err)
{
	const char *name = volume_name(vol);
	const char *slash = strrchr(dir->source, '/');
	int r;

	if (strcmp(dir->fstype, "zfs") == 0 && slash && strcmp(slash + 1, name) == 0 &&
	    strcmp(dir->inside, "/") == 0) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"'%s' is not the dataset '%s' but a place on '%s' (%s, mounted at '%s')",
			vol->path, name, dir->source, dir->fstype, dir->mount_point);
	ctm_err_hint(err, "is the dataset mounted? see: zfs list -o name,mounted,mountpoint");
	return r;
}

int ctm_dirvol_prove(const struct ctm_volume *vol, const struct ctm_dirvol *dir,
		     struct ctm_err *err)
{
	int r = suitable(vol, dir, err);

	r = r < 0 ? r : not_the_host(vol, dir, err);
	if (r < 0) {
		return r;
	}
	if (dir->idmapped) {
		r = ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s' is on an idmapped mount ('%s'), which hides the owners that are "
			"on the disk",
			vol->path, dir->mount_point);
		ctm_err_hint(err,
			     "name the volume where it is mounted without a map; 'ctmend explain "
			     "mount.idmapped' says more");
		return r;
	}
	if (vol->type && strcmp(vol->type, "zfspool") == 0) {
		return prove_zfs(vol, dir, err);
	}
	if (vol->type && strcmp(vol->type, "btrfs") == 0 &&
	    (strcmp(dir->fstype, "btrfs") != 0 || dir->ino != BTRFS_TOP_INODE)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is not a btrfs subvolume", vol->path);
	}
	return 0;
}

int ctm_dirvol_prove_mounted(const struct ctm_volume *vol, struct ctm_err *err)
{
	int r;

	/* of a dataset ctm_dirvol_prove() has more to say */
	if (!vol->mount_root || ctm_hostfile_is_mount(vol->mount_root) ||
	    strcmp(vol->mount_root, vol->path) == 0) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"nothing is mounted at '%s', so '%s' is not the volume", vol->mount_root,
			vol->path);
	ctm_err_hint(err, "see why with: pvesm status --storage %s",
		     vol->storage ? vol->storage : "");
	return r;
}

int ctm_dirvol_prove_rootfs(const struct ctm_volume *vol, int root, struct ctm_err *err)
{
	static const char *const either[] = { "etc", "usr" };

	for (size_t i = 0; i < ARRAY_LEN(either); i++) {
		struct ctm_inode inode;
		int r = ctm_rootfd_stat_at(root, either[i], &inode);

		if (r == 0 && S_ISDIR(inode.mode)) {
			return 0;
		}
		if (r < 0 && r != -ENOENT) {
			return ctm_err_set(err, CTM_SYS, r, "look at '%s/%s'", vol->path,
					   either[i]);
		}
	}
	return ctm_err_set(
		err, CTM_REFUSED, 0,
		"'%s' does not look like the root of a container: neither etc nor usr is a "
		"directory there",
		vol->path);
}
