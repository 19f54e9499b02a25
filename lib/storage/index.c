/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of storage types, and what is the same for all of them.
 */
#include "storage/types.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/lines.h"

/* By name. */
const struct ctm_storage_type *const ctm_storage_types[] = {
	&ctm_storage_btrfs,   &ctm_storage_cephfs,  &ctm_storage_cifs,        &ctm_storage_dir,
	&ctm_storage_esxi,    &ctm_storage_iscsi,   &ctm_storage_iscsidirect, &ctm_storage_lvm,
	&ctm_storage_lvmthin, &ctm_storage_nfs,     &ctm_storage_pbs,         &ctm_storage_rbd,
	&ctm_storage_zfs,     &ctm_storage_zfspool,
};
const size_t ctm_storage_types_n = ARRAY_LEN(ctm_storage_types);

void ctm_storage_volume_done(struct ctm_storage_volume *volume)
{
	free(volume->path);
	free(volume->trusted_prefix);
	free(volume->rbd_image);
	free(volume->mount_root);
	*volume = (struct ctm_storage_volume){ 0 };
}

const struct ctm_storage_type *ctm_storage_type_find(const char *name)
{
	for (size_t i = 0; i < ctm_storage_types_n; i++) {
		if (strcmp(ctm_storage_types[i]->name, name) == 0) {
			return ctm_storage_types[i];
		}
	}
	return NULL;
}

static int check_required(const struct ctm_storage *storage, const struct ctm_storage_type *type,
			  struct ctm_err *err)
{
	for (size_t i = 0; i < CTM_STORAGE_REQUIRED_MAX && type->required[i]; i++) {
		const char *value = ctm_storage_prop(storage, type->required[i]);

		if (!value || value[0] == '\0') {
			(void)ctm_err_set(
				err, CTM_REFUSED, 0,
				"storage '%s' (storage.cfg line %u) lacks the property '%s'",
				storage->id, storage->line, type->required[i]);
			ctm_err_hint(err,
				     "Proxmox VE ignores such a storage; look with: pvesm status");
			return -EPERM;
		}
	}
	return 0;
}

/* A plugin of a third party: its names and paths are its own. */
static int resolve_foreign(const char *volid, const char *name, struct ctm_storage_volume *ret,
			   struct ctm_err *err)
{
	for (const char *p = name; *p != '\0'; p++) {
		if (ctm_is_space(*p) || iscntrl((unsigned char)*p)) {
			return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is no volume id", volid);
		}
	}
	ret->by_pve = true;
	ret->activates = true;
	ret->kind = CTM_VOLUME_BLOCK;
	return 0;
}

int ctm_storage_resolve(const struct ctm_storagecfg *cfg, const char *volid,
			struct ctm_storage_volume *ret, struct ctm_err *err)
{
	const char *colon = strchr(volid, ':');
	const struct ctm_storage_type *type;
	CLEANUP_FREE char *id = NULL;
	int r;

	if (!colon || colon[1] == '\0' ||
	    !ctm_storage_id_valid((struct ctm_bytes){ volid, (size_t)(colon - volid) })) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is no volume id", volid);
	}
	id = strndup(volid, (size_t)(colon - volid));
	if (!id) {
		return ctm_err_nomem(err);
	}
	ret->storage = ctm_storagecfg_find(cfg, id);
	if (!ret->storage) {
		(void)ctm_err_set(err, CTM_REFUSED, 0, "storage '%s' of '%s' is not in storage.cfg",
				  id, volid);
		ctm_err_hint(err, "see what is there with: pvesm status");
		return -EPERM;
	}
	type = ctm_storage_type_find(ret->storage->type);
	if (!type) {
		return resolve_foreign(volid, colon + 1, ret, err);
	}
	if (type->refusal) {
		(void)ctm_err_set(err, CTM_REFUSED, 0, "storage '%s' is of type '%s': %s", id,
				  ret->storage->type, type->refusal);
		ctm_err_hint(err, "%s", type->hint);
		return -EPERM;
	}
	r = check_required(ret->storage, type, err);
	if (r < 0) {
		return r;
	}
	ret->activates = type->activates;
	r = type->resolve(ret->storage, colon + 1, ret, err);
	if (r < 0) {
		return r;
	}
	if (strcmp(ret->format, "raw") != 0 && strcmp(ret->format, "subvol") != 0) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' has the format '%s', which no container has", volid,
				   ret->format);
	}
	return 0;
}

/* Whether word is in a list with commas, semicolons or blanks between the words. */
static bool in_list(const char *list, const char *word)
{
	static const char separators[] = ",; \t";

	for (const char *p = list + strspn(list, separators); *p != '\0';
	     p += strspn(p, separators)) {
		size_t len = strcspn(p, separators);

		if (len == strlen(word) && memcmp(p, word, len) == 0) {
			return true;
		}
		p += len;
	}
	return false;
}

int ctm_storage_usable(const struct ctm_storage *storage, const char *node, struct ctm_err *err)
{
	const char *nodes = ctm_storage_prop(storage, "nodes");

	if (ctm_storage_flag(storage, "disable")) {
		(void)ctm_err_set(err, CTM_REFUSED, 0, "storage '%s' is disabled", storage->id);
		ctm_err_hint(err, "enable it with: pvesm set %s --disable 0", storage->id);
		return -EPERM;
	}
	if (node && nodes && nodes[0] != '\0' && !in_list(nodes, node)) {
		(void)ctm_err_set(err, CTM_REFUSED, 0,
				  "storage '%s' is not for node '%s' but for '%s'", storage->id,
				  node, nodes);
		ctm_err_hint(err, "run ctmend on a node that has the storage");
		return -EPERM;
	}
	return 0;
}

int ctm_storage_bad_name(const struct ctm_storage *storage, const char *name, struct ctm_err *err)
{
	(void)ctm_err_set(err, CTM_REFUSED, 0,
			  "'%s' is no container volume of a storage of type '%s'", name,
			  storage->type);
	ctm_err_hint(err, "see the volumes with: pvesm list %s", storage->id);
	return -EPERM;
}
