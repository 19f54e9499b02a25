/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate: a plain LXC container, from LXCPATH/NAME/config.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "config/mountmap.h"
#include "target/hostask.h"
#include "target/hostfile.h"
#include "target/locate.h"
#include "target/maptrust.h"

#define LXC_CONF "/etc/lxc/lxc.conf"

/* FNV-1a, 64 bits */
static uint64_t hash(const char *text, size_t len)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++) {
		value ^= (unsigned char)text[i];
		value *= UINT64_C(0x100000001b3);
	}
	return value;
}

int ctm_lxc_socket_name(const char *lxcpath, const char *name, struct ctm_buf *ret)
{
	/*
	 * LXC leaves room for the NUL in front and for one behind, although abstract names need
	 * none.
	 */
	const size_t room = sizeof(((struct sockaddr_un *)0)->sun_path) - 2;
	CLEANUP(ctm_buf_done) struct ctm_buf full = { 0 };
	size_t plain;

	if (ctm_buf_addf(&full, "%s/%s", lxcpath, name) < 0) {
		return -ENOMEM;
	}
	plain = full.len;
	if (plain + strlen("/command") < room) {
		return ctm_buf_addf(ret, "%s/command", full.p);
	}
	return ctm_buf_addf(ret, "lxc/%016" PRIx64 "/command", hash(full.p, plain));
}

void ctm_lxcpath_done(struct ctm_lxcpath *path)
{
	ctm_buf_done(&path->name);
	ctm_buf_done(&path->here);
}

int ctm_lxcpath_find(const struct ctm_host *host, struct ctm_lxcpath *ret, struct ctm_err *err)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf file = { 0 };
	const struct ctm_lxcconf_entry *entry;
	int r;

	if (ctm_host_path(host, &file, "%s", LXC_CONF) < 0) {
		return ctm_err_nomem(err);
	}
	if (ctm_hostfile_exists(file.p)) {
		r = ctm_lxcconf_read(file.p, ctm_hostfile_lxc, NULL, &conf, err);
		if (r < 0) {
			return r;
		}
	}
	entry = ctm_lxcconf_find(&conf, "lxc.lxcpath");
	if (entry && entry->value[0] == '/') {
		size_t len = strlen(entry->value);

		while (len > 1 && entry->value[len - 1] == '/') {
			len--;
		}
		r = ctm_buf_add(&ret->name, entry->value, len);
		r = r < 0 ? r : ctm_buf_add(&ret->here, entry->value, len);
	} else {
		r = ctm_buf_addf(&ret->name, "%s", CTM_PLACE_LXC);
		r = r < 0 ? r : ctm_host_path(host, &ret->here, "%s", CTM_PLACE_LXC);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

/* An option among others, separated by commas, or the only one. */
static bool has_option(const char *options, const char *option)
{
	for (const char *p = strstr(options, option); p; p = strstr(p + 1, option)) {
		if (p == options || p[-1] == ',' || p[-1] == ' ') {
			return true;
		}
	}
	return false;
}

static int check_keys(const struct ctm_lxcconf *conf, struct ctm_err *err)
{
	const struct ctm_lxcconf_entry *entry = ctm_lxcconf_find(conf, "lxc.rootfs");
	int r;

	if (entry) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"'%s' line %u: lxc.rootfs is not read by LXC since 3.0",
				entry->file, entry->line);
		ctm_err_hint(err, "convert the file with: lxc-update-config -c %s", entry->file);
		return r;
	}
	entry = ctm_lxcconf_find(conf, "lxc.rootfs.options");
	if (entry && has_option(entry->value, "idmap=")) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"'%s' line %u: the rootfs is mounted with idmap=, "
				"its disk has other ids than the map says",
				entry->file, entry->line);
		ctm_err_hint(err, "such a rootfs needs no shifted owners: leave it as it is");
		return r;
	}
	return 0;
}

