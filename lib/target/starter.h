/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who starts the container that a hook was called for: is it the process that called us?
 *
 * A hook cannot believe its arguments, anybody can type them. What it can believe is what the
 * kernel says of locks and sockets, and of who started whom.
 */
#ifndef CTM_TARGET_STARTER_H
#define CTM_TARGET_STARTER_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"
#include "target/host.h"

enum ctm_starter_lock {
	CTM_STARTER_NONE,     /* nobody held it: called by hand, and now ours */
	CTM_STARTER_ANCESTOR, /* who called us holds it, as pct start does */
	CTM_STARTER_OTHER,    /* somebody else holds it */
};

/**
 * For `hookscript:` of PVE. Never waits. *ret_fd: CTM_STARTER_NONE: holds the lock until it is
 * closed; else -1. A lock whose holder no process of /proc shows is somebody else's.
 */
int ctm_starter_config(const struct ctm_host *host, unsigned int vmid, enum ctm_starter_lock *ret,
		       int *ret_fd, struct ctm_err *err);

/**
 * The name for ctm_starter_monitor(): of the socket that belongs to a hook's LXC_NAME and
 * LXC_CONFIG_FILE. Nothing is read, so that it is known of a container which cannot be located,
 * too.
 */
int ctm_starter_socket(const struct ctm_host *host, const char *name, const char *config,
		       struct ctm_buf *ret, struct ctm_err *err);

/**
 * For `lxc.hook.pre-start`. True when the container's command socket is listened on by a process
 * of root that called us, and that process has no child in other namespaces yet: it is the
 * monitor, and the container's init is not there. socket: as ctm_target has it.
 *
 * unix(7): SO_PEERCRED of a connection has the credentials that the listener had when it called
 * listen(2). That it is root's must be asked there: a socket can be inherited by a process of
 * another user (as its standard input, through sudo). lxc-start without -F listens first and then
 * forks to become a daemon (lxc 5.0.2), so the process that SO_PEERCRED names is not above the
 * hook; then the ancestor counts that has the listening socket open.
 */
int ctm_starter_monitor(const char *socket, bool *ret, struct ctm_err *err);

#endif
