/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keys that Proxmox VE knows in a container's configuration.
 */
#include "config/pctkeys.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/lines.h"

static const struct {
	const char *name;
	enum ctm_pctkey type;
} keys[] = {
	{ "arch", CTM_PCTKEY_TEXT },        { "cmode", CTM_PCTKEY_TEXT },
	{ "console", CTM_PCTKEY_BOOL },     { "cores", CTM_PCTKEY_INTEGER },
	{ "cpulimit", CTM_PCTKEY_NUMBER },  { "cpuunits", CTM_PCTKEY_INTEGER },
	{ "debug", CTM_PCTKEY_BOOL },       { "description", CTM_PCTKEY_TEXT },
	{ "entrypoint", CTM_PCTKEY_TEXT },  { "env", CTM_PCTKEY_TEXT },
	{ "features", CTM_PCTKEY_TEXT },    { "hookscript", CTM_PCTKEY_TEXT },
	{ "hostname", CTM_PCTKEY_TEXT },    { "lock", CTM_PCTKEY_TEXT },
	{ "memory", CTM_PCTKEY_INTEGER },   { "nameserver", CTM_PCTKEY_TEXT },
	{ "onboot", CTM_PCTKEY_BOOL },      { "ostype", CTM_PCTKEY_TEXT },
	{ "parent", CTM_PCTKEY_TEXT },      { "protection", CTM_PCTKEY_BOOL },
	{ "rootfs", CTM_PCTKEY_ROOTFS },    { "searchdomain", CTM_PCTKEY_TEXT },
	{ "snaptime", CTM_PCTKEY_INTEGER }, { "startup", CTM_PCTKEY_TEXT },
	{ "swap", CTM_PCTKEY_INTEGER },     { "tags", CTM_PCTKEY_TEXT },
	{ "template", CTM_PCTKEY_BOOL },    { "timezone", CTM_PCTKEY_TEXT },
	{ "tty", CTM_PCTKEY_INTEGER },      { "unprivileged", CTM_PCTKEY_BOOL },
};

/* Keys with a number behind them, from 0. */
static const struct {
	const char *prefix;
	unsigned int last;
	enum ctm_pctkey type;
} numbered[] = {
	{ "dev", 255, CTM_PCTKEY_TEXT },
	{ "mp", 255, CTM_PCTKEY_MP },
	{ "net", 31, CTM_PCTKEY_TEXT },
	{ "unused", 255, CTM_PCTKEY_TEXT },
};

/* Behind "lxc."; a dot at the end means anything that starts so. */
static const char *const lxc_valid[] = {
	"apparmor.allow_incomplete",
	"apparmor.allow_nesting",
	"apparmor.profile",
	"apparmor.raw",
	"arch",
	"autodev",
	"cap.drop",
	"cap.keep",
	"cgroup2.",
	"console.logfile",
	"console.path",
	"devtty.dir",
	"environment",
	"environment.hooks",
	"environment.runtime",
	"group",
	"hook.autodev",
	"hook.clone",
	"hook.destroy",
	"hook.mount",
	"hook.post-stop",
	"hook.pre-mount",
	"hook.pre-start",
	"hook.start",
	"hook.stop",
	"hook.version",
	"idmap",
	"include",
	"init.cmd",
	"init.cwd",
	"init.gid",
	"init.groups",
	"init.uid",
	"kmsg",
	"log.file",
	"log.level",
	"mount.auto",
	"mount.entry",
	"mount.fstab",
	"net.",
	"prlimit.",
	"pty.max",
	"rootfs.mount",
	"seccomp.notify.cookie",
	"seccomp.notify.proxy",
	"seccomp.profile",
	"selinux.context",
	"signal.halt",
	"signal.reboot",
	"signal.stop",
	"start.auto",
	"start.delay",
	"start.order",
	"sysctl.fs.mqueue",
	"sysctl.kernel.msgmax",
	"sysctl.kernel.msgmnb",
	"sysctl.kernel.msgmni",
	"sysctl.kernel.sem",
	"sysctl.kernel.shm_rmid_forced",
	"sysctl.kernel.shmall",
	"sysctl.kernel.shmmax",
	"sysctl.kernel.shmmni",
	"tty.max",
	"uts.name",
};
static const char *const lxc_deprecated[] = {
	"aa_allow_incomplete",
	"aa_profile",
	"cgroup.",
	"console",
	"devttydir",
	"haltsignal",
	"id_map",
	"init_cmd",
	"limit.",
	"logfile",
	"loglevel",
	"mount",
	"network.flags",
	"network.hwaddr",
	"network.ipv4",
	"network.ipv4.gateway",
	"network.ipv6",
	"network.ipv6.gateway",
	"network.link",
	"network.mtu",
	"network.name",
	"network.script.down",
	"network.script.up",
	"network.type",
	"pts",
	"rebootsignal",
	"se_context",
	"seccomp",
	"stopsignal",
	"tty",
	"utsname",
};
static const char *const lxc_refused[] = { "rootfs.options", "rootfs.path" };

/* Whether rest is a decimal number up to last, without a leading zero. */
static bool number_upto(struct ctm_bytes rest, unsigned int last)
{
	const char *p = rest.p;
	unsigned int value = 0;

	if (rest.len == 0 || rest.len > 3 || (rest.len > 1 && p[0] == '0')) {
		return false;
	}
	for (size_t i = 0; i < rest.len; i++) {
		if (p[i] < '0' || p[i] > '9') {
			return false;
		}
		value = value * 10 + (unsigned int)(p[i] - '0');
	}
	return value <= last;
}

enum ctm_pctkey ctm_pctkey(struct ctm_bytes key)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (ctm_bytes_is(key, keys[i].name)) {
			return keys[i].type;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(numbered); i++) {
		size_t len = strlen(numbered[i].prefix);

		if (ctm_bytes_starts(key, numbered[i].prefix) &&
		    number_upto((struct ctm_bytes){ (const char *)key.p + len, key.len - len },
				numbered[i].last)) {
			return numbered[i].type;
		}
	}
	return CTM_PCTKEY_UNKNOWN;
}

static bool listed(struct ctm_bytes name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i]);

		if (list[i][len - 1] == '.' ? ctm_bytes_starts(name, list[i]) :
					      ctm_bytes_is(name, list[i])) {
			return true;
		}
	}
	return false;
}

enum ctm_pctkey_lxc ctm_pctkey_lxc(struct ctm_bytes key)
{
	struct ctm_bytes name;

	if (!ctm_bytes_starts(key, "lxc.")) {
		return CTM_PCTKEY_LXC_UNKNOWN;
	}
	name = (struct ctm_bytes){ (const char *)key.p + 4, key.len - 4 };
	if (listed(name, lxc_refused, ARRAY_LEN(lxc_refused))) {
		return CTM_PCTKEY_LXC_REFUSED;
	}
	if (listed(name, lxc_deprecated, ARRAY_LEN(lxc_deprecated))) {
		return CTM_PCTKEY_LXC_DEPRECATED;
	}
	if (listed(name, lxc_valid, ARRAY_LEN(lxc_valid))) {
		return CTM_PCTKEY_LXC_VALID;
	}
	return CTM_PCTKEY_LXC_UNKNOWN;
}
