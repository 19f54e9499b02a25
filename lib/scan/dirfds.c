/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The open descriptors of directories, within a budget. */
#include "scan/dirfds.h"

#include "base/cleanup.h"

static void idle_add(struct ctm_dirfds *fds, struct ctm_dirnode *node)
{
	node->older = fds->newest;
	node->newer = NULL;
	if (fds->newest) {
		fds->newest->newer = node;
	} else {
		fds->oldest = node;
	}
	fds->newest = node;
}

static void idle_remove(struct ctm_dirfds *fds, struct ctm_dirnode *node)
{
	*(node->newer ? &node->newer->older : &fds->newest) = node->older;
	*(node->older ? &node->older->newer : &fds->oldest) = node->newer;
	node->newer = NULL;
	node->older = NULL;
}

int ctm_dirfds_put(struct ctm_dirfds *fds, struct ctm_dirnode *node, int fd)
{
	node->fd = fd;
	node->pins = 1;
	fds->open++;
	return fds->open > fds->budget ? ctm_dirfds_take_oldest(fds) : -1;
}

void ctm_dirfds_pin(struct ctm_dirfds *fds, struct ctm_dirnode *node)
{
	if (node->pins++ == 0) {
		idle_remove(fds, node);
	}
}

void ctm_dirfds_unpin(struct ctm_dirfds *fds, struct ctm_dirnode *node)
{
	if (--node->pins == 0) {
		idle_add(fds, node);
	}
}

int ctm_dirfds_take(struct ctm_dirfds *fds, struct ctm_dirnode *node)
{
	if (node->fd < 0) {
		return -1;
	}
	idle_remove(fds, node);
	fds->open--;
	return TAKE_FD(node->fd);
}

int ctm_dirfds_take_oldest(struct ctm_dirfds *fds)
{
	return fds->oldest ? ctm_dirfds_take(fds, fds->oldest) : -1;
}
