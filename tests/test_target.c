/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From what was named to volumes: Proxmox VE containers, plain LXC, paths, and what is refused.
 */
#include "target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "sysroot.h"
#include "target/locate.h"

#define DEFAULT_MAP "u 0 100000 65536, g 0 100000 65536"

static const char storages[] = "lvmthin: local-lvm\n\tvgname pve\n\tthinpool data\n\n"
			       "dir: off\n\tpath /srv/off\n\tdisable\n\n"
			       "dir: far\n\tpath /srv/far\n\tnodes pve2\n\n"
			       "rbd: ceph\n\tpool p\n\n";

/* Node pve1 of a cluster with pve2. */
static void make_cluster(const struct scratch *s)
{
	sysroot_dir(s, "etc/pve/nodes/pve1/lxc");
	sysroot_dir(s, "etc/pve/nodes/pve1/qemu-server");
	sysroot_link(s, "etc/pve/local", "nodes/pve1");
	sysroot_link(s, "etc/pve/lxc", "nodes/pve1/lxc");
	sysroot_link(s, "etc/pve/qemu-server", "nodes/pve1/qemu-server");
	sysroot_file(s, "etc/pve/storage.cfg", storages);
	sysroot_file(s, "etc/pve/nodes/pve1/lxc/115.conf",
		     "rootfs: local-lvm:vm-115-disk-0\nunprivileged: 1\n");
	sysroot_file(s, "etc/pve/nodes/pve1/qemu-server/200.conf", "");
	sysroot_file(s, "etc/pve/nodes/pve2/lxc/116.conf", "rootfs: local-lvm:vm-116-disk-0\n");
	sysroot_file(s, "etc/pve/nodes/pve2/qemu-server/201.conf", "");
}

static int locate(const struct scratch *s, const char *name, const struct ctm_target_opts *opts,
		  struct ctm_target **ret, struct ctm_err *err)
{
	const struct ctm_host host = { .sysroot = s->path };

	return ctm_target_locate(&host, name, opts, ret, err);
}

static void check_map(const char *name, const struct ctm_idmap *map, const char *want)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };

	if (!want) {
		cr_assert_null(map, "%s", name);
		return;
	}
	cr_assert_not_null(map, "%s", name);
	cr_assert_eq(ctm_idmap_format(map, &text), 0);
	cr_assert_str_eq(text.p ? text.p : "", want, "%s", name);
}

static void check_refused(const char *name, int r, const struct ctm_err *err, const char *msg,
			  const char *hint)
{
	cr_assert_lt(r, 0, "%s: not refused", name);
	cr_assert_eq(err->code, CTM_REFUSED, "%s: %s", name, err->msg);
	cr_assert_not_null(strstr(err->msg, msg), "%s: %s", name, err->msg);
	cr_assert_not_null(strstr(err->hint, hint), "%s: %s", name, err->hint);
}

