/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the storages that are a directory of the host have in common: names and the folder of
 * images.
 */
#ifndef CTM_STORAGE_IMAGES_H
#define CTM_STORAGE_IMAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/err.h"
#include "config/storagecfg.h"

/**
 * "115/vm-115-disk-0.raw"; of a linked clone the base volume in front:
 * "114/base-...raw/115/vm-...raw".
 */
struct ctm_image_name {
	unsigned int vmid; /* the folder it lies in */
	const char *name;  /* the file's name, borrowed from what was parsed */
	const char *format;
	bool base;
};

/** Whether name is such a name, with a format that PVE knows: "raw", "subvol", "qcow2", "vmdk". */
bool ctm_image_name_parse(const char *name, struct ctm_image_name *ret);

/** Whether a relative path stays below where it starts: no part is "..", and it is not empty. */
bool ctm_path_stays_below(const char *path, size_t len);

/**
 * The storage's own directory (ret_root, no slash at the end) and the folder of its images
 * below it. content_dirs: whether the type has that property. CTM_REFUSED for a path that PVE
 * does not take.
 */
int ctm_images_dir(const struct ctm_storage *storage, bool content_dirs, struct ctm_buf *ret_root,
		   struct ctm_buf *ret_images, struct ctm_err *err);

/**
 * Where something must be mounted for the storage to be there: the path of is_mountpoint, or with
 * "yes" the storage's own, and that of a type that is mounted always. *ret stays NULL when there
 * is no such place. CTM_REFUSED for what is no path.
 */
int ctm_images_mount(const struct ctm_storage *storage, const char *root, bool always, char **ret,
		     struct ctm_err *err);

#endif
