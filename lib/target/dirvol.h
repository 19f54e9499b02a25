/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory volume: reached without following a link that others could plant, and placed among
 * the mounts of the host.
 */
#ifndef CTM_TARGET_DIRVOL_H
#define CTM_TARGET_DIRVOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "target/target.h"

struct ctm_dirvol {
	int fd;       /* O_PATH, through the host's own mount */
	uint64_t ino; /* of the directory, with st_dev its name among inodes */
	dev_t st_dev; /* of the directory; a btrfs subvolume has its own */
	dev_t dev;    /* of the file system, as mountinfo has it; the same for all subvolumes */
	char *path;   /* where the host sees it, links resolved */
	char *inside; /* the same place as the file system's own root calls it */
	char *mount_point; /* of the mount that holds it */
	char *fstype;
	char *source; /* device, pool/dataset, ... */
	bool idmapped;
};

/**
 * From the storage's path (vol->trusted_prefix) downwards no link is followed; without one the
 * last component must not be a link. Only opens and looks. CTM_REFUSED when there is no such
 * directory or a link stands in the way.
 */
int ctm_dirvol_open(const struct ctm_volume *vol, struct ctm_dirvol *ret, struct ctm_err *err);
void ctm_dirvol_done(struct ctm_dirvol *dir);

/**
 * That this is the volume and can be worked on: no idmapped mount, no pseudo file system, FUSE or
 * overlay, not the host's root or the storage's own directory; a zfs dataset of the volume's
 * name, a btrfs subvolume.
 */
int ctm_dirvol_prove(const struct ctm_volume *vol, const struct ctm_dirvol *dir,
		     struct ctm_err *err);
/**
 * That the storage or the dataset is mounted where it belongs (vol->mount_root); for images too.
 * Not mounted, an old copy of the volume may lie in the folder below.
 */
int ctm_dirvol_prove_mounted(const struct ctm_volume *vol, struct ctm_err *err);
/** That the root of a container is at root: it holds the directories etc or usr. */
int ctm_dirvol_prove_rootfs(const struct ctm_volume *vol, int root, struct ctm_err *err);

#endif