Test(target, pve_container)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };
	const struct ctm_volume *volume;

	make_cluster(&s);
	sysroot_file(
		&s, "etc/pve/lxc/115.conf",
		"rootfs: local-lvm:vm-115-disk-0,ro=1\nunprivileged: 1\nhookscript: local:snippets/x.sh\n"
		"mp10: local-lvm:vm-115-disk-2,mp=/b\nmp2: /srv/share,mp=/share\nbad line\n"
		"lock: backup\n[snap]\nlock: other\n");
	cr_assert_eq(locate(&s, "115", NULL, &target, &err), 0, "%s", err.msg);
	cr_assert_eq(target->kind, CTM_TARGET_PVE);
	cr_assert_eq(target->vmid, 115);
	cr_assert_str_eq(target->name, "115");
	cr_assert_str_eq(target->node, "pve1");
	cr_assert_str_eq(target->lock, "backup");
	cr_assert_str_eq(target->hookscript, "local:snippets/x.sh");
	cr_assert_str_eq(target->socket, "/var/lib/lxc/115/command");
	cr_assert_not(target->template);
	cr_assert_not(target->privileged);
	cr_assert_not(target->no_map);
	cr_assert_eq(strncmp(target->config_path, s.path, strlen(s.path)), 0);
	cr_assert_str_eq(target->config_path + strlen(s.path), "/etc/pve/lxc/115.conf");
	cr_assert_eq(target->warnings.n, 1);
	cr_assert_eq(strncmp(target->warnings.v[0], "line 6: ", 8), 0, "%s", target->warnings.v[0]);
	check_map("container", target->map, DEFAULT_MAP);

	cr_assert_eq(target->volumes.n, 3);
	volume = &target->volumes.v[0];
	cr_assert_str_eq(volume->key, "rootfs");
	cr_assert_str_eq(volume->storage, "local-lvm");
	cr_assert_str_eq(volume->type, "lvmthin");
	cr_assert_str_eq(volume->path, "/dev/pve/vm-115-disk-0");
	cr_assert_eq(volume->kind, CTM_VOLUME_BLOCK);
	cr_assert(volume->readonly);
	cr_assert_not(volume->unshifted);
	check_map("rootfs", volume->map, DEFAULT_MAP);
	/* by number, not in the file's order */
	cr_assert_str_eq(target->volumes.v[1].key, "mp2");
	cr_assert_str_eq(target->volumes.v[2].key, "mp10");

	cr_assert_eq(ctm_target_pick(target, "mp10", &volume, &err), 0);
	cr_assert_eq(volume, ctm_target_volume(target, "mp10"));
	check_refused("bind", ctm_target_pick(target, "mp2", &volume, &err), &err,
		      "mp2 of '115': '/srv/share' is a directory of the host", "--ct-config");
	cr_assert_eq(ctm_target_pick(target, "mp3", &volume, &err), -EINVAL);
	cr_assert_eq(err.code, CTM_USAGE);
}

/* The names that lead to no container of this node. */
static const struct {
	const char *name;
	const char *error;
	const char *hint;
	enum ctm_code code;
} ids[] = {
	{ "200", "200 is a VM", "pct list", CTM_REFUSED },
	{ "201", "201 is a VM, on node 'pve2'", "pct list", CTM_REFUSED },
	{ "116", "container 116 is on node 'pve2'", "run ctmend there", CTM_REFUSED },
	{ "999", "there is no container 999", "pct list", CTM_REFUSED },
	{ "0115", "'0115' is no id of a container", "", CTM_USAGE },
	{ "1234567890", "'1234567890' is no id of a container", "", CTM_USAGE },
	{ "", "is empty", "", CTM_USAGE },
	{ "..", "'..' is no name", "", CTM_USAGE },
	{ "web", "there is no container 'web' in '", "lxc-ls", CTM_REFUSED },
};
CASES(target, other_ids, ids)
{
	SCRATCH(s);
	struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };

	make_cluster(&s);
	cr_assert_lt(locate(&s, ids[*i].name, NULL, &target, &err), 0, "%s", ids[*i].name);
	cr_assert_null(target, "%s", ids[*i].name);
	cr_assert_eq(err.code, ids[*i].code, "%s", ids[*i].name);
	cr_assert_not_null(strstr(err.msg, ids[*i].error), "%s: %s", ids[*i].name, err.msg);
	cr_assert_not_null(strstr(err.hint, ids[*i].hint), "%s: %s", ids[*i].name, err.hint);
}