/* How LXC reads a prefix of lxc.rootfs.path. */
static const struct {
	const char *prefix;
	enum ctm_volume_kind kind;
	const char *refusal;
	const char *hint;
} prefixes[] = {
	{ "dir:", CTM_VOLUME_DIR, NULL, NULL },
	{ "btrfs:", CTM_VOLUME_DIR, NULL, NULL },
	{ "zfs:", CTM_VOLUME_DIR, NULL, NULL },
	{ "lvm:", CTM_VOLUME_BLOCK, NULL, NULL },
	{ "loop:", CTM_VOLUME_IMAGE, NULL, NULL },
	{ "overlay:", CTM_VOLUME_DIR, "the rootfs is an overlay of several directories",
	  "name its upper directory as a path, with --ct-config" },
	{ "overlayfs:", CTM_VOLUME_DIR, "the rootfs is an overlay of several directories",
	  "name its upper directory as a path, with --ct-config" },
	{ "rbd:", CTM_VOLUME_BLOCK, "the rootfs is an rbd image, which is not supported",
	  "map it with rbd(8), then name the device with --ct-config" },
	{ "nbd:", CTM_VOLUME_BLOCK, "the rootfs is a network block device, which is not supported",
	  "connect it with qemu-nbd(8), then name the device with --ct-config" },
};

/* LXC looks at what stands there when the path has no prefix. */
static int detect(const char *path, enum ctm_volume_kind *ret, struct ctm_err *err)
{
	mode_t mode;
	int r = ctm_hostask_mode(path, &mode);

	if (r == -ETIME) {
		return ctm_hostask_silent(path, err);
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "lxc.rootfs.path '%s'", path);
	}
	if (S_ISDIR(mode)) {
		*ret = CTM_VOLUME_DIR;
	} else if (S_ISREG(mode)) {
		*ret = CTM_VOLUME_IMAGE;
	} else if (S_ISBLK(mode)) {
		*ret = CTM_VOLUME_BLOCK;
	} else {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "lxc.rootfs.path '%s' is no directory, file or block device",
				   path);
	}
	return 0;
}

static int resolve_rootfs(const char *value, const char **ret_path, enum ctm_volume_kind *ret_kind,
			  struct ctm_err *err)
{
	int r;

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		size_t len = strlen(prefixes[i].prefix);

		if (strncmp(value, prefixes[i].prefix, len) != 0) {
			continue;
		}
		if (prefixes[i].refusal) {
			r = ctm_err_set(err, CTM_REFUSED, 0, "%s: '%s'", prefixes[i].refusal,
					value);
			ctm_err_hint(err, "%s", prefixes[i].hint);
			return r;
		}
		*ret_path = value + len;
		*ret_kind = prefixes[i].kind;
		if (value[len] != '/') {
			r = ctm_err_set(err, CTM_REFUSED, 0,
					"lxc.rootfs.path '%s' is no path on the host", value);
			ctm_err_hint(err, "mount it, then name the path itself, with --ct-config");
			return r;
		}
		return 0;
	}
	if (value[0] != '/') {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "lxc.rootfs.path '%s' is no path on the host", value);
	}
	*ret_path = value;
	return detect(value, ret_kind, err);
}

static int add_rootfs(struct ctm_target *target, const struct ctm_lxcconf *conf,
		      struct ctm_err *err)
{
	const struct ctm_lxcconf_entry *entry = ctm_lxcconf_find(conf, "lxc.rootfs.path");
	struct ctm_volume *volume = ctm_target_add_volume(target, "rootfs");
	struct ctm_err why = { 0 };
	const char *path = NULL;
	int r;

