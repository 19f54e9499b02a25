/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate: a rootfs directory, an image file or a block device by its path, with a map from
 * elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/mountmap.h"
#include "config/mountpoint.h"
#include "target/hostfile.h"
#include "target/locate.h"
#include "target/maptrust.h"
#include "target/pveversion.h"

CTM_HOST_PATHS

/* The path as it would be typed in "/", links unresolved, to be freed; NULL: see err. */
static char *make_absolute(const char *path, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf full = { 0 };
	CLEANUP_FREE char *cwd = NULL;
	int r;

	if (path[0] == '/') {
		r = ctm_buf_addf(&full, "%s", path);
	} else {
		cwd = getcwd(NULL, 0);
		if (!cwd) {
			(void)ctm_err_set(err, CTM_SYS, errno, "where we are");
			return NULL;
		}
		r = ctm_buf_addf(&full, "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
	}
	if (r < 0) {
		(void)ctm_err_nomem(err);
		return NULL;
	}
	while (full.len > 1 && full.p[full.len - 1] == '/') {
		full.p[--full.len] = '\0';
	}
	return TAKE_PTR(full.p);
}

/* The id in "PLACE/ID" or "PLACE/ID/...", 0 for another path. */
static unsigned long id_below(const char *path, const char *place)
{
	size_t len = strlen(place);
	size_t digits;

	if (strncmp(path, place, len) != 0 || path[len] != '/') {
		return 0;
	}
	path += len + 1;
	digits = strspn(path, "0123456789");
	if (digits == 0 || digits > 9 || (path[digits] != '\0' && path[digits] != '/')) {
		return 0;
	}
	return strtoul(path, NULL, 10);
}

/*
 * PVE mounts the volumes of a running container, and those of "pct mount", below /var/lib/lxc/ID;
 * stopped, there is an empty folder. Neither is the volume.
 */
static int check_not_pve(const struct ctm_host *host, const char *path, const char *real,
			 struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf place = { 0 };
	unsigned long id;
	int r;

	if (!ctm_locate_have_pve(host)) {
		return 0;
	}
	if (ctm_host_path(host, &place, "%s", CTM_PLACE_LXC) < 0) {
		return ctm_err_nomem(err);
	}
	id = id_below(path, place.p);
	id = id == 0 && real ? id_below(real, place.p) : id;
	id = id == 0 ? id_below(path, CTM_PLACE_LXC) : id;
	id = id == 0 && real ? id_below(real, CTM_PLACE_LXC) : id;
	if (id == 0) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"'%s' is a place where Proxmox VE mounts container %lu, not its volume",
			path, id);
	ctm_err_hint(err, "use the id: ctmend check %lu", id);
	return r;
}

/* What the path leads to, links followed, and its name without them: the one time it is asked. */
static int resolve(const char *path, int *ret_fd, char **ret_real, struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);
	char link[32];
	char real[PATH_MAX];
	ssize_t n;
	int r;

	if (fd < 0) {
		r = -errno;
		return ctm_err_set(err, r == -ENOENT || r == -ENOTDIR ? CTM_REFUSED : CTM_SYS,
				   r == -ENOENT || r == -ENOTDIR ? 0 : r, "there is no '%s'", path);
	}
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	if (n < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "see where '%s' leads", path);
	}
	real[n] = '\0';
	*ret_real = strdup(real);
	if (!*ret_real) {
		return ctm_err_nomem(err);
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int detect(const char *path, uint32_t type, enum ctm_volume_kind *ret, struct ctm_err *err)
{
	if (S_ISDIR(type)) {
		*ret = CTM_VOLUME_DIR;
	} else if (S_ISREG(type)) {
		*ret = CTM_VOLUME_IMAGE;
	} else if (S_ISBLK(type)) {
		*ret = CTM_VOLUME_BLOCK;
	} else {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' is no directory, image file or block device", path);
	}
	return 0;
}

/*
 * Of a container whose volumes do not all follow its own map, which one a path is cannot be
 * known.
 */
static int check_volume_maps(const struct ctm_pctsection *section, struct ctm_err *err)
{
	for (size_t i = 0; i < section->keys.n; i++) {
		CLEANUP(ctm_mountpoint_done) struct ctm_mountpoint mp = { 0 };
		const struct ctm_pctentry *entry = &section->keys.v[i];
		bool rootfs = strcmp(entry->key, "rootfs") == 0;
		int r;

		if (!rootfs && strncmp(entry->key, "mp", 2) != 0) {
			continue;
		}
		if (ctm_mountpoint_parse(rootfs, entry->value, &mp, NULL) == 0 && !mp.idmap) {
			continue;
		}
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"line %u: the volumes of this container do not all follow one map",
				entry->line);
		ctm_err_hint(err, "give the path's own map with --map, or use the container's id");
		return r;
	}
	return 0;
}

/*
 * A file with one of the keys that every PVE container has is read as PVE's; LXC would see none of
 * them.
 */