/* Configurations whose rootfs cannot be worked on. */
static const struct {
	const char *name;
	const char *text;
	const char *error;
	const char *hint;
} refused[] = {
	{ "no rootfs", "unprivileged: 1\n", "has no rootfs", "pct config 115" },
	{ "empty file", "", "has no rootfs", "pct config 115" },
	{ "rootfs of a snapshot alone", "[snap]\nrootfs: local-lvm:vm-115-disk-0\n",
	  "has no rootfs", "" },
	{ "unknown property", "\nrootfs: local-lvm:vm-115-disk-0,compress=1\n",
	  "line 2: unknown property 'compress'", "newer version" },
	{ "bad property", "rootfs: local-lvm:vm-115-disk-0,ro=maybe\n", "'ro' is neither",
	  "pct config" },
	{ "unknown storage", "rootfs: gone:vm-115-disk-0\n", "storage 'gone'", "pvesm status" },
	{ "disabled storage", "rootfs: off:115/vm-115-disk-0.raw\n", "storage 'off' is disabled",
	  "pvesm set off --disable 0" },
	{ "storage of another node", "rootfs: far:115/vm-115-disk-0.raw\n",
	  "not for node 'pve1' but for 'pve2'", "" },
	{ "rbd", "rootfs: ceph:vm-115-disk-0\n", "rbd images", "rbd device map" },
	{ "bind", "rootfs: /srv/root\n", "'/srv/root' is a directory of the host", "--ct-config" },
	{ "device", "rootfs: /dev/sdb1\n", "'/dev/sdb1' is a device of the host", "--ct-config" },
	{ "map", "rootfs: local-lvm:vm-115-disk-0\nlxc.idmap: b 0 1 2\n", "line 2: ", "" },
	{ "map of one kind", "rootfs: local-lvm:vm-115-disk-0\nlxc.idmap: u 0 1 2\n",
	  "maps no gids", "lxc.idmap: g" },
	{ "volume's map", "rootfs: local-lvm:vm-115-disk-0,idmap=b:0:0:1\nunprivileged: 1\n",
	  "in idmap=", "" },
	{ "include that is not there",
	  "rootfs: local-lvm:vm-115-disk-0\nlxc.include: /nonexistent/x\n",
	  "line 2: lxc.include: read '/nonexistent/x'", "" },
};
CASES(target, refused_configurations, refused)
{
	static const struct ctm_target_opts keep = { .keep_refused = true };
	SCRATCH(s);
	struct ctm_target *none = NULL;
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	const struct ctm_volume *volume = NULL;
	struct ctm_err err = { 0 };

	make_cluster(&s);
	sysroot_file(&s, "etc/pve/lxc/115.conf", refused[*i].text);
	check_refused(refused[*i].name, locate(&s, "115", NULL, &none, &err), &err,
		      refused[*i].error, refused[*i].hint);
	cr_assert_null(none);

	/* the same, told by the volume */
	cr_assert_eq(locate(&s, "115", &keep, &target, &err), 0, "%s: %s", refused[*i].name,
		     err.msg);
	cr_assert_not_null(strstr(ctm_target_volume(target, "rootfs")->refusal, refused[*i].error),
			   "%s", refused[*i].name);
	check_refused(refused[*i].name, ctm_target_pick(target, "rootfs", &volume, &err), &err,
		      refused[*i].error, refused[*i].hint);
	cr_assert_null(volume);
}

Test(target, a_refused_mount_point_leaves_the_rootfs_alone)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	const struct ctm_volume *volume;
	struct ctm_err err = { 0 };

	make_cluster(&s);
	sysroot_file(
		&s, "etc/pve/lxc/115.conf",
		"unprivileged: 1\nrootfs: local-lvm:vm-115-disk-0\nmp0: ceph:vm-115-disk-1,mp=/a\n"
		"mp1: local-lvm:vm-115-disk-2,mp=/b,idmap=passthrough\n");
	cr_assert_eq(locate(&s, "115", NULL, &target, &err), 0, "%s", err.msg);
	check_refused("mp0", ctm_target_pick(target, "mp0", &volume, &err), &err, "rbd",
		      "rbd device map");
	cr_assert_eq(ctm_target_pick(target, "mp1", &volume, &err), 0, "%s", err.msg);
	cr_assert(volume->unshifted);
	cr_assert_str_eq(volume->idmap_opt, "passthrough");
	check_map("mp1", volume->map, "u 0 0 65536, g 0 0 65536");
}

Test(target, privileged_container)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };

	make_cluster(&s);
	/* PVE ignores the volume's map there */
	sysroot_file(&s, "etc/pve/lxc/115.conf", "rootfs: local-lvm:vm-115-disk-0,idmap=u:0:5:1\n");
	cr_assert_eq(locate(&s, "115", NULL, &target, &err), 0, "%s", err.msg);
	cr_assert(target->privileged);
	cr_assert(target->volumes.v[0].unshifted);
	check_map("rootfs", target->volumes.v[0].map, "");
	cr_assert_eq(target->idmap.n, 0);
}

