/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Storages that are a directory of the host: dir, nfs, cifs.
 *
 * A volume is PATH/images/VMID/NAME: a raw image or a folder "subvol-...subvol". content-dirs moves
 * images/. nfs and cifs may leave the path out, it is /mnt/pve/ID then.
 */
#include <string.h>

#include "base/cleanup.h"
#include "storage/images.h"
#include "storage/types.h"

/* The types whose path PVE mounts something on. */
static bool remote(const struct ctm_storage *storage)
{
	return strcmp(storage->type, "dir") != 0;
}

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
	r = ctm_images_dir(storage, true, &root, &path, err);
	r = r < 0 ? r : ctm_images_mount(storage, root.p, remote(storage), &ret->mount_root, err);
	if (r < 0) {
		return r;
	}
	r = ctm_buf_addf(&path, "/%u/%s", image.vmid, image.name);
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

const struct ctm_storage_type ctm_storage_dir = {
	.name = "dir",
	.required = { "path" },
	.resolve = resolve,
};
const struct ctm_storage_type ctm_storage_nfs = {
	.name = "nfs",
	.required = { "server", "export" },
	.activates = true,
	.resolve = resolve,
};
const struct ctm_storage_type ctm_storage_cifs = {
	.name = "cifs",
	.required = { "server", "share" },
	.activates = true,
	.resolve = resolve,
};
