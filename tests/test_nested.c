/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places where a container keeps containers of its own. */
#include "plan/nested.h"

#include <string.h>

#include "cases.h"

static const struct {
	const char *path;
	bool want;
} paths[] = {
	{ "", false },
	{ "etc/passwd", false },
	{ "rootfs", true },
	{ "rootfs/etc", true },
	{ "rootfs.old/etc", false },
	{ "srv/myrootfs/etc", false },
	{ "var/lib/lxc", false },
	{ "var/lib/lxc/inner", false },
	{ "var/lib/lxc/inner/config", false },
	{ "var/lib/lxc/inner/rootfs", true },
	{ "var/lib/lxc/inner/rootfs/etc/passwd", true },
	{ "home/u/.local/share/lxc/inner/rootfs/bin", true },
	{ "var/lib/docker", false },
	{ "var/lib/docker/overlay2", true },
	{ "var/lib/docker/overlay2/x/diff/etc/passwd", true },
	{ "var/lib/dockerish/x", false },
	{ "var/lib/lxd/storage-pools/default/containers/c1", true },
	{ "var/lib/incus/storage-pools/default/containers/c1/rootfs/etc", true },
	{ "var/lib/machines", false },
	{ "var/lib/machines/web/etc", true },
	{ "var/lib/containers/storage/overlay/x/diff", true },
	{ "home/alice/.local/share/containers/storage", true },
	{ "home/.local/share/containers/storage", false },
	{ "home/a/b/.local/share/containers/storage", false },
	{ "srv/var/lib/docker/overlay2", false },
};

CASES(nested, table, paths)
{
	cr_assert_eq(ctm_path_nested(paths[*i].path, strlen(paths[*i].path)), paths[*i].want, "%s",
		     paths[*i].path);
}

/* Bytes behind the path do not count. */
Test(nested, the_length_ends_it)
{
	cr_assert_not(ctm_path_nested("var/lib/docker/x", strlen("var/lib/docker")));
	cr_assert_not(ctm_path_nested("rootfs", 5));
}