Test(target, included_maps_are_refused)
{
	SCRATCH(s);
	CLEANUP(ctm_buf_done) struct ctm_buf conf = { 0 };
	CLEANUP(ctm_target_freep) struct ctm_target *good = NULL;
	struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };

	make_cluster(&s);
	cr_assert_eq(
		ctm_buf_addf(
			&conf,
			"rootfs: local-lvm:vm-115-disk-0\nunprivileged: 1\nlxc.include: %s/extra\n",
			s.path),
		0);
	sysroot_file(&s, "etc/pve/lxc/115.conf", conf.p);
	sysroot_file(&s, "extra/a.conf", "lxc.mount.entry = /a b none bind\n");
	cr_assert_eq(locate(&s, "115", NULL, &good, &err), 0, "%s", err.msg);
	sysroot_file(&s, "extra/b.conf", "lxc.idmap = u 0 200000 65536\n");
	check_refused("include", locate(&s, "115", NULL, &target, &err), &err,
		      "line 3: lxc.include", "lxc.idmap lines");
}

Test(target, no_storage_cfg_and_an_unreadable_one)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_target *none = NULL;
	struct ctm_err err = { 0 };

	/* without a file there is "local" */
	sysroot_file(&s, "etc/pve/lxc/115.conf",
		     "rootfs: local:115/vm-115-disk-0.raw\nunprivileged: 1\n");
	cr_assert_eq(locate(&s, "115", NULL, &target, &err), 0, "%s", err.msg);
	cr_assert_str_eq(target->volumes.v[0].path, "/var/lib/vz/images/115/vm-115-disk-0.raw");
	cr_assert_null(target->node);

	sysroot_dir(&s, "etc/pve/storage.cfg");
	check_refused("folder", locate(&s, "115", NULL, &none, &err), &err,
		      "storage.cfg' is no regular file", "");
}

Test(target, an_oversized_configuration_is_refused)
{
	SCRATCH(s);
	CLEANUP_FREE char *bytes = malloc((1 << 20) + 1);
	struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };

	make_cluster(&s);
	memset(bytes, '#', (1 << 20) + 1);
	sysroot_bytes(&s, "etc/pve/lxc/115.conf", bytes, (1 << 20) + 1);
	check_refused("size", locate(&s, "115", NULL, &target, &err), &err, "is larger than", "");
	sysroot_bytes(&s, "etc/pve/lxc/115.conf", "lock: a\0b\n", 10);
	check_refused("NUL", locate(&s, "115", NULL, &target, &err), &err, "NUL", "");
}

/* Digits without Proxmox VE are a name like any other; with an empty /etc/pve they are nothing. */
Test(target, digits_on_other_hosts)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_target *none = NULL;
	struct ctm_err err = { 0 };

	sysroot_file(&s, "var/lib/lxc/115/config", "lxc.rootfs.path = dir:/srv/115\n");
	cr_assert_eq(locate(&s, "115", NULL, &target, &err), 0, "%s", err.msg);
	cr_assert_eq(target->kind, CTM_TARGET_LXC);
	sysroot_dir(&s, "etc/pve");
	check_refused("pmxcfs down", locate(&s, "115", NULL, &none, &err), &err, "not mounted",
		      "systemctl start pve-cluster");
}

Test(target, lxc_container)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };
	const struct ctm_volume *volume;

	sysroot_file(
		&s, "var/lib/lxc/web/config",
		"lxc.rootfs.path = dir:/srv/web\nlxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 200000 65536\n");
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

Test(target, lxcpath_of_lxc_conf_is_literal)
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
CASES(target, lxc_rootfs, lxc)
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
CASES(target, socket, sockets)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };

	cr_assert_eq(ctm_lxc_socket_name(sockets[*i].lxcpath, sockets[*i].name, &name), 0);
	cr_assert_str_eq(name.p, sockets[*i].want);
}

