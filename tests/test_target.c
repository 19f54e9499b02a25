/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kind of target a name is, and containers of Proxmox VE.
 */
#include "target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"

Test(target, pve_container)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };
	const struct ctm_volume *volume;

	make_cluster(&s);
	sysroot_file(&s, "etc/pve/lxc/115.conf",
		     "rootfs: local-lvm:vm-115-disk-0,ro=1\nunprivileged: 1\n"
		     "hookscript: local:snippets/x.sh\n"
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
	{ "wrong type", "rootfs: san:vm-115-disk-0\n",
	  "of type 'iscsi': Proxmox VE keeps no container volumes there", "rootfs line" },
	{ "old map key on an unknown version",
	  "rootfs: local-lvm:vm-115-disk-0\nunprivileged: 1\nlxc.id_map: u 0 200000 65536\n",
	  "line 3: lxc.id_map", "remove the lxc.id_map lines" },
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
		"unprivileged: 1\nrootfs: local-lvm:vm-115-disk-0\nmp0: san:vm-115-disk-1,mp=/a\n"
		"mp1: local-lvm:vm-115-disk-2,mp=/b,idmap=passthrough\n");
	cr_assert_eq(locate(&s, "115", NULL, &target, &err), 0, "%s", err.msg);
	check_refused("mp0", ctm_target_pick(target, "mp0", &volume, &err), &err, "iscsi",
		      "rootfs line");
	cr_assert_eq(ctm_target_pick(target, "mp1", &volume, &err), 0, "%s", err.msg);
	cr_assert(volume->unshifted);
	cr_assert_str_eq(volume->idmap_opt, "passthrough");
	check_map("mp1", volume->map, "u 0 0 65536, g 0 0 65536");
}

/* On PVE 7 the same lines are the map. */
Test(target, old_map_key)
{
	static const struct {
		const char *version;
		const char *map;
	} rows[] = {
		{ "4.4-7", "u 0 200000 65536, g 0 300000 65536" },
		{ "5.3.5", DEFAULT_MAP },
		{ "6.1.10", DEFAULT_MAP },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		SCRATCH(s);
		CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
		CLEANUP(ctm_buf_done) struct ctm_buf status = { 0 };
		struct ctm_err err = { 0 };

		make_cluster(&s);
		cr_assert_eq(ctm_buf_addf(&status,
					  "Package: pve-container\nStatus: install ok installed\n"
					  "Version: %s\n",
					  rows[i].version),
			     0);
		sysroot_file(&s, "var/lib/dpkg/status", status.p);
		sysroot_file(&s, "etc/pve/lxc/115.conf",
			     "rootfs: local-lvm:vm-115-disk-0\nunprivileged: 1\n"
			     "lxc.id_map: u 0 200000 65536\nlxc.id_map: g 0 300000 65536\n");
		cr_assert_eq(locate(&s, "115", NULL, &target, &err), 0, "%s: %s", rows[i].version,
			     err.msg);
		check_map(rows[i].version, target->map, rows[i].map);
	}
}

/* What only PVE's library can find is a volume all the same, without a path. */
Test(target, volumes_without_a_path)
{
	static const char fsid[] = "01234567-89ab-cdef-0123-456789ABCDEF";
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *before = NULL;
	CLEANUP(ctm_target_freep) struct ctm_target *after = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf ceph = { 0 };
	struct ctm_err err = { 0 };
	const struct ctm_volume *volume;

	make_cluster(&s);
	sysroot_file(
		&s, "etc/pve/lxc/115.conf",
		"rootfs: ceph:vm-115-disk-0\nunprivileged: 1\nmp0: far-ceph:vm-115-disk-1,mp=/a\n"
		"mp1: third:any/name,mp=/b\nmp2: local-lvm:vm-115-disk-2,mp=/c\n");
	cr_assert_eq(locate(&s, "115", NULL, &before, &err), 0, "%s", err.msg);
	for (size_t i = 0; i < 3; i++) {
		volume = &before->volumes.v[i];
		cr_assert(volume->by_pve && volume->activates, "%s", volume->key);
		cr_assert_null(volume->path, "%s", volume->key);
		cr_assert_eq(volume->kind, CTM_VOLUME_BLOCK, "%s", volume->key);
		check_map(volume->key, volume->map, DEFAULT_MAP);
	}
	cr_assert_str_eq(before->volumes.v[0].format, "raw");
	cr_assert_null(before->volumes.v[2].format);
	cr_assert_str_eq(before->volumes.v[2].type, "fancyfs");
	cr_assert_not(before->volumes.v[3].by_pve);
	cr_assert(before->volumes.v[3].activates);

	/* the path of this cluster's own Ceph */
	cr_assert_eq(ctm_buf_addf(&ceph, "[global]\n\tfsid = %s\n", fsid), 0);
	sysroot_file(&s, "etc/pve/ceph.conf", ceph.p);
	cr_assert_eq(locate(&s, "115", NULL, &after, &err), 0, "%s", err.msg);
	volume = &after->volumes.v[0];
	cr_assert_not(volume->by_pve);
	cr_assert_str_eq(volume->path,
			 "/dev/rbd-pve/01234567-89ab-cdef-0123-456789ABCDEF/p/vm-115-disk-0");
	cr_assert(after->volumes.v[1].by_pve);
	cr_assert_null(after->volumes.v[1].path);
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
