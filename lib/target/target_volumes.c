/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate: the volumes of a Proxmox VE container, rootfs and mpN of the current section.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/cephconf.h"
#include "config/mountmap.h"
#include "config/mountpoint.h"
#include "config/storagecfg.h"
#include "target/hostfile.h"
#include "target/locate.h"

#define MP_LAST 255

/* What the volumes have in common. */
struct context {
	struct ctm_target *target;
	const struct ctm_err *map_err; /* NULL: there is a map */
	struct ctm_storagecfg storages;
	struct ctm_err storage_err; /* why the storages are not known; code 0: they are */
	char fsid[CTM_CEPH_FSID];   /* of this cluster's own Ceph; "": none, or not known */
};

static int refuse_host_path(struct ctm_volume *volume, enum ctm_mount_class class)
{
	struct ctm_err err = { 0 };

	(void)ctm_err_set(&err, CTM_REFUSED, 0,
			  "'%s' is a %s of the host, its owners are the host's business",
			  volume->id, class == CTM_MOUNT_BIND ? "directory" : "device");
	ctm_err_hint(&err,
		     "if it is the container's alone, name the path itself, with --ct-config");
	return ctm_volume_refuse(volume, &err);
}

static int fill_host_path(struct ctm_volume *volume, const struct ctm_mountpoint *mp)
{
	volume->host = true;
	volume->kind = mp->class == CTM_MOUNT_BIND ? CTM_VOLUME_BIND : CTM_VOLUME_BLOCK;
	if (ctm_target_set(&volume->path, mp->volume) < 0 ||
	    (mp->class == CTM_MOUNT_DEVICE && ctm_target_set(&volume->format, "raw") < 0)) {
		return -ENOMEM;
	}
	return refuse_host_path(volume, mp->class);
}

/*
 * The link that PVE's udev rule makes (ceph-rbdnamer-pve); it is there while the image is mapped.
 */
static int fill_rbd(const struct context *context, struct ctm_volume *volume,
		    const struct ctm_storage_volume *found)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

	if (found->by_pve || context->fsid[0] == '\0') {
		volume->by_pve = true;
		return 0;
	}
	if (ctm_buf_addf(&path, "/dev/rbd-pve/%s/%s", context->fsid, found->rbd_image) < 0) {
		return -ENOMEM;
	}
	volume->path = TAKE_PTR(path.p);
	return 0;
}

static int take_found(const struct context *context, struct ctm_volume *volume,
		      struct ctm_storage_volume *found)
{
	volume->path = TAKE_PTR(found->path);
	volume->trusted_prefix = TAKE_PTR(found->trusted_prefix);
	volume->mount_root = TAKE_PTR(found->mount_root);
	volume->kind = found->kind;
	volume->base = found->base;
	volume->by_pve = found->by_pve;
	volume->activates = found->activates;
	if (ctm_target_set(&volume->format, found->format) < 0) {
		return -ENOMEM;
	}
	return found->rbd_image ? fill_rbd(context, volume, found) : 0;
}

static int fill_storage(struct context *context, struct ctm_volume *volume)
{
	CLEANUP(ctm_storage_volume_done) struct ctm_storage_volume found = { 0 };
	struct ctm_err err = { 0 };
	int r;

	if (context->storage_err.code != CTM_OK) {
		return ctm_volume_refuse(volume, &context->storage_err);
	}
	r = ctm_storage_resolve(&context->storages, volume->id, &found, &err);
	if (found.storage && (ctm_target_set(&volume->storage, found.storage->id) < 0 ||
			      ctm_target_set(&volume->type, found.storage->type) < 0)) {
		return -ENOMEM;
	}
	if (r == 0) {
		if (take_found(context, volume, &found) < 0) {
			return -ENOMEM;
		}
		r = ctm_storage_usable(found.storage, context->target->node, &err);
	}
	if (r == -ENOMEM) {
		return r;
	}
	return r < 0 ? ctm_volume_refuse(volume, &err) : 0;
}

/* idmap= is ignored by PVE for a privileged container. */
static int fill_map(struct context *context, struct ctm_volume *volume)
{
	const struct ctm_target *target = context->target;
	const char *option = target->privileged ? NULL : volume->idmap_opt;
	struct ctm_err err = { 0 };
	int r;

	if (context->map_err) {
		return ctm_volume_refuse(volume, context->map_err);
	}
	r = ctm_mountmap(target->map, option, &volume->map, &err);
	if (r == -ENOMEM) {
		return r;
	}
	volume->unshifted = target->privileged || (option && strcmp(option, "passthrough") == 0);
	return r < 0 ? ctm_volume_refuse(volume, &err) : 0;
}