/* A rootfs directory, an image and a FIFO below the scratch directory, named with these options. */
static const struct {
	const char *name;
	const char *path; /* below the scratch directory */
	const char *map;
	const char *config; /* text of the file for --ct-config */
	enum ctm_volume_kind kind;
	const char *want; /* the map; NULL: refused or, without error, no map */
	const char *error;
	enum ctm_code code;
} paths[] = {
	{ "base", "root", "100000", NULL, CTM_VOLUME_DIR, DEFAULT_MAP, NULL, CTM_OK },
	{ "slash at the end", "root/", "100000", NULL, CTM_VOLUME_DIR, DEFAULT_MAP, NULL, CTM_OK },
	{ "image", "disk.raw", "u:0:1:2,g:0:3:4", NULL, CTM_VOLUME_IMAGE, "u 0 1 2, g 0 3 4", NULL,
	  CTM_OK },
	{ "no map", "root", NULL, NULL, CTM_VOLUME_DIR, NULL, NULL, CTM_OK },
	{ "bad map", "root", "x", NULL, CTM_VOLUME_DIR, NULL, "--map", CTM_USAGE },
	{ "both", "root", "100000", "unprivileged: 1\n", CTM_VOLUME_DIR, NULL, "exclude each other",
	  CTM_USAGE },
	{ "gone", "none", "100000", NULL, CTM_VOLUME_DIR, NULL, "there is no '", CTM_REFUSED },
	{ "through a file", "disk.raw/x", "100000", NULL, CTM_VOLUME_DIR, NULL, "there is no '",
	  CTM_REFUSED },
	{ "FIFO", "fifo", "100000", NULL, CTM_VOLUME_DIR, NULL,
	  "is no directory, image file or block device", CTM_REFUSED },
	{ "PVE config", "root", NULL, "unprivileged: 1\nrootfs: a:b\n", CTM_VOLUME_DIR, DEFAULT_MAP,
	  NULL, CTM_OK },
	{ "PVE config, own map", "root", NULL,
	  "arch: amd64\nlxc.idmap: u 0 1 2\nlxc.idmap: g 0 1 2\n", CTM_VOLUME_DIR,
	  "u 0 1 2, g 0 1 2", NULL, CTM_OK },
	{ "PVE config, privileged", "root", NULL, "arch: amd64\n", CTM_VOLUME_DIR, "", NULL,
	  CTM_OK },
	{ "PVE config, map of a snapshot", "root", NULL,
	  "unprivileged: 1\n[snap]\nrootfs: a:b,idmap=passthrough\nlxc.idmap: u 0 1 2\n",
	  CTM_VOLUME_DIR, DEFAULT_MAP, NULL, CTM_OK },
	{ "PVE config, volume with a map", "root", NULL,
	  "unprivileged: 1\nmp0: a:b,mp=/x,idmap=passthrough\n", CTM_VOLUME_DIR, NULL,
	  "line 2: the volumes of this container do not all follow one map", CTM_REFUSED },
	{ "PVE config, volume that is not understood", "root", NULL,
	  "unprivileged: 1\nrootfs: a:b,future=1\n", CTM_VOLUME_DIR, NULL,
	  "line 2: ", CTM_REFUSED },
	{ "PVE config, bad map", "root", NULL, "unprivileged: 1\nlxc.idmap: x\n", CTM_VOLUME_DIR,
	  NULL, "line 2: ", CTM_REFUSED },
	{ "LXC config", "root", NULL, "lxc.idmap = u 0 1 2\nlxc.idmap = g 0 1 2\n", CTM_VOLUME_DIR,
	  "u 0 1 2, g 0 1 2", NULL, CTM_OK },
	{ "LXC config, privileged", "root", NULL, "lxc.uts.name = a\n", CTM_VOLUME_DIR, "", NULL,
	  CTM_OK },
	{ "LXC config, bad line", "root", NULL, "lxc.uts.name\n", CTM_VOLUME_DIR, NULL, "no '='",
	  CTM_REFUSED },
};
CASES(target, path, paths)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	char path[512];
	char config[512];
	char fifo[512];
	const struct ctm_target_opts opts = { .map_spec = paths[*i].map,
					      .ct_config = paths[*i].config ? config : NULL };
	struct ctm_err err = { 0 };
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", s.path, paths[*i].path);
	(void)snprintf(config, sizeof(config), "%s/ct.conf", s.path);
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", s.path);
	sysroot_dir(&s, "root");
	sysroot_file(&s, "disk.raw", "");
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	if (paths[*i].config) {
		sysroot_file(&s, "ct.conf", paths[*i].config);
	}
	r = locate(&s, path, &opts, &target, &err);
	if (paths[*i].error) {
		cr_assert_lt(r, 0, "%s", paths[*i].name);
		cr_assert_eq(err.code, paths[*i].code, "%s: %s", paths[*i].name, err.msg);
		cr_assert_not_null(strstr(err.msg, paths[*i].error), "%s: %s", paths[*i].name,
				   err.msg);
		return;
	}
	cr_assert_eq(r, 0, "%s: %s", paths[*i].name, err.msg);
	cr_assert_eq(target->kind, CTM_TARGET_PATH);
	cr_assert_eq(target->no_map, !paths[*i].want, "%s", paths[*i].name);
	cr_assert_null(target->socket);
	cr_assert_str_eq(target->volumes.v[0].id, path, "%s", paths[*i].name);
	cr_assert_eq(target->volumes.v[0].kind, paths[*i].kind, "%s", paths[*i].name);
	check_map(paths[*i].name, target->volumes.v[0].map, paths[*i].want);
	cr_assert_eq(target->privileged, paths[*i].want && !paths[*i].want[0], "%s",
		     paths[*i].name);
	cr_assert_eq(target->volumes.v[0].unshifted, target->privileged, "%s", paths[*i].name);
	cr_assert_neq(target->volumes.v[0].path[strlen(target->volumes.v[0].path) - 1], '/', "%s",
		      paths[*i].name);
}