	if (!volume || ctm_target_set(&volume->mp, "/") < 0) {
		return ctm_err_nomem(err);
	}
	if (!entry || entry->value[0] == '\0') {
		(void)ctm_err_set(&why, CTM_REFUSED, 0, "the configuration has no lxc.rootfs.path");
		return ctm_volume_refuse(volume, &why) < 0 ? ctm_err_nomem(err) : 0;
	}
	volume->unshifted = target->privileged;
	if (ctm_target_set(&volume->id, entry->value) < 0) {
		return ctm_err_nomem(err);
	}
	r = ctm_mountmap(target->map, NULL, &volume->map, err);
	if (r < 0) {
		return r;
	}
	r = resolve_rootfs(entry->value, &path, &volume->kind, &why);
	if (r < 0) {
		return ctm_volume_refuse(volume, &why) < 0 ? ctm_err_nomem(err) : 0;
	}
	return ctm_target_set(&volume->path, path) < 0 ? ctm_err_nomem(err) : 0;
}

/*
 * Whoever can write the configuration names the tree that is worked on, and whom its files will
 * belong to. The one he could turn on anybody's files, so that it must be root; what the other can
 * do is the better reason where both hold.
 */
static int check_authors(const struct ctm_host *host, struct ctm_target *target, const char *path,
			 struct ctm_mapauthors *authors, struct ctm_err *err)
{
	struct ctm_volume *volume = &target->volumes.v[0];
	struct ctm_err why = { 0 };
	int r = ctm_mapauthors_pass_root(authors, host, target->map, &why);

	r = r < 0 ? r : ctm_maptrust_check(host, authors, path, target->map, &why);
	if (r == 0) {
		r = ctm_maptrust_roots_own(authors, path, "which tree is worked on", &why);
	}
	if (r == 0) {
		return 0;
	}
	ctm_err_hint(&why, "name the rootfs yourself, as a path, with --map or with a copy of the "
			   "file for --ct-config; or let root alone write the file and the folders "
			   "above it");
	return ctm_volume_refuse(volume, &why) < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_locate_lxc_config(const struct ctm_host *host, struct ctm_target *target, const char *path,
			  struct ctm_err *err)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	CLEANUP(ctm_mapauthors_done) struct ctm_mapauthors authors = { 0 };
	int r;

	r = ctm_lxcconf_read(path, ctm_mapauthors_lxc, &authors, &conf, err);
	if (r < 0) {
		return r;
	}
	r = check_keys(&conf, err);
	if (r < 0) {
		return r;
	}
	r = ctm_ctmap_from_lxc(&conf, &ctmap, err);
	if (r < 0) {
		return r;
	}
	if (ctm_target_take_map(target, &ctmap) < 0) {
		return ctm_err_nomem(err);
	}
	r = add_rootfs(target, &conf, err);
	return r < 0 ? r : check_authors(host, target, path, &authors, err);
}

int ctm_locate_lxc(const struct ctm_host *host, struct ctm_target *target, struct ctm_err *err)
{
	CLEANUP(ctm_lxcpath_done) struct ctm_lxcpath lxcpath = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf config = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };
	int r;

	if (strcmp(target->name, ".") == 0 || strcmp(target->name, "..") == 0) {
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' is no name of a container",
				   target->name);
	}
	r = ctm_lxcpath_find(host, &lxcpath, err);
	if (r < 0) {
		return r;
	}
	if (ctm_buf_addf(&config, "%s/%s/config", lxcpath.here.p, target->name) < 0 ||
	    ctm_lxc_socket_name(lxcpath.name.p, target->name, &socket) < 0) {
		return ctm_err_nomem(err);
	}
	if (!ctm_hostfile_exists(config.p)) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "there is no container '%s' in '%s'",
				target->name, lxcpath.here.p);
		ctm_err_hint(err,
			     "list the containers with: lxc-ls; for a file or folder write ./%s",
			     target->name);
		return r;
	}
	r = ctm_locate_lxc_config(host, target, config.p, err);
	if (r < 0) {
		return r;
	}
	target->config_path = TAKE_PTR(config.p);
	target->socket = TAKE_PTR(socket.p);
	return 0;
}
