/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rbd: an image of a Ceph pool, which the kernel maps to a block device. Without krbd it is mapped
 * all the same for a container (RBDPlugin map_volume). Of a linked clone the base image stands in
 * front of the name and is no part of it.
 */
#include <string.h>

#include "base/cleanup.h"
#include "storage/types.h"
#include "storage/volname.h"

/* What a pool, a namespace or an image is called, if its device's path is to be sure. */
static bool valid_part(const char *name)
{
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		return false;
	}
	for (const char *p = name; *p != '\0'; p++) {
		if (*p == '/' || *p == '@' || (unsigned char)*p < 0x21 || *p == 0x7f) {
			return false;
		}
	}
	return true;
}

static int refuse_part(const struct ctm_storage *storage, const char *what, const char *name,
		       struct ctm_err *err)
{
	return ctm_err_set(err, CTM_REFUSED, 0, "storage '%s' names no %s: '%s'", storage->id, what,
			   name);
}

static int resolve(const struct ctm_storage *storage, const char *name,
		   struct ctm_storage_volume *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf image = { 0 };
	const char *pool = ctm_storage_prop(storage, "pool");
	const char *space = ctm_storage_prop(storage, "namespace");
	const char *slash = strchr(name, '/');
	const char *last = slash ? slash + 1 : name;

	ret->base = ctm_volname_has_prefix(last, "base-");
	if ((!ret->base && !ctm_volname_has_prefix(last, "vm-")) || !valid_part(last) ||
	    (slash && !ctm_volname_has_prefix(name, "base-"))) {
		return ctm_storage_bad_name(storage, name, err);
	}
	/* PVE's own default */
	pool = pool ? pool : "rbd";
	if (!valid_part(pool)) {
		return refuse_part(storage, "pool", pool, err);
	}
	if (space && !valid_part(space)) {
		return refuse_part(storage, "namespace", space, err);
	}
	if (ctm_buf_addf(&image, "%s%s%s/%s", pool, space ? "/" : "", space ? space : "", last) <
	    0) {
		return ctm_err_nomem(err);
	}
	ret->rbd_image = TAKE_PTR(image.p);
	/* An external cluster's id is known to that cluster alone. */
	ret->by_pve = ctm_storage_prop(storage, "monhost") != NULL;
	ret->format = "raw";
	ret->kind = CTM_VOLUME_BLOCK;
	return 0;
}

const struct ctm_storage_type ctm_storage_rbd = {
	.name = "rbd",
	.activates = true,
	.resolve = resolve,
};