Test(target, relative_paths_start_where_we_are)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };
	char want[512];

	sysroot_dir(&s, "root");
	cr_assert_eq(chdir(s.path), 0);
	cr_assert_eq(locate(&s, "./root", NULL, &target, &err), 0, "%s", err.msg);
	(void)snprintf(want, sizeof(want), "%s/./root", s.path);
	cr_assert_str_eq(target->volumes.v[0].path, want);
	cr_assert_str_eq(target->volumes.v[0].id, "./root");
}

/* The places where PVE mounts a container are not its volumes. */
Test(target, pve_mount_places_are_refused)
{
	static const char *const below[] = { "var/lib/lxc/115", "var/lib/lxc/115/rootfs", "link",
					     "var/lib/lxc/115/rootfs/", "link/rootfs" };
	const struct ctm_target_opts opts = { .map_spec = "100000" };
	SCRATCH(s);
	struct ctm_err err = { 0 };
	char path[512];

	make_cluster(&s);
	sysroot_dir(&s, "var/lib/lxc/115/rootfs");
	sysroot_dir(&s, "var/lib/lxc/web/rootfs");
	sysroot_link(&s, "link", "var/lib/lxc/115");
	for (size_t i = 0; i < ARRAY_LEN(below); i++) {
		struct ctm_target *target = NULL;

		(void)snprintf(path, sizeof(path), "%s/%s", s.path, below[i]);
		check_refused(below[i], locate(&s, path, &opts, &target, &err), &err,
			      "where Proxmox VE mounts container 115",
			      "use the id: ctmend check 115");
	}
	(void)snprintf(path, sizeof(path), "%s/var/lib/lxc/web/rootfs", s.path);
	{
		CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;

		cr_assert_eq(locate(&s, path, &opts, &target, &err), 0, "%s", err.msg);
	}
}

static const struct {
	const char *name;
	struct ctm_target_opts opts;
	const char *error;
} misplaced[] = {
	{ "115", { .map_spec = "100000" }, "--map is for a path, '115' is a container" },
	{ "web", { .ct_config = "/x" }, "--ct-config is for a path, 'web' is a container" },
};
CASES(target, options_of_paths, misplaced)
{
	SCRATCH(s);
	struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };

	make_cluster(&s);
	cr_assert_eq(locate(&s, misplaced[*i].name, &misplaced[*i].opts, &target, &err), -EINVAL);
	cr_assert_eq(err.code, CTM_USAGE);
	cr_assert_str_eq(err.msg, misplaced[*i].error);
	cr_assert_not_null(strstr(err.hint, "./"));
}
