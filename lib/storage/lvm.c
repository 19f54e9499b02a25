/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Storages on LVM: lvm and lvmthin. A volume is the logical volume /dev/VG/NAME.
 */
#include <string.h>

#include "base/cleanup.h"
#include "storage/types.h"
#include "storage/volname.h"

#define LETTERS_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* A letter or digit at both ends. */
static bool valid_volume(const char *name)
{
	size_t len = strlen(name);

	return len >= 2 && strspn(name, LETTERS_DIGITS "-_.") == len &&
	       strchr(LETTERS_DIGITS, name[0]) && strchr(LETTERS_DIGITS, name[len - 1]);
}

/* What lvm(8) takes for a volume group. */
static bool valid_group(const char *name)
{
	return name[0] != '\0' && name[0] != '-' &&
	       strspn(name, LETTERS_DIGITS "+_.-") == strlen(name) && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

static int fill_in(const struct ctm_storage *storage, const char *name,
		   struct ctm_storage_volume *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	const char *vg = ctm_storage_prop(storage, "vgname");

	if (!valid_group(vg)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "storage '%s' names no volume group: '%s'",
				   storage->id, vg);
	}
	if (ctm_buf_addf(&path, "/dev/%s/%s", vg, name) < 0) {
		return ctm_err_nomem(err);
	}
	ret->path = TAKE_PTR(path.p);
	ret->kind = CTM_VOLUME_BLOCK;
	return 0;
}

static int resolve_lvm(const struct ctm_storage *storage, const char *name,
		       struct ctm_storage_volume *ret, struct ctm_err *err)
{
	size_t len = strlen(name);

	if (!valid_volume(name) || !ctm_volname_has_prefix(name, "vm-")) {
		return ctm_storage_bad_name(storage, name, err);
	}
	ret->format = len > 6 && strcmp(name + len - 6, ".qcow2") == 0 ? "qcow2" : "raw";
	return fill_in(storage, name, ret, err);
}

static int resolve_lvmthin(const struct ctm_storage *storage, const char *name,
			   struct ctm_storage_volume *ret, struct ctm_err *err)
{
	ret->base = ctm_volname_has_prefix(name, "base-");
	if (!valid_volume(name) || (!ret->base && !ctm_volname_has_prefix(name, "vm-"))) {
		return ctm_storage_bad_name(storage, name, err);
	}
	ret->format = "raw";
	return fill_in(storage, name, ret, err);
}

const struct ctm_storage_type ctm_storage_lvm = {
	.name = "lvm",
	.required = { "vgname" },
	.activates = true,
	.resolve = resolve_lvm,
};
const struct ctm_storage_type ctm_storage_lvmthin = {
	.name = "lvmthin",
	.required = { "vgname", "thinpool" },
	.activates = true,
	.resolve = resolve_lvmthin,
};
