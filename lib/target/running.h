/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command sockets of containers. PVE and LXC both mean by "running": its monitor listens on the
 * abstract command socket. Whether it is a monitor that does, target/ctalive.h knows.
 */
#ifndef CTM_TARGET_RUNNING_H
#define CTM_TARGET_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "target/host.h"

/** A socket in the text of /proc/net/unix. */
struct ctm_socket_row {
	bool found;
	uint64_t listening; /* inode of the one that listens, 0: only connections are left */
};

/** One socket of a name. */
struct ctm_socket {
	uint64_t inode; /* 0: a connection that nobody has accepted yet */
	bool listens;
	bool has_uid; /* only of one that is real, and from Linux 5.3 on */
	uint32_t uid; /* of who has made it */
};

/** This host's table, as text. */
int ctm_socket_table(struct ctm_buf *ret, struct ctm_err *err);
/** fn for each socket that has the abstract name; stops when it returns other than 0. */
int ctm_socket_each(struct ctm_bytes text, const char *name,
		    int (*fn)(const struct ctm_socket *socket, void *arg), void *arg);
/**
 * The same without the rows that are none: a name may have line ends in it, and so anybody can make
 * a row up. Asks the kernel for each; where that does not answer, every row counts.
 */
int ctm_socket_each_real(struct ctm_bytes text, const char *name,
			 int (*fn)(const struct ctm_socket *socket, void *arg), void *arg);
/** Looks for the abstract name (without its leading NUL), compared as a whole. */
void ctm_socket_find(struct ctm_bytes text, const char *name, struct ctm_socket_row *ret);
/** The same among the real ones. */
void ctm_socket_find_real(struct ctm_bytes text, const char *name, struct ctm_socket_row *ret);
/** The same in this host's table. */
int ctm_socket_look(const char *name, struct ctm_socket_row *ret, struct ctm_err *err);

/**
 * A container of PVE that reboots from inside has no socket for a moment, but the file
 * <sysroot>/var/lib/lxc/<vmid>/reboot.
 */
int ctm_running_rebooting(const struct ctm_host *host, unsigned int vmid, bool *ret,
			  struct ctm_err *err);

#endif
