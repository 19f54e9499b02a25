/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Find a container's first process among the children of its monitor. */
#include "target/ctinit.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "target/procs.h"
#include "target/running.h"

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

/* --- from the socket ------------------------------------------------------------------------- */

struct listeners {
	uint64_t socket; /* inode */
	pid_t init;
};

static bool is_roots(pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid());
}

/* A monitor that has just forked shares its socket for a moment; the child has no children. */
static int stop_at_monitor(pid_t pid, void *arg)
{
	struct listeners *l = arg;
	int r;

	if (!is_roots(pid) || !ctm_procs_has_socket(pid, l->socket)) {
		return 0;
	}
	r = ctm_ctinit_child(pid, &l->init);
	return r == -ENOENT || r == -ESRCH ? 0 : r;
}

/* 1 and its number, 0: there is none. */
static int look_for(const char *socket, pid_t *ret, struct ctm_err *err)
{
	struct ctm_socket_row row = { .found = false };
	struct listeners l = { 0 };
	int r = ctm_socket_look(socket, &row, err);

	if (r < 0 || row.listening == 0) {
		return r;
	}
	l.socket = row.listening;
	r = ctm_procs_each(stop_at_monitor, &l);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look for the processes of the container");
	}
	*ret = l.init;
	return r;
}

/* --- what it runs with ----------------------------------------------------------------------- */

/* The kernel's own table, three numbers a line (user_namespaces(7)). */
static int read_ranges(pid_t pid, enum ctm_idkind kind, struct ctm_idmap *map, struct ctm_err *err)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[64];
	char line[128] = { kind == CTM_UID ? 'u' : 'g' };
	int r = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid,
		       kind == CTM_UID ? "uid_map" : "gid_map");
	f = fopen(path, "re");
	if (!f) {
		return ctm_err_set(err, CTM_SYS, errno, "read '%s'", path);
	}
	while (r == 0 && fgets(line + 1, (int)sizeof(line) - 1, f)) {
		line[strcspn(line, "\n")] = '\0';
		r = ctm_idmap_add_line(map, line, err);
	}
	if (r < 0) {
		return ctm_err_wrap(err, "'%s'", path);
	}
	return ferror(f) ? ctm_err_set(err, CTM_SYS, EIO, "read '%s'", path) : 0;
}

static int check_map(const struct ctm_target *target, pid_t pid, struct ctm_err *err)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r;

	if (!target->map || target->privileged) {
		return 0;
	}
	map = ctm_idmap_new();
	if (!map) {
		return ctm_err_nomem(err);
	}
	r = read_ranges(pid, CTM_UID, map, err);
	r = r < 0 ? r : read_ranges(pid, CTM_GID, map, err);
	if (r < 0) {
		return r;
	}
	if (ctm_idmap_format(map, &text) < 0) {
		return ctm_err_nomem(err);
	}
	if (ctm_idmap_eq(map, target->map)) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"the running container has the map %s, which is not its configuration's",
			text.p ? text.p : "of nobody");
	ctm_err_hint(err, "the configuration was changed since it was started; stop it first");
	return r;
}

static int same_mounts(pid_t pid, bool *ret)
{
	struct stat its;
	struct stat ours;
	int r = stat_ns(pid, "mnt", &its);

	r = r < 0 ? r : stat_ns(getpid(), "mnt", &ours);
	*ret = r == 0 && its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
	return r;
}

static int refuse(const char *why, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, 0, "the container is running, but %s", why);

	ctm_err_hint(err, "if it is being started or stopped, try again in a moment");
	return r;
}

/* init.fd pins the process; what is found out from here on is of this one, if it is still alive. */
static int check(const struct ctm_target *target, const struct ctm_ctinit *init,
		 struct ctm_err *err)
{
	bool same = false;
	pid_t again = 0;
	int r = look_for(target->socket, &again, err);

	if (r < 0) {
		return r;
	}
	if (r == 0 || again != init->pid || same_mounts(init->pid, &same) < 0) {
		return refuse("its first process has just ended", err);
	}
	if (same) {
		return refuse("its first process has the mounts of this host", err);
	}
	r = check_map(target, init->pid, err);
	if (r == 0 && !ctm_ctinit_alive(init)) {
		return refuse("its first process has just ended", err);
	}
	return r;
}

int ctm_ctinit_find(const struct ctm_target *target, struct ctm_ctinit *ret, struct ctm_err *err)
{
	CLEANUP(ctm_ctinit_done) struct ctm_ctinit init = { .fd = -1 };
	int r = target->socket ? look_for(target->socket, &init.pid, err) : 0;

	if (r == 0) {
		return refuse("no process of it is to be found", err);
	}
	if (r > 0) {
		init.fd = pidfd_open(init.pid, 0);
		r = init.fd >= 0 ? check(target, &init, err) :
				   refuse("its first process has just ended", err);
	}
	if (r < 0) {
		return r;
	}
	CTM_DEBUG("init", "the container's first process is %d", (int)init.pid);
	*ret = init;
	init.fd = -1;
	return 0;
}

void ctm_ctinit_done(struct ctm_ctinit *init)
{
	ctm_closep(&init->fd);
}

bool ctm_ctinit_alive(const struct ctm_ctinit *init)
{
	struct pollfd p = { .fd = init->fd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}
