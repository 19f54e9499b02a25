/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories that the container's root cannot enter. */
#include "target/way.h"

#include <stdio.h>
#include <string.h>
#include <sys/acl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"

#define CONFIG "var/lib/lxc/web/config"

static void make_web(const struct scratch *s)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "lxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 100000 65536\n"
		       "lxc.rootfs.path = dir:%s/var/lib/lxc/web/rootfs\n",
		       s->path);
	sysroot_file(s, CONFIG, text);
	sysroot_dir(s, "var/lib/lxc/web/rootfs");
}

static void chmod_in(const struct scratch *s, const char *path, mode_t mode)
{
	char full[512];

	(void)snprintf(full, sizeof(full), "%s/%s", s->path, path);
	cr_assert_eq(chmod(full, mode), 0, "%s", full);
}

/* "var/lib/lxc 0700|" of each that is closed, counted from the sysroot. */
static void check(const struct scratch *s, const char *name, const char *container,
		  const char *want)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	CLEANUP(ctm_way_done) struct ctm_way way = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	CLEANUP_FREE char *real = realpath(s->path, NULL);
	static const struct ctm_target_opts opts = { .keep_refused = true };
	const struct ctm_host host = { .sysroot = s->path };
	struct ctm_err err = { 0 };

	cr_assert_eq(locate(s, container, &opts, &target, &err), 0, "%s: %s", name, err.msg);
	cr_assert_eq(ctm_way_closed(&host, target, ctm_target_volume(target, "rootfs"), &way, &err),
		     0, "%s: %s", name, err.msg);
	for (size_t i = 0; i < way.v.n; i++) {
		const struct ctm_way_dir *one = &way.v.v[i];

		cr_assert_eq(strncmp(one->path, real, strlen(real)), 0, "%s", one->path);
		cr_assert_eq(one->uid.v, geteuid());
		cr_assert_eq(
			ctm_buf_addf(&got, "%s %04o|", one->path + strlen(real) + 1, one->mode), 0);
	}
	cr_assert_str_eq(got.p ? got.p : "", want, "%s", name);
}

static const struct {
	const char *dir; /* relative to the sysroot */
	mode_t mode;
	const char *want;
} modes[] = {
	{ "var/lib/lxc/web", 0755, "" },
	{ "var/lib/lxc/web", 0711, "" },
	{ "var/lib/lxc/web", 0701, "" },
	{ "var/lib/lxc/web", 0770, "var/lib/lxc/web 0770|" },
	{ "var/lib/lxc/web", 0754, "var/lib/lxc/web 0754|" },
	{ "var/lib/lxc", 0700, "var/lib/lxc 0700|" },
	{ "var/lib", 0750, "var/lib 0750|" },
	/* the rootfs itself is the volume, and the sysroot is no part of the host's paths */
	{ "var/lib/lxc/web/rootfs", 0700, "" },
	{ ".", 0700, "" },
};

CASES(way, mode, modes)
{
	SCRATCH(s);

	make_web(&s);
	chmod_in(&s, modes[*i].dir, modes[*i].mode);
	check(&s, modes[*i].dir, "web", modes[*i].want);
	chmod_in(&s, modes[*i].dir, 0755);
}

/* entries of an ACL for the web directory, and whether uid 100000 may pass */
static const struct {
	const char *acl;
	bool pass;
} acls[] = {
	{ "u::rwx,g::---,o::---", false },
	{ "u::rwx,u:100000:x,g::---,m::x,o::---", true },
	{ "u::rwx,u:100000:x,g::---,m::r,o::---", false }, /* the mask takes it away */
	{ "u::rwx,u:100000:r,g::---,m::rx,o::x", false },  /* who is named is no other */
	{ "u::rwx,u:100001:x,g::---,m::x,o::---", false },
	{ "u::rwx,g::---,g:100000:x,m::x,o::---", true },
	{ "u::rwx,g::---,g:100000:r,m::rx,o::x", false },
	{ "u::rwx,u:100001:rx,g::---,m::rx,o::x", true },
};

