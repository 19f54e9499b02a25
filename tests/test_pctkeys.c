/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keys that Proxmox VE knows.
 */
#include "config/pctkeys.h"

#include <string.h>

#include "cases.h"

static struct ctm_bytes bytes(const char *text)
{
	return (struct ctm_bytes){ text, strlen(text) };
}

static const struct {
	const char *key;
	enum ctm_pctkey want;
} keys[] = {
	{ "unprivileged", CTM_PCTKEY_BOOL },
	{ "template", CTM_PCTKEY_BOOL },
	{ "lock", CTM_PCTKEY_TEXT },
	{ "memory", CTM_PCTKEY_INTEGER },
	{ "cpulimit", CTM_PCTKEY_NUMBER },
	{ "rootfs", CTM_PCTKEY_ROOTFS },
	{ "mp0", CTM_PCTKEY_MP },
	{ "mp255", CTM_PCTKEY_MP },
	{ "mp256", CTM_PCTKEY_UNKNOWN },
	{ "mp00", CTM_PCTKEY_UNKNOWN },
	{ "mp007", CTM_PCTKEY_UNKNOWN },
	{ "mp", CTM_PCTKEY_UNKNOWN },
	{ "mp1x", CTM_PCTKEY_UNKNOWN },
	{ "unused0", CTM_PCTKEY_TEXT },
	{ "unused256", CTM_PCTKEY_UNKNOWN },
	{ "dev255", CTM_PCTKEY_TEXT },
	{ "net31", CTM_PCTKEY_TEXT },
	{ "net32", CTM_PCTKEY_UNKNOWN },
	{ "rootfs0", CTM_PCTKEY_UNKNOWN },
	{ "futurekey", CTM_PCTKEY_UNKNOWN },
	{ "unprivilege", CTM_PCTKEY_UNKNOWN },
	{ "", CTM_PCTKEY_UNKNOWN },
};
CASES(pctkeys, ordinary, keys)
{
	cr_assert_eq(ctm_pctkey(bytes(keys[*i].key)), keys[*i].want, "%s", keys[*i].key);
}

static const struct {
	const char *key;
	enum ctm_pctkey_lxc want;
} lxc[] = {
	{ "lxc.idmap", CTM_PCTKEY_LXC_VALID },
	{ "lxc.include", CTM_PCTKEY_LXC_VALID },
	{ "lxc.hook.pre-start", CTM_PCTKEY_LXC_VALID },
	{ "lxc.net.0.type", CTM_PCTKEY_LXC_VALID },
	{ "lxc.net", CTM_PCTKEY_LXC_UNKNOWN },
	{ "lxc.cgroup2.memory.max", CTM_PCTKEY_LXC_VALID },
	{ "lxc.cgroup.memory", CTM_PCTKEY_LXC_DEPRECATED },
	{ "lxc.id_map", CTM_PCTKEY_LXC_DEPRECATED },
	{ "lxc.limit.nofile", CTM_PCTKEY_LXC_DEPRECATED },
	{ "lxc.rootfs.path", CTM_PCTKEY_LXC_REFUSED },
	{ "lxc.rootfs.options", CTM_PCTKEY_LXC_REFUSED },
	{ "lxc.rootfs.mount", CTM_PCTKEY_LXC_VALID },
	{ "lxc.rootfs", CTM_PCTKEY_LXC_UNKNOWN },
	{ "lxc.idmap2", CTM_PCTKEY_LXC_UNKNOWN },
	{ "lxc.", CTM_PCTKEY_LXC_UNKNOWN },
	{ "idmap", CTM_PCTKEY_LXC_UNKNOWN },
};
CASES(pctkeys, raw, lxc)
{
	cr_assert_eq(ctm_pctkey_lxc(bytes(lxc[*i].key)), lxc[*i].want, "%s", lxc[*i].key);
}
