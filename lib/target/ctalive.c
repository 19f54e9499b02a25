/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owners of sockets, cgroups of all processes. */
#include "target/ctalive.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "target/bounded.h"
#include "target/procs.h"
#include "target/running.h"

CTM_HOST_PATHS

#define NAMING_MS 1000

/* --- whose socket it is ----------------------------------------------------------------------- */

struct owners {
	bool listens; /* the rows that do not listen are its connections */
	size_t n;
	bool doubt; /* one of them is root's, or nobody knows whose */
	uint32_t uid;
	uint64_t inode;
};

static int take_socket(const struct ctm_socket *socket, void *arg)
{
	struct owners *owners = arg;

	/* a connection that nobody has accepted yet has no inode */
	if (socket->inode == 0 || socket->listens != owners->listens) {
		return 0;
	}
	CTM_DEBUG("guard", "the socket %ju is uid %u's (%d)", (uintmax_t)socket->inode, socket->uid,
		  socket->has_uid);
	owners->n++;
	owners->doubt = owners->doubt || !socket->has_uid || socket->uid == 0 ||
			socket->uid == geteuid();
	owners->uid = socket->uid;
	owners->inode = socket->inode;
	return 0;
}

/* --- its cgroups ------------------------------------------------------------------------------ */

bool ctm_ctalive_is_cgroup(const char *path, const char *name)
{
	static const char *const folders[] = { "/lxc/", "/lxc.monitor/", "/lxc.payload/",
					       "/lxc.monitor.", "/lxc.payload." };
	const size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const size_t head = strlen(folders[i]);
		const char *rest;

		if (strncmp(path, folders[i], head) != 0 || strncmp(path + head, name, len) != 0) {
			continue;
		}
		rest = path + head + len;
		/* lxc counts up from 1 where the name was taken */
		if (*rest == '-' && rest[1] >= '0' && rest[1] <= '9') {
			rest += 1 + strspn(rest + 1, "0123456789");
		}
		if (*rest == '\0' || *rest == '/') {
			return true;
		}
	}
	return false;
}

/* "4:memory:/lxc/115" */
static int stop_in_cgroup(pid_t pid, void *arg)
{
	const char *name = arg;
	CLEANUP_FCLOSE FILE *f = NULL;
	CLEANUP_FREE char *line = NULL;
	char path[64];
	size_t cap = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	f = fopen(path, "re");
	while (f && getline(&line, &cap, f) > 0) {
		const char *cgroup = strchr(line, ':');

		cgroup = cgroup ? strchr(cgroup + 1, ':') : NULL;
		line[strcspn(line, "\n")] = '\0';
		if (cgroup && ctm_ctalive_is_cgroup(cgroup + 1, name)) {
			CTM_DEBUG("guard", "process %d is in %s", (int)pid, cgroup + 1);
			return 1;
		}
	}
	return 0;
}

/* --- both ------------------------------------------------------------------------------------- */

int ctm_ctalive(const char *socket, const char *name, struct ctm_ctalive *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_socket_row row;
	struct owners owners = { 0 };
	int r = ctm_socket_table(&text, err);

	*ret = (struct ctm_ctalive){ 0 };
	if (r < 0) {
		return r;
	}
	ctm_socket_find_real((struct ctm_bytes){ text.p, text.len }, socket, &row);
	if (!row.found) {
		return 0;
	}
	ret->running = true;
	owners.listens = row.listening != 0;
	r = ctm_socket_each_real((struct ctm_bytes){ text.p, text.len }, socket, take_socket,
				 &owners);
	if (r < 0 || owners.n == 0 || owners.doubt) {
		return r;
	}
	r = ctm_procs_each(stop_in_cgroup, (void *)(uintptr_t)name);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look for processes of the container");
	}
	if (r == 0) {
		*ret = (struct ctm_ctalive){
			.imitated = true,
			.uid = owners.uid,
			.inode = owners.inode,
		};
	}
	return 0;
}

/* --- who it is -------------------------------------------------------------------------------- */

struct naming {
	uint64_t inode;
	int out;
};

static int stop_at_owner(pid_t pid, void *arg)
{
	const struct naming *naming = arg;
	int r;

	if (!ctm_procs_has_socket(pid, naming->inode)) {
		return 0;
	}
	r = ctm_bounded_say(naming->out, &pid, sizeof(pid));
	return r < 0 ? r : 1;
}

static int find_owner(int out, void *arg)
{
	struct naming *naming = arg;
	int r;

	naming->out = out;
	r = ctm_procs_each(stop_at_owner, naming);
	return r < 0 ? r : 0;
}

int ctm_ctalive_describe(const struct ctm_ctalive *alive, struct ctm_buf *ret)
{
	const struct ctm_bounded limits = { .total_ms = NAMING_MS };
	CLEANUP(ctm_buf_done) struct ctm_buf said = { 0 };
	struct naming naming = { .inode = alive->inode };
	char name[CTM_PROC_NAME];
	pid_t pid;
	int r;

	if (ctm_bounded_ask(find_owner, &naming, &limits, &said) == 0 && said.len == sizeof(pid)) {
		memcpy(&pid, said.p, sizeof(pid));
		ctm_procs_name(pid, name);
		r = ctm_buf_addf(ret, "process %d (%s) of uid %u", (int)pid, name, alive->uid);
	} else {
		r = ctm_buf_addf(ret, "a process of uid %u", alive->uid);
	}
	return r < 0 ? r :
		       ctm_buf_addf(ret, " has taken the container's command socket without being "
					 "its monitor: the container counts as stopped, and cannot "
					 "be started until that process ends");
}