CASES(way, acl, acls)
{
	SCRATCH(s);
	char full[512];
	acl_t acl = acl_from_text(acls[*i].acl);

	cr_assert_not_null(acl, "%s", acls[*i].acl);
	make_web(&s);
	(void)snprintf(full, sizeof(full), "%s/var/lib/lxc/web", s.path);
	if (acl_set_file(full, ACL_TYPE_ACCESS, acl) == 0) {
		CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
		CLEANUP(ctm_way_done) struct ctm_way way = { 0 };
		const struct ctm_host host = { .sysroot = s.path };
		struct ctm_err err = { 0 };

		cr_assert_eq(locate(&s, "web", NULL, &target, &err), 0, "%s", err.msg);
		cr_assert_eq(ctm_way_closed(&host, target, ctm_target_volume(target, "rootfs"),
					    &way, &err),
			     0);
		cr_assert_eq(way.v.n, acls[*i].pass ? 0 : 1, "%s", acls[*i].acl);
	} else {
		cr_log_warn("no ACLs here");
	}
	acl_free(acl);
	chmod_in(&s, "var/lib/lxc/web", 0755);
}

/* What owner and group are both in the map is the container's root's to enter. */
Test(way, mapped_owner)
{
	SCRATCH(s);
	char full[512];

	if (geteuid() != 0) {
		cr_skip_test("needs root");
	}
	make_web(&s);
	(void)snprintf(full, sizeof(full), "%s/var/lib/lxc/web", s.path);
	cr_assert_eq(chmod(full, 0700), 0);
	cr_assert_eq(chown(full, 100033, 100033), 0);
	check(&s, "both mapped", "web", "");
	cr_assert_eq(chown(full, 0, 100000), 0);
	cr_assert_eq(chmod(full, 0710), 0);
	check(&s, "group", "web", "");
	cr_assert_eq(chmod(full, 0701), 0);
	check(&s, "group without", "web", "var/lib/lxc/web 0701|");
	cr_assert_eq(chown(full, 100000, 0), 0);
	cr_assert_eq(chmod(full, 0100), 0);
	check(&s, "owner", "web", "");
}

Test(way, links_are_followed)
{
	SCRATCH(s);

	make_web(&s);
	sysroot_dir(&s, "srv/closed/web/rootfs");
	sysroot_link(&s, "var/lib/lxc/link", "../../../srv/closed/web");
	sysroot_file(&s, "srv/closed/web/config", "");
	{
		char text[512];

		(void)snprintf(text, sizeof(text),
			       "lxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 100000 65536\n"
			       "lxc.rootfs.path = %s/var/lib/lxc/link/rootfs\n",
			       s.path);
		sysroot_file(&s, "srv/closed/web/config", text);
	}
	chmod_in(&s, "srv/closed", 0700);
	check(&s, "link", "link", "srv/closed 0700|");
	chmod_in(&s, "srv/closed", 0755);
}

/* Proxmox VE mounts at /var/lib/lxc/ID/rootfs; the storage's directories do not matter. */
Test(way, proxmox_place)
{
	SCRATCH(s);

	make_cluster(&s);
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/115.conf",
		     "rootfs: local:115/subvol-115-disk-0.subvol\nunprivileged: 1\n");
	check(&s, "no folder yet", "115", "");
	sysroot_dir(&s, "var/lib/lxc");
	chmod_in(&s, "var/lib/lxc", 0700);
	check(&s, "the folder of all", "115", "var/lib/lxc 0700|");
	chmod_in(&s, "var/lib/lxc", 0755);
	sysroot_dir(&s, "var/lib/lxc/115");
	check(&s, "open", "115", "");
	chmod_in(&s, "var/lib/lxc/115", 0750);
	check(&s, "closed", "115", "var/lib/lxc/115 0750|");
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/115.conf",
		     "rootfs: local:115/subvol-115-disk-0.subvol\n");
	check(&s, "privileged", "115", "");
}
