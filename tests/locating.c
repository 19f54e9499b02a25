/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the tests of locate.
 */
#include "locating.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"

static const char storages[] = "lvmthin: local-lvm\n\tvgname pve\n\tthinpool data\n\n"
			       "dir: off\n\tpath /srv/off\n\tdisable\n\n"
			       "dir: far\n\tpath /srv/far\n\tnodes pve2\n\n"
			       "rbd: ceph\n\tpool p\n\n"
			       "rbd: far-ceph\n\tpool p\n\tmonhost 192.0.2.1\n\n"
			       "fancyfs: third\n\n"
			       "iscsi: san\n\tportal 192.0.2.2\n\ttarget t\n\n";

void make_cluster(const struct scratch *s)
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

int locate(const struct scratch *s, const char *name, const struct ctm_target_opts *opts,
	   struct ctm_target **ret, struct ctm_err *err)
{
	const struct ctm_host host = { .sysroot = s->path };

	return ctm_target_locate(&host, name, opts, ret, err);
}

void check_map(const char *name, const struct ctm_idmap *map, const char *want)
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

void check_refused(const char *name, int r, const struct ctm_err *err, const char *msg,
		   const char *hint)
{
	cr_assert_lt(r, 0, "%s: not refused", name);
	cr_assert_eq(err->code, CTM_REFUSED, "%s: %s", name, err->msg);
	cr_assert_not_null(strstr(err->msg, msg), "%s: %s", name, err->msg);
	cr_assert_not_null(strstr(err->hint, hint), "%s: %s", name, err->hint);
}
