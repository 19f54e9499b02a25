/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the files that locate a target: one for each way to name it, and their helpers.
 */
#ifndef CTM_TARGET_LOCATE_H
#define CTM_TARGET_LOCATE_H

#include "base/bytes.h"
#include "config/ctmap.h"
#include "config/lxcconf.h"
#include "target/target.h"

/* Each fills in a target that has its kind, name and nothing else. */
int ctm_locate_pve(const struct ctm_host *host, struct ctm_target *target, struct ctm_err *err);
int ctm_locate_lxc(const struct ctm_host *host, struct ctm_target *target, struct ctm_err *err);
int ctm_locate_path(const struct ctm_host *host, const struct ctm_target_opts *opts,
		    struct ctm_target *target, struct ctm_err *err);

/** Map and rootfs of a plain container from its configuration file. */
int ctm_locate_lxc_config(const struct ctm_host *host, struct ctm_target *target, const char *path,
			  struct ctm_err *err);

/** Whether this host (or sysroot) has Proxmox VE's container configurations. */
bool ctm_locate_have_pve(const struct ctm_host *host);
/**
 * CTM_REFUSED, with the next step, on a Proxmox VE host whose cluster file system is not mounted.
 * There a number must not fall through to plain LXC: what is left in /var/lib/lxc describes no
 * volume. To be called where ctm_locate_have_pve() is false.
 */
int ctm_locate_pve_down(const struct ctm_host *host, struct ctm_err *err);
/** Whether name is digits alone. */
bool ctm_locate_is_id(const char *name);

/*
 * target_pve.c -> target_volumes.c: the volumes of the current section. map_err: why there is no
 * map, or NULL.
 */
int ctm_locate_pve_volumes(const struct ctm_host *host, struct ctm_target *target,
			   const struct ctm_err *map_err, struct ctm_err *err);

/** Adds an empty volume; the pointer is valid until the next one is added. NULL: out of memory. */
struct ctm_volume *ctm_target_add_volume(struct ctm_target *target, const char *key);
/** Replaces an owned string by a copy; NULL clears it. -ENOMEM. */
int ctm_target_set(char **field, const char *value);
/** Gives the map of a container to the target; ctmap is empty then. -ENOMEM. */
int ctm_target_take_map(struct ctm_target *target, struct ctm_ctmap *ctmap);
/** Makes the error the volume's refusal, unless it has one. -ENOMEM. */
int ctm_volume_refuse(struct ctm_volume *volume, const struct ctm_err *why);

/** Where plain containers are, as LXC names it and as it is reached from here. Zero-initialise. */
struct ctm_lxcpath {
	struct ctm_buf name; /* literal: part of the socket's name */
	struct ctm_buf here;
};
/**
 * lxc.lxcpath of lxc.conf is a path inside a configuration file and thus literal; the default is a
 * place. ctm_lxcpath_done() in any case.
 */
int ctm_lxcpath_find(const struct ctm_host *host, struct ctm_lxcpath *ret, struct ctm_err *err);
void ctm_lxcpath_done(struct ctm_lxcpath *path);

/**
 * LXC's abstract name for the command socket: "LXCPATH/NAME/command", or where that is too long
 * for a socket's name "lxc/HASH/command" (commands_utils.c lxc_make_abstract_socket_name). -ENOMEM.
 */
int ctm_lxc_socket_name(const char *lxcpath, const char *name, struct ctm_buf *ret);

#endif
