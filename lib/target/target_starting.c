/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate, for a container that is being started.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/locate.h"

/*
 * Proxmox VE's own hook has mounted the rootfs before ours is called
 * (/usr/share/lxc/config/common.conf.d).
 */
static int move_to_mount(struct ctm_target *target, const char *rootfs, struct ctm_err *err)
{
	struct ctm_volume *volume = &target->volumes.v[0];

	if (rootfs[0] != '/') {
		return ctm_err_set(err, CTM_REFUSED, 0, "LXC_ROOTFS_PATH '%s' is no directory",
				   rootfs);
	}
	volume->kind = CTM_VOLUME_DIR;
	free(TAKE_PTR(volume->trusted_prefix));
	return ctm_target_set(&volume->path, rootfs) < 0 ? ctm_err_nomem(err) : 0;
}

/*
 * LXC keeps a container's configuration at LXCPATH/NAME/config, and its socket is named by LXCPATH.
 */
static int set_socket(struct ctm_target *target, const char *config, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf tail = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf lxcpath = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };
	size_t len = strlen(config);

	if (ctm_buf_addf(&tail, "/%s/config", target->name) < 0) {
		return ctm_err_nomem(err);
	}
	if (len <= tail.len || strcmp(config + len - tail.len, tail.p) != 0) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' is not where LXC keeps the configuration of '%s'", config,
				   target->name);
	}
	if (ctm_buf_add(&lxcpath, config, len - tail.len) < 0 ||
	    ctm_lxc_socket_name(lxcpath.p, target->name, &socket) < 0) {
		return ctm_err_nomem(err);
	}
	target->socket = TAKE_PTR(socket.p);
	return 0;
}

static int locate_plain(const char *name, const char *config, struct ctm_target **ret,
			struct ctm_err *err)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = calloc(1, sizeof(*target));
	int r;

	if (!target || ctm_target_set(&target->name, name) < 0 ||
	    ctm_target_set(&target->config_path, config) < 0) {
		return ctm_err_nomem(err);
	}
	target->kind = CTM_TARGET_LXC;
	r = ctm_locate_lxc_config(target, config, err);
	if (r == 0) {
		r = set_socket(target, config, err);
	}
	if (r == 0) {
		*ret = TAKE_PTR(target);
	}
	return r;
}

int ctm_target_locate_starting(const struct ctm_host *host, const char *name, const char *config,
			       const char *rootfs, struct ctm_target **ret, struct ctm_err *err)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	int r;

	if (ctm_target_kind_of(host, name) == CTM_TARGET_PATH) {
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' is no name of a container", name);
	}
	if (ctm_target_kind_of(host, name) == CTM_TARGET_LXC) {
		return locate_plain(name, config, ret, err);
	}
	r = ctm_target_locate(host, name, NULL, &target, err);
	if (r == 0) {
		r = move_to_mount(target, rootfs, err);
	}
	if (r == 0) {
		*ret = TAKE_PTR(target);
	}
	return r;
}
