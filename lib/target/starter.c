/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks and sockets of our ancestors. */
#include "target/starter.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "target/ctinit.h"
#include "target/hostlock.h"
#include "target/lockholder.h"
#include "target/procs.h"
#include "target/running.h"

CTM_HOST_PATHS

/* --- the config flock ------------------------------------------------------------------------- */

int ctm_starter_config(const struct ctm_host *host, unsigned int vmid, enum ctm_starter_lock *ret,
		       int *ret_fd, struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = -1;
	bool above = false;
	int r = ctm_hostlock_config_open(host, vmid, &fd, err);

	if (r < 0) {
		return r;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		*ret = CTM_STARTER_NONE;
		*ret_fd = TAKE_FD(fd);
		return 0;
	}
	if (errno != EWOULDBLOCK) {
		return ctm_err_set(err, CTM_SYS, errno, "lock the configuration of CT %u", vmid);
	}
	r = ctm_lockholder_above(fd, &above);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "find out who holds the configuration of CT %u",
				   vmid);
	}
	*ret = above ? CTM_STARTER_ANCESTOR : CTM_STARTER_OTHER;
	*ret_fd = -1;
	return 0;
}

/* --- the command socket ----------------------------------------------------------------------- */

/* 0 and *ret, -ECONNREFUSED: nobody listens. */
static int peer_of(const char *name, struct ucred *ret)
{
	CLEANUP_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const size_t len = strlen(name);
	socklen_t size = sizeof(*ret);

	if (fd < 0) {
		return -errno;
	}
	if (len > sizeof(addr.sun_path) - 1) {
		return -ENAMETOOLONG;
	}
	memcpy(addr.sun_path + 1, name, len); /* an abstract name begins with a NUL */
	if (connect(fd, (const struct sockaddr *)&addr,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &size) < 0) {
		return -errno;
	}
	return 0;
}

/* The nearest ancestor that has the listening socket open; 0: none. */
static pid_t ancestor_with_socket(uint64_t inode)
{
	pid_t at = getpid();

	while (inode != 0 && ctm_procs_parent(at, &at) == 0 && at > 0) {
		if (ctm_procs_has_socket(at, inode)) {
			return at;
		}
	}
	return 0;
}

int ctm_starter_monitor(const char *socket, bool *ret, struct ctm_err *err)
{
	struct ctm_socket_row row;
	struct ucred peer;
	pid_t monitor;
	pid_t init;
	int r = ctm_socket_look(socket, &row, err);

	if (r < 0) {
		return r;
	}
	r = row.found ? peer_of(socket, &peer) : -ECONNREFUSED;
	if (r < 0 && r != -ECONNREFUSED && r != -EAGAIN) {
		return ctm_err_set(err, CTM_SYS, r, "ask who listens on '@%s'", socket);
	}
	if (r < 0 || (peer.uid != 0 && peer.uid != geteuid())) {
		*ret = false;
		return 0;
	}
	monitor = ctm_procs_is_ancestor(peer.pid) ? peer.pid : ancestor_with_socket(row.listening);
	if (monitor == 0) {
		*ret = false;
		return 0;
	}
	r = ctm_ctinit_child(monitor, &init);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at the children of process %d",
				   (int)monitor);
	}
	*ret = r == 0;
	return 0;
}