static bool looks_like_pve(const struct ctm_pctsection *section)
{
	static const char *const keys[] = { "arch", "hostname", "ostype", "rootfs",
					    "unprivileged" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (ctm_pctconf_find(section, keys[i])) {
			return true;
		}
	}
	return false;
}

static int map_from_lxc(const char *path, struct ctm_mapauthors *authors, struct ctm_ctmap *ret,
			struct ctm_err *err)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	int r = ctm_lxcconf_read(path, ctm_mapauthors_lxc, authors, &conf, err);

	return r < 0 ? r : ctm_ctmap_from_lxc(&conf, ret, err);
}

static int map_from_pct(const struct ctm_host *host, const struct ctm_pctsection *section,
			struct ctm_ctmap *ret, struct ctm_err *err)
{
	unsigned int major = 0;
	int r = ctm_ctmap_needs_version(section) ? ctm_pveversion_container(host, &major, err) : 0;

	return r < 0 ? r : ctm_ctmap_from_pct(section, major, ret, err);
}

static int map_from_file(const struct ctm_host *host, const char *path,
			 struct ctm_mapauthors *authors, struct ctm_ctmap *ret, struct ctm_err *err)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_hostfile_read(path, &text, err);

	r = r < 0 ? r : ctm_mapauthors_add(authors, path, err);
	if (r == 0) {
		r = ctm_pctconf_parse((struct ctm_bytes){ text.p ? text.p : "", text.len }, &conf,
				      err);
	}
	if (r < 0) {
		return r;
	}
	if (!looks_like_pve(ctm_pctconf_current(&conf))) {
		return map_from_lxc(path, authors, ret, err);
	}
	r = check_volume_maps(ctm_pctconf_current(&conf), err);
	return r < 0 ? r : map_from_pct(host, ctm_pctconf_current(&conf), ret, err);
}

static int map_from_config(const struct ctm_host *host, struct ctm_target *target, const char *path,
			   struct ctm_err *err)
{
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	CLEANUP(ctm_mapauthors_done) struct ctm_mapauthors authors = { 0 };
	int r = map_from_file(host, path, &authors, &ctmap, err);

	if (r < 0) {
		(void)ctm_err_wrap(err, "--ct-config '%s'", path);
		return r;
	}
	r = ctm_mapauthors_pass_root(&authors, host, ctmap.map, err);
	r = r < 0 ? r : ctm_maptrust_check(host, &authors, path, ctmap.map, err);
	if (r < 0) {
		(void)ctm_err_wrap(err, "--ct-config");
		ctm_err_hint(err, "if the map is right, type it yourself, with --map; or give a "
				  "copy of the file that root alone can write");
		return r;
	}
	if (ctm_target_take_map(target, &ctmap) < 0 ||
	    ctm_target_set(&target->config_path, path) < 0) {
		return ctm_err_nomem(err);
	}
	return 0;
}

static int read_map(const struct ctm_host *host, const struct ctm_target_opts *opts,
		    struct ctm_target *target, struct ctm_err *err)
{
	if (opts->map_spec && opts->ct_config) {
		return ctm_err_set(err, CTM_USAGE, 0, "--map and --ct-config exclude each other");
	}
	if (opts->ct_config) {
		return map_from_config(host, target, opts->ct_config, err);
	}
	if (opts->map_spec) {
		int r = ctm_idmap_parse_spec(opts->map_spec, &target->map, err);

		return r < 0 ? ctm_err_wrap(err, "--map") : 0;
	}
	target->no_map = true;
	return 0;
}

int ctm_locate_path(const struct ctm_host *host, const struct ctm_target_opts *opts,
		    struct ctm_target *target, struct ctm_err *err)
{
	CLEANUP_FREE char *path = make_absolute(target->name, err);
	CLEANUP_FREE char *real = NULL;
	CLEANUP_CLOSE int fd = -1;
	enum ctm_volume_kind kind = CTM_VOLUME_DIR;
	struct ctm_err missing = { 0 };
	struct ctm_volume *volume;
	struct ctm_pin pin;
	int there;
	int r;

	if (!path) {
		return err && err->num ? -err->num : -ENOMEM;
	}
	there = resolve(path, &fd, &real, &missing);
	r = check_not_pve(host, path, real, err);
	if (r < 0) {
		return r;
	}
	if (there < 0) {
		if (err) {
			*err = missing;
		}
		return there;
	}
	r = ctm_pin_take(fd, &pin);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at '%s'", path);
	}
	r = detect(path, pin.type, &kind, err);
	r = r < 0 ? r : read_map(host, opts, target, err);
	if (r < 0) {
		return r;
	}
	volume = ctm_target_add_volume(target, "rootfs");
	if (!volume || ctm_target_set(&volume->id, target->name) < 0 ||
	    ctm_target_set(&volume->mp, "/") < 0) {
		return ctm_err_nomem(err);
	}
	volume->path = TAKE_PTR(path);
	volume->pin = pin;
	volume->kind = kind;
	volume->unshifted = target->privileged;
	return target->map ? ctm_mountmap(target->map, NULL, &volume->map, err) : 0;
}
