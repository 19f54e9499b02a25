/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Find a container's first process among the children of its monitor. */
#include "target/ctinit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "target/procs.h"

CTM_HOST_PATHS

struct family {
	pid_t monitor;
	struct stat pid_ns;
	struct stat user_ns;
	pid_t init;
};

static int stat_ns(pid_t pid, const char *kind, struct stat *ret)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	return stat(path, ret) < 0 ? -errno : 0;
}

/* The hooks are children of the monitor too, but live where it lives. */
static int stop_at_init(pid_t pid, void *arg)
{
	struct family *family = arg;
	struct stat pid_ns;
	struct stat user_ns;
	pid_t parent;

	if (ctm_procs_parent(pid, &parent) < 0 || parent != family->monitor ||
	    stat_ns(pid, "pid", &pid_ns) < 0 || stat_ns(pid, "user", &user_ns) < 0) {
		return 0;
	}
	family->init = pid;
	return pid_ns.st_ino != family->pid_ns.st_ino || user_ns.st_ino != family->user_ns.st_ino;
}

int ctm_ctinit_child(pid_t monitor, pid_t *ret)
{
	struct family family = { .monitor = monitor };
	int r = stat_ns(monitor, "pid", &family.pid_ns);

	r = r < 0 ? r : stat_ns(monitor, "user", &family.user_ns);
	r = r < 0 ? r : ctm_procs_each(stop_at_init, &family);
	if (r == 1) {
		*ret = family.init;
	}
	return r;
}
