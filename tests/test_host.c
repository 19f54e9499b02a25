/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fixed places of the host.
 */
#include "target/host.h"

#include "base/cleanup.h"
#include "cases.h"

static const struct {
	const char *sysroot;
	const char *want;
} rows[] = {
	{ "", "/etc/pve/lxc/115.conf" },
	{ NULL, "/etc/pve/lxc/115.conf" },
	{ "/mnt/host", "/mnt/host/etc/pve/lxc/115.conf" },
	{ "/mnt/100%s", "/mnt/100%s/etc/pve/lxc/115.conf" },
};
CASES(host, path, rows)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	const struct ctm_host host = { .sysroot = rows[*i].sysroot };

	cr_assert_eq(ctm_host_path(&host, &path, "%s/lxc/%u.conf", CTM_PLACE_PVE, 115u), 0);
	cr_assert_str_eq(path.p, rows[*i].want);
}
