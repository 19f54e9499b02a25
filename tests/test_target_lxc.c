/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plain LXC containers.
 */
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"
#include "target/locate.h"

Test(target_lxc, lxc_container)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };
	const struct ctm_volume *volume;

	sysroot_file(&s, "var/lib/lxc/web/config",
		     "lxc.rootfs.path = dir:/srv/web\n"
		     "lxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 200000 65536\n");
	cr_assert_eq(locate(&s, "web", NULL, &target, &err), 0, "%s", err.msg);
	cr_assert_eq(target->kind, CTM_TARGET_LXC);
	cr_assert_str_eq(target->socket, "/var/lib/lxc/web/command");
	cr_assert_str_eq(target->config_path + strlen(s.path), "/var/lib/lxc/web/config");
	cr_assert_eq(target->volumes.n, 1);
	volume = ctm_target_volume(target, "rootfs");
	cr_assert_str_eq(volume->id, "dir:/srv/web");
	cr_assert_str_eq(volume->path, "/srv/web");
	cr_assert_str_eq(volume->mp, "/");
	cr_assert_null(volume->storage);
	cr_assert_eq(volume->kind, CTM_VOLUME_DIR);
	check_map("rootfs", volume->map, "u 0 100000 65536, g 0 200000 65536");
}

Test(target_lxc, lxcpath_of_lxc_conf_is_literal)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf conf = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_buf_addf(&conf, "# x\nlxc.lxcpath = %s/cts/\n", s.path), 0);
	cr_assert_eq(ctm_buf_addf(&socket, "%s/cts/web/command", s.path), 0);
	sysroot_file(&s, "etc/lxc/lxc.conf", conf.p);
	sysroot_file(&s, "cts/web/config", "lxc.rootfs.path = lvm:/dev/vg/web\n");
	cr_assert_eq(locate(&s, "web", NULL, &target, &err), 0, "%s", err.msg);
	cr_assert_str_eq(target->socket, socket.p);
	cr_assert_eq(target->volumes.v[0].kind, CTM_VOLUME_BLOCK);
	cr_assert_str_eq(target->volumes.v[0].path, "/dev/vg/web");
	cr_assert(target->privileged);
	cr_assert(target->volumes.v[0].unshifted);
}

