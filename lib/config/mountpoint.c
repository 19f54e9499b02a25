/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of rootfs and mpN in a Proxmox VE container's configuration.
 */
#include "config/mountpoint.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"

/* No "/./" and "/../", neither of them at the end, no "../" at the front. */
static bool valid_path(const char *value)
{
	if (strncmp(value, "../", 3) == 0) {
		return false;
	}
	for (const char *p = strstr(value, "/."); p; p = strstr(p + 1, "/.")) {
		const char *end = p[2] == '.' ? p + 3 : p + 2;

		if (*end == '/' || *end == '\0') {
			return false;
		}
	}
	return true;
}

static const char *skip_digits(const char *p)
{
	while (*p >= '0' && *p <= '9') {
		p++;
	}
	return p;
}

/* "8G", "8GiB", "0.5T", "1024" */
static bool valid_size(const char *value)
{
	const char *p = skip_digits(value);

	if (p == value) {
		return false;
	}
	if (*p == '.') {
		const char *fraction = p + 1;

		p = skip_digits(fraction);
		if (p == fraction) {
			return false;
		}
	}
	if (*p != '\0' && strchr("KMGT", *p)) {
		p++;
		if (strcmp(p, "iB") == 0) {
			p += 2;
		}
	}
	return *p == '\0';
}

static bool valid_options(const char *value)
{
	static const char *const known[] = { "discard", "lazytime", "noatime",
					     "nodev",   "noexec",   "nosuid" };

	for (const char *p = value;;) {
		size_t len = strcspn(p, ";");
		bool found = false;

		for (size_t i = 0; i < ARRAY_LEN(known); i++) {
			found = found || (strlen(known[i]) == len && memcmp(known[i], p, len) == 0);
		}
		if (!found) {
			return false;
		}
		if (p[len] == '\0') {
			return true;
		}
		p += len + 1;
	}
}

/* rootfs has those up to ROOTFS_N, a mount point has all. */
enum { ROOTFS_N = 9 };
static const struct ctm_prop_desc properties[] = {
	{ .name = "volume", .required = true, .default_key = true, .valid = valid_path },
	{ .name = "size", .valid = valid_size },
	{ .name = "acl", .boolean = true },
	{ .name = "mountoptions", .valid = valid_options },
	{ .name = "idmap" },
	{ .name = "ro", .boolean = true },
	{ .name = "quota", .boolean = true },
	{ .name = "replicate", .boolean = true },
	{ .name = "shared", .boolean = true },
	{ .name = "mp", .required = true, .valid = valid_path },
	{ .name = "backup", .boolean = true },
	{ .name = "keepattrs", .boolean = true },
};
static const struct ctm_prop_schema rootfs_schema = { properties, ROOTFS_N };
static const struct ctm_prop_schema mp_schema = { properties, ARRAY_LEN(properties) };

int ctm_mountpoint_parse(bool rootfs, const char *value, struct ctm_mountpoint *ret,
			 struct ctm_err *err)
{
	const char *ro;
	int r;

	r = ctm_propstr_parse(rootfs ? &rootfs_schema : &mp_schema, value, &ret->props, err);
	if (r < 0) {
		return r;
	}
	ret->volume = ctm_propstr_get(&ret->props, "volume");
	ret->idmap = ctm_propstr_get(&ret->props, "idmap");
	ret->mp = rootfs ? "/" : ctm_propstr_get(&ret->props, "mp");
	ro = ctm_propstr_get(&ret->props, "ro");
	ret->ro = ro && ro[0] == '1';
	ret->class = ret->volume[0] != '/'                 ? CTM_MOUNT_VOLUME :
		     strncmp(ret->volume, "/dev/", 5) == 0 ? CTM_MOUNT_DEVICE :
							     CTM_MOUNT_BIND;
	return 0;
}

void ctm_mountpoint_done(struct ctm_mountpoint *mp)
{
	ctm_propstr_done(&mp->props);
	*mp = (struct ctm_mountpoint){ 0 };
}