static int refuse_value(struct ctm_volume *volume, const struct ctm_pctentry *entry,
			struct ctm_err *err)
{
	(void)ctm_err_wrap(err, "line %u", entry->line);
	ctm_err_hint(err,
		     "see: pct config; a newer version may have written it, PVE leaves it out");
	return ctm_volume_refuse(volume, err);
}

static int fill(struct context *context, struct ctm_volume *volume,
		const struct ctm_pctentry *entry)
{
	CLEANUP(ctm_mountpoint_done) struct ctm_mountpoint mp = { 0 };
	struct ctm_err err = { 0 };
	int r;

	r = ctm_mountpoint_parse(strcmp(volume->key, "rootfs") == 0, entry->value, &mp, &err);
	if (r == -ENOMEM) {
		return r;
	}
	if (r < 0) {
		return refuse_value(volume, entry, &err);
	}
	volume->readonly = mp.ro;
	if (ctm_target_set(&volume->id, mp.volume) < 0 || ctm_target_set(&volume->mp, mp.mp) < 0 ||
	    ctm_target_set(&volume->idmap_opt, mp.idmap) < 0) {
		return -ENOMEM;
	}
	r = mp.class == CTM_MOUNT_VOLUME ? fill_storage(context, volume) :
					   fill_host_path(volume, &mp);
	return r < 0 ? r : fill_map(context, volume);
}

static int add(struct context *context, const char *key)
{
	const struct ctm_pctentry *entry =
		ctm_pctconf_find(ctm_pctconf_current(&context->target->conf), key);
	struct ctm_volume *volume;

	if (!entry) {
		return 0;
	}
	volume = ctm_target_add_volume(context->target, key);
	return volume ? fill(context, volume, entry) : -ENOMEM;
}

static int add_missing_rootfs(struct ctm_target *target)
{
	struct ctm_volume *volume;
	struct ctm_err err = { 0 };

	if (ctm_target_volume(target, "rootfs")) {
		return 0;
	}
	(void)ctm_err_set(&err, CTM_REFUSED, 0, "the configuration has no rootfs");
	ctm_err_hint(&err, "look at it with: pct config %u", target->vmid);
	volume = ctm_target_add_volume(target, "rootfs");
	return volume ? ctm_volume_refuse(volume, &err) : -ENOMEM;
}

static int read_storages(const struct ctm_host *host, struct context *context)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err *err = &context->storage_err;
	int r;

	if (ctm_host_path(host, &path, "%s/storage.cfg", CTM_PLACE_PVE) < 0) {
		return -ENOMEM;
	}
	r = ctm_hostfile_read(path.p, &text, err);
	if (r == -ENOENT) {
		*err = (struct ctm_err){ 0 };
		r = 0;
	}
	if (r == 0) {
		r = ctm_storagecfg_parse((struct ctm_bytes){ text.p ? text.p : "", text.len },
					 &context->storages, err);
		if (r < 0) {
			(void)ctm_err_wrap(err, "'%s'", path.p);
		}
	}
	return r == -ENOMEM ? r : 0;
}

/* Without it rbd volumes are found by PVE's library. */
static int read_fsid(const struct ctm_host *host, struct context *context)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };

	if (ctm_host_path(host, &path, "%s/ceph.conf", CTM_PLACE_PVE) < 0) {
		return -ENOMEM;
	}
	if (ctm_hostfile_read(path.p, &text, NULL) < 0 ||
	    ctm_cephconf_fsid((struct ctm_bytes){ text.p, text.len }, context->fsid) < 0) {
		context->fsid[0] = '\0';
	}
	return 0;
}

int ctm_locate_pve_volumes(const struct ctm_host *host, struct ctm_target *target,
			   const struct ctm_err *map_err, struct ctm_err *err)
{
	struct context context = { .target = target, .map_err = map_err };
	char key[16];
	int r;

	r = read_storages(host, &context);
	r = r < 0 ? r : read_fsid(host, &context);
	if (r == 0) {
		r = add(&context, "rootfs");
	}
	if (r == 0) {
		r = add_missing_rootfs(target);
	}
	for (unsigned int i = 0; i <= MP_LAST && r == 0; i++) {
		(void)snprintf(key, sizeof(key), "mp%u", i);
		r = add(&context, key);
	}
	ctm_storagecfg_done(&context.storages);
	return r < 0 ? ctm_err_nomem(err) : 0;
}
