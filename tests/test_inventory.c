/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every container of a host. */
#include "target/inventory.h"

#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"

static void check(const struct scratch *s, const char *name, const char *want, const char *missing)
{
	CLEANUP(ctm_inventory_done) struct ctm_inventory inventory = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	const struct ctm_host host = { .sysroot = s->path };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_inventory_read(&host, &inventory, &err), 0, "%s: %s", name, err.msg);
	for (size_t i = 0; i < inventory.names.n; i++) {
		cr_assert_eq(ctm_buf_addf(&got, "%s ", inventory.names.v[i]), 0);
	}
	cr_assert_str_eq(got.p ? got.p : "", want, "%s", name);
	if (missing) {
		cr_assert_neq(inventory.missing.code, CTM_OK, "%s", name);
		cr_assert_not_null(strstr(inventory.missing.msg, missing), "%s: %s", name,
				   inventory.missing.msg);
	} else {
		cr_assert_eq(inventory.missing.code, CTM_OK, "%s: %s", name, inventory.missing.msg);
	}
}

Test(inventory, nothing_at_all)
{
	SCRATCH(s);

	check(&s, "empty", "", NULL);
}

Test(inventory, of_this_node_and_plain_ones)
{
	SCRATCH(s);

	make_cluster(&s); /* 115 here, 116 on the other node, VMs 200 and 201 */
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/1002.conf", "");
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/99.conf", "");
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/115.conf.tmp.1234", "");
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/0115.conf", "");
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/x.conf", "");
	/* what Proxmox VE keeps there is not plain LXC */
	sysroot_file(&s, "var/lib/lxc/115/config", "");
	sysroot_file(&s, "var/lib/lxc/4711/config", "");
	sysroot_file(&s, "var/lib/lxc/web/config", "");
	sysroot_file(&s, "var/lib/lxc/db 1/config", "");
	sysroot_file(&s, "var/lib/lxc/.hidden/config", "");
	sysroot_dir(&s, "var/lib/lxc/empty");
	check(&s, "cluster", "99 115 1002 db 1 web ", NULL);
}

Test(inventory, plain_host)
{
	SCRATCH(s);
	char conf[400];

	sysroot_file(&s, "var/lib/lxc/7/config", "");
	sysroot_file(&s, "var/lib/lxc/web/config", "");
	check(&s, "default path", "7 web ", NULL);
	sysroot_file(&s, "srv/lxc/other/config", "");
	(void)snprintf(conf, sizeof(conf), "lxc.lxcpath = %s/srv/lxc\n", s.path);
	sysroot_file(&s, "etc/lxc/lxc.conf", conf);
	check(&s, "lxc.lxcpath", "other ", NULL);
}

Test(inventory, what_is_missing_is_said_and_the_rest_is_there)
{
	SCRATCH(s);

	sysroot_dir(&s, "etc/pve"); /* the cluster file system is not mounted */
	sysroot_file(&s, "var/lib/lxc/web/config", "");
	check(&s, "pmxcfs down", "web ", "not mounted");
}

Test(inventory, unreadable_lxc_conf)
{
	SCRATCH(s);

	make_cluster(&s);
	sysroot_file(&s, "etc/lxc/lxc.conf", "lxc.lxcpath\n");
	check(&s, "broken lxc.conf", "115 ", "lxc.conf");
}
