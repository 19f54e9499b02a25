/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the storages that are a directory of the host have in common: names and the folder of
 * images.
 */
#include "storage/images.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/lines.h"

/* PVE takes no other path for the types dir and btrfs; the others get no stranger one from it. */
static bool valid_path(const char *path)
{
	if (path[0] != '/' || path[1] == '\0') {
		return false;
	}
	for (const char *p = path + 1; *p != '\0'; p++) {
		if (!isascii(*p) || (!isalnum((unsigned char)*p) && !strchr("-/_.@", *p))) {
			return false;
		}
	}
	return true;
}

bool ctm_path_stays_below(const char *path, size_t len)
{
	const char *end = path + len;

	if (len == 0 || path[0] == '/') {
		return false;
	}
	for (const char *p = path; p < end;) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		size_t part = (size_t)((slash ? slash : end) - p);

		if (part == 2 && p[0] == '.' && p[1] == '.') {
			return false;
		}
		p += part + 1;
	}
	return true;
}

/* The folder that content-dirs has for images: "backup=b,images=vm/img"; the last one counts. */
static void find_override(const char *dirs, struct ctm_bytes *ret)
{
	static const char separators[] = ",; \t";
	static const char key[] = "images=";

	for (const char *p = dirs + strspn(dirs, separators); *p != '\0';
	     p += strspn(p, separators)) {
		size_t len = strcspn(p, separators);

		if (len > sizeof(key) - 1 && memcmp(p, key, sizeof(key) - 1) == 0) {
			*ret = (struct ctm_bytes){ p + sizeof(key) - 1, len - (sizeof(key) - 1) };
		}
		p += len;
	}
}

static int storage_root(const struct ctm_storage *storage, struct ctm_buf *ret, struct ctm_err *err)
{
	const char *path = ctm_storage_prop(storage, "path");
	size_t len;
	int r;

	if (!path) {
		r = ctm_buf_addf(ret, "/mnt/pve/%s", storage->id);
		return r < 0 ? ctm_err_nomem(err) : 0;
	}
	len = strlen(path);
	while (len > 1 && path[len - 1] == '/') {
		len--;
	}
	if (!valid_path(path) || !ctm_path_stays_below(path + 1, len - 1)) {
		(void)ctm_err_set(err, CTM_REFUSED, 0,
				  "storage '%s' has a path that Proxmox VE does not take: '%s'",
				  storage->id, path);
		ctm_err_hint(err, "see line %u of storage.cfg", storage->line);
		return -EPERM;
	}
	r = ctm_buf_add(ret, path, len);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_images_dir(const struct ctm_storage *storage, bool content_dirs, struct ctm_buf *ret_root,
		   struct ctm_buf *ret_images, struct ctm_err *err)
{
	const char *dirs = content_dirs ? ctm_storage_prop(storage, "content-dirs") : NULL;
	struct ctm_bytes images = { "images", 6 };
	int r;

	r = storage_root(storage, ret_root, err);
	if (r < 0) {
		return r;
	}
	if (dirs) {
		find_override(dirs, &images);
		/* a slash at the front changes nothing: one stands before it already */
		while (images.len > 0 && *(const char *)images.p == '/') {
			images = (struct ctm_bytes){ (const char *)images.p + 1, images.len - 1 };
		}
		if (!ctm_path_stays_below(images.p, images.len)) {
			return ctm_err_set(
				err, CTM_REFUSED, 0,
				"storage '%s': content-dirs leads out of the storage: '%s'",
				storage->id, dirs);
		}
	}
	r = ctm_buf_addf(ret_images, "%s/%.*s", ret_root->p, (int)images.len,
			 (const char *)images.p);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_images_mount(const struct ctm_storage *storage, const char *root, bool always, char **ret,
		     struct ctm_err *err)
{
	const char *value = ctm_storage_prop(storage, "is_mountpoint");
	const char *place = always ? root : NULL;

	if (value && ctm_storage_flag(storage, "is_mountpoint")) {
		place = root;
	} else if (value && ctm_bool_word((struct ctm_bytes){ value, strlen(value) }) < 0) {
		place = value;
	}
	if (!place) {
		return 0;
	}
	if (place[0] != '/') {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "storage '%s': is_mountpoint is no path: '%s'", storage->id,
				   place);
	}
	*ret = strdup(place);
	return *ret ? 0 : ctm_err_nomem(err);
}

/* A file's name: no slash and no blank, a suffix that says the format. */
static bool parse_file(const char *name, size_t len, struct ctm_image_name *ret)
{
	static const char *const formats[] = { "raw", "subvol", "qcow2", "vmdk" };

	for (size_t i = 0; i < len; i++) {
		if (name[i] == '/' || ctm_is_space(name[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		size_t n = strlen(formats[i]);

		if (len > n + 1 && name[len - n - 1] == '.' &&
		    memcmp(name + len - n, formats[i], n) == 0) {
			ret->name = name;
			ret->format = formats[i];
			ret->base = strncmp(name, "base-", 5) == 0;
			return true;
		}
	}
	return false;
}

/* "115/" at *p */
static bool parse_vmid(const char **p, unsigned int *ret)
{
	size_t len = strspn(*p, "0123456789");

	if (len == 0 || len > 9 || (*p)[len] != '/') {
		return false;
	}
	*ret = (unsigned int)strtoul(*p, NULL, 10);
	*p += len + 1;
	return true;
}

bool ctm_image_name_parse(const char *name, struct ctm_image_name *ret)
{
	const char *p = name;
	const char *slash;

	if (!parse_vmid(&p, &ret->vmid)) {
		return false;
	}
	slash = strchr(p, '/');
	if (slash) {
		if (!parse_file(p, (size_t)(slash - p), ret)) {
			return false;
		}
		p = slash + 1;
		if (!parse_vmid(&p, &ret->vmid)) {
			return false;
		}
	}
	return parse_file(p, strlen(p), ret);
}
