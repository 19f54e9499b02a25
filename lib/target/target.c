/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate: which kind of target a name is, and the life of the result.
 */
#include "target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/hostfile.h"
#include "target/locate.h"

static void volume_done(struct ctm_volume *volume)
{
	free(volume->key);
	free(volume->id);
	free(volume->storage);
	free(volume->type);
	free(volume->path);
	free(volume->format);
	free(volume->mp);
	free(volume->idmap_opt);
	free(volume->trusted_prefix);
	free(volume->mount_root);
	free(volume->refusal);
	free(volume->hint);
	ctm_idmap_free(volume->map);
}

void ctm_target_free(struct ctm_target *target)
{
	if (!target) {
		return;
	}
	for (size_t i = 0; i < target->volumes.n; i++) {
		volume_done(&target->volumes.v[i]);
	}
	for (size_t i = 0; i < target->warnings.n; i++) {
		free(target->warnings.v[i]);
	}
	for (size_t i = 0; i < target->idmap.n; i++) {
		free(target->idmap.v[i]);
	}
	ctm_vec_done(&target->volumes);
	ctm_vec_done(&target->warnings);
	ctm_vec_done(&target->idmap);
	ctm_idmap_free(target->map);
	ctm_pctconf_done(&target->conf);
	free(target->name);
	free(target->node);
	free(target->config_path);
	free(target->lock);
	free(target->hookscript);
	free(target->socket);
	free(target);
}

struct ctm_volume *ctm_target_add_volume(struct ctm_target *target, const char *key)
{
	struct ctm_volume one = { .key = strdup(key) };

	if (!one.key || ctm_vec_push(&target->volumes, &one) < 0) {
		free(one.key);
		return NULL;
	}
	return &target->volumes.v[target->volumes.n - 1];
}

int ctm_target_set(char **field, const char *value)
{
	char *copy = value ? strdup(value) : NULL;

	if (value && !copy) {
		return -ENOMEM;
	}
	free(*field);
	*field = copy;
	return 0;
}

int ctm_target_take_map(struct ctm_target *target, struct ctm_ctmap *ctmap)
{
	for (size_t i = 0; i < ctmap->lines.n; i++) {
		if (ctm_vec_push(&target->idmap, &ctmap->lines.v[i]) < 0) {
			return -ENOMEM;
		}
		ctmap->lines.v[i] = NULL;
	}
	target->map = TAKE_PTR(ctmap->map);
	target->privileged = ctmap->privileged;
	return 0;
}

int ctm_volume_refuse(struct ctm_volume *volume, const struct ctm_err *why)
{
	if (volume->refusal) {
		return 0;
	}
	if (ctm_target_set(&volume->refusal, why->msg) < 0) {
		return -ENOMEM;
	}
	return why->hint[0] != '\0' ? ctm_target_set(&volume->hint, why->hint) : 0;
}

const struct ctm_volume *ctm_target_volume(const struct ctm_target *target, const char *key)
{
	for (size_t i = 0; i < target->volumes.n; i++) {
		if (strcmp(target->volumes.v[i].key, key) == 0) {
			return &target->volumes.v[i];
		}
	}
	return NULL;
}

int ctm_target_pick(const struct ctm_target *target, const char *key, const struct ctm_volume **ret,
		    struct ctm_err *err)
{
	const struct ctm_volume *volume = ctm_target_volume(target, key);
	int r;

	if (!volume) {
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' has no volume '%s'", target->name, key);
	}
	if (volume->refusal) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "%s of '%s': %s", key, target->name,
				volume->refusal);
		ctm_err_hint(err, "%s", volume->hint ? volume->hint : "");
		return r;
	}
	*ret = volume;
	return 0;
}

bool ctm_locate_is_id(const char *name)
{
	return name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
}

static bool place_exists(const struct ctm_host *host, const char *place)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

	return ctm_host_path(host, &path, "%s", place) == 0 && ctm_hostfile_exists(path.p);
}

bool ctm_locate_have_pve(const struct ctm_host *host)
{
	return place_exists(host, CTM_PLACE_PVE "/local") ||
	       (host->sysroot && host->sysroot[0] != '\0' &&
		place_exists(host, CTM_PLACE_PVE "/lxc"));
}

int ctm_locate_pve_down(const struct ctm_host *host, struct ctm_err *err)
{
	int r;

	if (!place_exists(host, CTM_PLACE_PVE)) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			CTM_PLACE_PVE " holds no configurations, Proxmox VE's cluster file system "
				      "is not mounted");
	ctm_err_hint(err, "start it with: systemctl start pve-cluster");
	return r;
}

enum ctm_target_kind ctm_target_kind_of(const struct ctm_host *host, const char *name)
{
	if (strchr(name, '/')) {
		return CTM_TARGET_PATH;
	}
	return ctm_locate_is_id(name) && ctm_locate_have_pve(host) ? CTM_TARGET_PVE :
								     CTM_TARGET_LXC;
}

static int dispatch(const struct ctm_host *host, const struct ctm_target_opts *opts,
		    struct ctm_target *target, struct ctm_err *err)
{
	const char *name = target->name;
	int r;

	if (strchr(name, '/')) {
		target->kind = CTM_TARGET_PATH;
		return ctm_locate_path(host, opts, target, err);
	}
	if (opts->map_spec || opts->ct_config) {
		r = ctm_err_set(err, CTM_USAGE, 0, "%s is for a path, '%s' is a container",
				opts->map_spec ? "--map" : "--ct-config", name);
		ctm_err_hint(err, "for a file or folder of that name write ./%s", name);
		return r;
	}
	if (ctm_locate_is_id(name)) {
		if (ctm_locate_have_pve(host)) {
			target->kind = CTM_TARGET_PVE;
			return ctm_locate_pve(host, target, err);
		}
		r = ctm_locate_pve_down(host, err);
		if (r < 0) {
			return ctm_err_wrap(err, "container %s", name);
		}
	}
	target->kind = CTM_TARGET_LXC;
	return ctm_locate_lxc(host, target, err);
}

int ctm_target_locate(const struct ctm_host *host, const char *name,
		      const struct ctm_target_opts *opts, struct ctm_target **ret,
		      struct ctm_err *err)
{
	static const struct ctm_target_opts defaults = { 0 };
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	const struct ctm_volume *volume;
	int r;

	if (name[0] == '\0') {
		return ctm_err_set(err, CTM_USAGE, 0, "the name of a container is empty");
	}
	opts = opts ? opts : &defaults;
	target = calloc(1, sizeof(*target));
	if (!target || ctm_target_set(&target->name, name) < 0) {
		return ctm_err_nomem(err);
	}
	r = dispatch(host, opts, target, err);
	if (r < 0) {
		return r;
	}
	if (!opts->keep_refused) {
		r = ctm_target_pick(target, "rootfs", &volume, err);
		if (r < 0) {
			return r;
		}
	}
	*ret = TAKE_PTR(target);
	return 0;
}