static const struct {
	const char *name;
	const char *text;
	const char *path; /* NULL: refused */
	enum ctm_volume_kind kind;
	const char *error;
	const char *hint;
} lxc[] = {
	{ "dir", "lxc.rootfs.path = dir:/srv/a\n", "/srv/a", CTM_VOLUME_DIR, NULL, NULL },
	{ "btrfs", "lxc.rootfs.path = btrfs:/srv/a\n", "/srv/a", CTM_VOLUME_DIR, NULL, NULL },
	{ "zfs with a path", "lxc.rootfs.path = zfs:/srv/a\n", "/srv/a", CTM_VOLUME_DIR, NULL,
	  NULL },
	{ "lvm", "lxc.rootfs.path = lvm:/dev/vg/a\n", "/dev/vg/a", CTM_VOLUME_BLOCK, NULL, NULL },
	{ "loop", "lxc.rootfs.path = loop:/srv/a.img\n", "/srv/a.img", CTM_VOLUME_IMAGE, NULL,
	  NULL },
	{ "the last one", "lxc.rootfs.path = dir:/srv/a\nlxc.rootfs.path = dir:/srv/b\n", "/srv/b",
	  CTM_VOLUME_DIR, NULL, NULL },
	{ "no prefix, a directory", "lxc.rootfs.path = /\n", "/", CTM_VOLUME_DIR, NULL, NULL },
	{ "no prefix, a file", "lxc.rootfs.path = /etc/passwd\n", "/etc/passwd", CTM_VOLUME_IMAGE,
	  NULL, NULL },
	{ "no prefix, a character device", "lxc.rootfs.path = /dev/null\n", NULL, CTM_VOLUME_DIR,
	  "is no directory, file or block device", "" },
	{ "no prefix, nothing", "lxc.rootfs.path = /nonexistent/x\n", NULL, CTM_VOLUME_DIR,
	  "'/nonexistent/x'", "" },
	{ "other options", "lxc.rootfs.path = dir:/srv/a\nlxc.rootfs.options = ro,noatime\n",
	  "/srv/a", CTM_VOLUME_DIR, NULL, NULL },
	{ "zfs dataset", "lxc.rootfs.path = zfs:tank/a\n", NULL, CTM_VOLUME_DIR,
	  "'zfs:tank/a' is no path", "--ct-config" },
	{ "overlay", "lxc.rootfs.path = overlay:/a:/b\n", NULL, CTM_VOLUME_DIR,
	  "overlay of several", "upper" },
	{ "overlayfs", "lxc.rootfs.path = overlayfs:/a:/b\n", NULL, CTM_VOLUME_DIR,
	  "overlay of several", "upper" },
	{ "rbd", "lxc.rootfs.path = rbd:pool/a\n", NULL, CTM_VOLUME_DIR, "rbd image", "rbd(8)" },
	{ "nbd", "lxc.rootfs.path = nbd:/a:1\n", NULL, CTM_VOLUME_DIR, "network block device",
	  "qemu-nbd" },
	{ "relative", "lxc.rootfs.path = srv/a\n", NULL, CTM_VOLUME_DIR, "is no path on the host",
	  "" },
	{ "none", "lxc.uts.name = a\n", NULL, CTM_VOLUME_DIR, "has no lxc.rootfs.path", "" },
	{ "emptied", "lxc.rootfs.path = dir:/srv/a\nlxc.rootfs.path =\n", NULL, CTM_VOLUME_DIR,
	  "has no lxc.rootfs.path", "" },
	{ "idmapped mount", "lxc.rootfs.path = dir:/srv/a\nlxc.rootfs.options = idmap=container\n",
	  NULL, CTM_VOLUME_DIR, "mounted with idmap=", "leave it" },
	{ "idmapped mount among others",
	  "lxc.rootfs.path = dir:/srv/a\nlxc.rootfs.options = ro,idmap=/x\n", NULL, CTM_VOLUME_DIR,
	  "mounted with idmap=", "leave it" },
	{ "old rootfs key", "lxc.rootfs = /srv/a\n", NULL, CTM_VOLUME_DIR,
	  "not read by LXC since 3.0", "lxc-update-config" },
	{ "old map key", "lxc.rootfs.path = dir:/srv/a\nlxc.id_map = u 0 1 2\n", NULL,
	  CTM_VOLUME_DIR, "not read by LXC since 3.0", "lxc-update-config" },
	{ "PVE's separator", "lxc.rootfs.path: dir:/srv/a\n", NULL, CTM_VOLUME_DIR,
	  "no '=' behind the key", "" },
};
CASES(target_lxc, lxc_rootfs, lxc)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };
	int r;

	sysroot_file(&s, "var/lib/lxc/web/config", lxc[*i].text);
	r = locate(&s, "web", NULL, &target, &err);
	if (!lxc[*i].path) {
		check_refused(lxc[*i].name, r, &err, lxc[*i].error, lxc[*i].hint);
		return;
	}
	cr_assert_eq(r, 0, "%s: %s", lxc[*i].name, err.msg);
	cr_assert_str_eq(target->volumes.v[0].path, lxc[*i].path, "%s", lxc[*i].name);
	cr_assert_eq(target->volumes.v[0].kind, lxc[*i].kind, "%s", lxc[*i].name);
}

/* Names that lxc-info 5.0.2 was seen to connect to. */
#define A60 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B31 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
static const struct {
	const char *lxcpath, *name, *want;
} sockets[] = {
	{ "/var/lib/lxc", "web", "/var/lib/lxc/web/command" },
	{ "/tmp/" A60, B31, "/tmp/" A60 "/" B31 "/command" },
	{ "/tmp/" A60, B31 "b", "lxc/143126613feb879d/command" },
	{ "/tmp/" A60, B31 "bbbbbbbbb", "lxc/93198d752c08669d/command" },
};
CASES(target_lxc, socket, sockets)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };

	cr_assert_eq(ctm_lxc_socket_name(sockets[*i].lxcpath, sockets[*i].name, &name), 0);
	cr_assert_str_eq(name.p, sockets[*i].want);
}
