/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zfspool: "subvol-" and "basevol-" are datasets, mounted below the storage's mountpoint
 * (without one /POOL); "vm-" and "base-" are zvols. Of a linked clone the base volume stands in
 * front of the name and is no part of the path.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "storage/images.h"
#include "storage/types.h"

static const struct {
	const char *prefix;
	bool subvol;
	bool base;
} kinds[] = {
	{ "subvol-", true, false },
	{ "basevol-", true, true },
	{ "vm-", false, false },
	{ "base-", false, true },
};

/* The row for a name such as "subvol-115-disk-0", its end at len; -1 for another name. */
static int find_kind(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (ctm_is_space(name[i]) || name[i] == '/' || name[i] == '@') {
			return -1;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t n = strlen(kinds[i].prefix);
		size_t digits;

		if (len <= n || memcmp(name, kinds[i].prefix, n) != 0) {
			continue;
		}
		digits = strspn(name + n, "0123456789");
		if (digits > 0 && n + digits + 1 < len && name[n + digits] == '-') {
			return (int)i;
		}
	}
	return -1;
}

/* "rpool/data": no empty part, no part that is "." or "..", no slash at either end */
static bool valid_pool(const char *pool)
{
	for (const char *p = pool;;) {
		size_t len = strcspn(p, "/");

		if (len == 0 || (len == 1 && p[0] == '.') ||
		    (len == 2 && p[0] == '.' && p[1] == '.')) {
			return false;
		}
		if (p[len] == '\0') {
			return true;
		}
		p += len + 1;
	}
}

/* The storage's mountpoint without a slash at the end. */
static int find_mountpoint(const struct ctm_storage *storage, const char *pool, struct ctm_buf *ret,
			   struct ctm_err *err)
{
	const char *mountpoint = ctm_storage_prop(storage, "mountpoint");
	size_t len;

	if (!mountpoint) {
		return ctm_buf_addf(ret, "/%s", pool) < 0 ? ctm_err_nomem(err) : 0;
	}
	len = strlen(mountpoint);
	while (len > 0 && mountpoint[len - 1] == '/') {
		len--;
	}
	if (mountpoint[0] != '/' || (len > 0 && !ctm_path_stays_below(mountpoint + 1, len - 1))) {
		(void)ctm_err_set(err, CTM_REFUSED, 0,
				  "storage '%s' has no directory as its mountpoint: '%s'",
				  storage->id, mountpoint);
		ctm_err_hint(err, "ask with: zfs get mountpoint %s", pool);
		return -EPERM;
	}
	return ctm_buf_add(ret, mountpoint, len) < 0 ? ctm_err_nomem(err) : 0;
}

static int build_path(const struct ctm_storage *storage, const char *pool, const char *name,
		      bool subvol, struct ctm_buf *ret, struct ctm_err *err)
{
	int r;

	if (!subvol) {
		r = ctm_buf_addf(ret, "/dev/zvol/%s/%s", pool, name);
		return r < 0 ? ctm_err_nomem(err) : 0;
	}
	r = find_mountpoint(storage, pool, ret, err);
	if (r < 0) {
		return r;
	}
	return ctm_buf_addf(ret, "/%s", name) < 0 ? ctm_err_nomem(err) : 0;
}

static int resolve(const struct ctm_storage *storage, const char *name,
		   struct ctm_storage_volume *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	const char *pool = ctm_storage_prop(storage, "pool");
	const char *slash = strchr(name, '/');
	const char *last = slash ? slash + 1 : name;
	int kind = find_kind(last, strlen(last));
	int r;

	if (slash) {
		int origin = find_kind(name, (size_t)(slash - name));

		if (origin < 0 || !kinds[origin].base) {
			kind = -1;
		}
	}
	if (kind < 0) {
		return ctm_storage_bad_name(storage, name, err);
	}
	if (!valid_pool(pool)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "storage '%s' names no zfs pool: '%s'",
				   storage->id, pool);
	}
	r = build_path(storage, pool, last, kinds[kind].subvol, &path, err);
	if (r < 0) {
		return r;
	}
	if (kinds[kind].subvol) {
		/* not mounted, a dataset leaves an empty folder there */
		ret->mount_root = strdup(path.p);
		if (!ret->mount_root) {
			return ctm_err_nomem(err);
		}
	}
	ret->path = TAKE_PTR(path.p);
	ret->base = kinds[kind].base;
	ret->format = kinds[kind].subvol ? "subvol" : "raw";
	ret->kind = kinds[kind].subvol ? CTM_VOLUME_DIR : CTM_VOLUME_BLOCK;
	return 0;
}

const struct ctm_storage_type ctm_storage_zfspool = {
	.name = "zfspool",
	.required = { "pool" },
	.activates = true,
	.resolve = resolve,
};
