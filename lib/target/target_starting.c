/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate, for a container that is being started.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/locate.h"
#include "target/starter.h"

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
	volume->by_pve = false;
	free(TAKE_PTR(volume->trusted_prefix));
	free(TAKE_PTR(volume->mount_root));
	return ctm_target_set(&volume->path, rootfs) < 0 ? ctm_err_nomem(err) : 0;
}

/* Length of the path in front of "/NAME/config", 0 when it does not end like that. */
static size_t lxcpath_len(const char *name, const char *config)
{
	static const char last[] = "/config";
	size_t len = strlen(config);
	size_t name_len = strlen(name);

	if (len < strlen(last) || strcmp(config + len - strlen(last), last) != 0) {
		return 0;
	}
	len -= strlen(last);
	if (len <= name_len + 1 || memcmp(config + len - name_len, name, name_len) != 0 ||
	    config[len - name_len - 1] != '/') {
		return 0;
	}
	return len - name_len - 1;
}

/*
 * LXC keeps a container's configuration at LXCPATH/NAME/config, and its socket is named by LXCPATH.
 * With lxc-start --rcfile it is another file; LXCPATH then is the usual one, or nobody knows.
 */
static int plain_socket(const char *name, const char *config, struct ctm_buf *ret)
{
	CLEANUP(ctm_buf_done) struct ctm_buf lxcpath = { 0 };
	size_t len = lxcpath_len(name, config);
	int r = len > 0 ? ctm_buf_add(&lxcpath, config, len) :
			  ctm_buf_addf(&lxcpath, "%s", CTM_PLACE_LXC);

	return r < 0 ? r : ctm_lxc_socket_name(lxcpath.p, name, ret);
}

int ctm_starter_socket(const struct ctm_host *host, const char *name, const char *config,
		       struct ctm_buf *ret, struct ctm_err *err)
{
	int r;

	switch (ctm_target_kind_of(host, name)) {
	case CTM_TARGET_PVE:
		r = ctm_lxc_socket_name(CTM_PLACE_LXC, name, ret);
		break;
	case CTM_TARGET_LXC:
		r = plain_socket(name, config, ret);
		break;
	case CTM_TARGET_PATH:
	default:
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' is no name of a container", name);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

static int locate_plain(const struct ctm_host *host, const char *name, const char *config,
			struct ctm_target **ret, struct ctm_err *err)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = calloc(1, sizeof(*target));
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };
	int r;

	if (!target || ctm_target_set(&target->name, name) < 0 ||
	    ctm_target_set(&target->config_path, config) < 0) {
		return ctm_err_nomem(err);
	}
	target->kind = CTM_TARGET_LXC;
	r = ctm_locate_lxc_config(host, target, config, err);
	if (r == 0 && lxcpath_len(name, config) == 0) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"'%s' is not where LXC keeps the configuration of '%s'", config,
				name);
	}
	if (r == 0 && plain_socket(name, config, &socket) < 0) {
		r = ctm_err_nomem(err);
	}
	if (r == 0) {
		target->socket = TAKE_PTR(socket.p);
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
		return locate_plain(host, name, config, ret, err);
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
