/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Targets that are named by their path.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"

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
CASES(target_path, path, paths)
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

Test(target_path, relative_paths_start_where_we_are)
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
Test(target_path, pve_mount_places_are_refused)
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
