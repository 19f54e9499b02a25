/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The open descriptors of directories, within a budget.
 *
 * A descriptor in use is pinned. The others stay open as long as there is room, because what waits
 * below them is opened relative to them; the one idle for the longest time goes first. Guarded by
 * the walk's lock; nothing here makes a system call: descriptors to close are handed back.
 */
#ifndef CTM_SCAN_DIRFDS_H
#define CTM_SCAN_DIRFDS_H

#include <stddef.h>

#include "scan/dirnode.h"

struct ctm_dirfds {
	struct ctm_dirnode *newest;
	struct ctm_dirnode *oldest;
	size_t open; /* pinned and idle */
	size_t budget;
};

/**
 * Hands over the open fd of a node that has none (node->fd is -1), pinned once. Returns a
 * descriptor that the caller closes to stay within the budget, or -1. When all are pinned the
 * budget is overrun.
 */
int ctm_dirfds_put(struct ctm_dirfds *fds, struct ctm_dirnode *node, int fd);
/** The node is open. */
void ctm_dirfds_pin(struct ctm_dirfds *fds, struct ctm_dirnode *node);
void ctm_dirfds_unpin(struct ctm_dirfds *fds, struct ctm_dirnode *node);
/** Takes the descriptor of a node without pins out; -1 when it has none. The caller closes it. */
int ctm_dirfds_take(struct ctm_dirfds *fds, struct ctm_dirnode *node);
/**
 * Takes the descriptor out that is idle for the longest time; -1: none is idle. The caller closes
 * it.
 */
int ctm_dirfds_take_oldest(struct ctm_dirfds *fds);

#endif
