/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * btrfs: the names of a dir storage. A folder is a subvolume of its own, a raw image is the
 * file disk.raw in a subvolume that has the image's name without ".raw". There is no
 * content-dirs.
 */
#include <string.h>

#include "base/cleanup.h"
#include "storage/images.h"
#include "storage/types.h"

static int resolve(const struct ctm_storage *storage, const char *name,
		   struct ctm_storage_volume *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf root = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	struct ctm_image_name image;
	int r;

	if (!ctm_image_name_parse(name, &image)) {
		return ctm_storage_bad_name(storage, name, err);
	}
	r = ctm_images_dir(storage, false, &root, &path, err);
	r = r < 0 ? r : ctm_images_mount(storage, root.p, false, &ret->mount_root, err);
	if (r < 0) {
		return r;
	}
	if (strcmp(image.format, "raw") == 0) {
		r = ctm_buf_addf(&path, "/%u/%.*s/disk.raw", image.vmid,
				 (int)(strlen(image.name) - strlen(".raw")), image.name);
	} else {
		r = ctm_buf_addf(&path, "/%u/%s", image.vmid, image.name);
	}
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	ret->path = TAKE_PTR(path.p);
	ret->format = image.format;
	ret->base = image.base;
	ret->kind = CTM_VOLUME_IMAGE;
	if (strcmp(image.format, "subvol") == 0) {
		ret->kind = CTM_VOLUME_DIR;
		ret->trusted_prefix = TAKE_PTR(root.p);
	}
	return 0;
}

const struct ctm_storage_type ctm_storage_btrfs = {
	.name = "btrfs",
	.required = { "path" },
	.resolve = resolve,
};
