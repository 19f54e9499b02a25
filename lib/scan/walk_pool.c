/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directories that wait, and who takes the next.
 *
 * One lock, taken once for each directory (and once more for each further block of a large one).
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/walk_state.h"

/* What is closed and freed after the lock was given back. */
struct leftovers {
	struct ctm_dirnode *dead;
	int fd; /* or -1 */
};

static void sweep(struct leftovers *left)
{
	ctm_closep(&left->fd);
	ctm_walk_bury(left->dead);
	left->dead = NULL;
}

void ctm_walk_bury(struct ctm_dirnode *dead)
{
	while (dead) {
		struct ctm_dirnode *next = dead->next;

		ctm_closep(&dead->fd);
		free(dead);
		dead = next;
	}
}

static void unref(struct ctm_walk *walk, struct ctm_dirnode *node, struct leftovers *left)
{
	struct ctm_dirnode *dead = NULL;

	ctm_dirnode_unref(node, &dead);
	while (dead) {
		struct ctm_dirnode *next = dead->next;
		int fd = ctm_dirfds_take(&walk->fds, dead);

		/* Out of the cache, but closed with the node. */
		dead->fd = fd;
		dead->next = left->dead;
		left->dead = dead;
		walk->nodes--;
		dead = next;
	}
}

void ctm_walk_found(struct ctm_worker *w, struct ctm_dirnode *node)
{
	*w->found_end = node;
	w->found_end = &node->next;
	w->n_found++;
}

/* Puts what the worker found in front of what waits. */
static void give_found(struct ctm_worker *w)
{
	struct ctm_walk *walk = w->walk;

	for (struct ctm_dirnode *node = w->found; node; node = node->next) {
		/* The root is no new node: its place in the list is a further reference. */
		struct ctm_dirnode *held = node->parent ? node->parent : node;

		held->refs++;
		walk->nodes += node->parent != NULL;
	}
	if (w->found) {
		*w->found_end = walk->pending;
		walk->pending = w->found;
	}
	if (walk->waiting > 0 && w->n_found > 1) {
		(void)pthread_cond_broadcast(&walk->more);
	}
	w->found = NULL;
	w->found_end = &w->found;
	w->n_found = 0;
}

/* The node is done as far as this worker goes. */
static void give_node(struct ctm_worker *w, struct leftovers *left)
{
	struct ctm_walk *walk = w->walk;

	if (w->anchor) {
		ctm_dirfds_unpin(&walk->fds, w->anchor);
		w->anchor = NULL;
	}
	if (w->own_fd) {
		/* Only what has sub-directories that wait is worth keeping open. */
		if (w->n_found > 0 && w->node->fd < 0) {
			left->fd = ctm_dirfds_put(&walk->fds, w->node, w->fd);
			ctm_dirfds_unpin(&walk->fds, w->node);
		} else {
			left->fd = w->fd;
		}
	}
	w->fd = -1;
	w->own_fd = false;
	give_found(w);
	if (w->node) {
		unref(walk, w->node, left);
		w->node = NULL;
		walk->active--;
	}
	if (ctm_tally_large(&w->tally)) {
		ctm_tally_merge(&walk->tally, &w->tally);
	}
}

void ctm_walk_give(struct ctm_worker *w)
{
	struct leftovers left = { .fd = -1 };

	(void)pthread_mutex_lock(&w->walk->lock);
	give_node(w, &left);
	(void)pthread_mutex_unlock(&w->walk->lock);
	sweep(&left);
}

void ctm_walk_begin(struct ctm_worker *w)
{
	struct ctm_walk *walk = w->walk;

	(void)pthread_mutex_lock(&walk->lock);
	w->node = walk->root;
	w->node->refs++;
	w->anchor = walk->root;
	ctm_dirfds_pin(&walk->fds, walk->root);
	walk->active++;
	(void)pthread_mutex_unlock(&walk->lock);
}

void ctm_walk_take(struct ctm_worker *w, struct ctm_dirnode *node)
{
	(void)pthread_mutex_lock(&w->walk->lock);
	w->walk->nodes++;
	(void)pthread_mutex_unlock(&w->walk->lock);
	w->node = node;
}

/* The root is always open, so there is an anchor. */
static void take_node(struct ctm_worker *w)
{
	struct ctm_walk *walk = w->walk;
	struct ctm_dirnode *node = walk->pending;

	walk->pending = node->next;
	node->next = NULL;
	w->node = node;
	while (node->fd < 0) {
		node = node->parent;
	}
	ctm_dirfds_pin(&walk->fds, node);
	w->anchor = node;
	w->block = walk->nodes > CTM_WALK_MANY_NODES ? CTM_WALK_BLOCK_SMALL : CTM_WALK_BLOCK;
	walk->active++;
}

void ctm_walk_speak_of(struct ctm_worker *w, struct ctm_dirnode *node)
{
	struct leftovers left = { .fd = -1 };

	(void)pthread_mutex_lock(&w->walk->lock);
	if (node) {
		node->refs++;
	}
	if (w->path_of) {
		unref(w->walk, w->path_of, &left);
	}
	w->path_of = node;
	(void)pthread_mutex_unlock(&w->walk->lock);
	sweep(&left);
}

bool ctm_walk_next(struct ctm_worker *w)
{
	struct ctm_walk *walk = w->walk;
	struct leftovers left = { .fd = -1 };
	bool found;

	(void)pthread_mutex_lock(&walk->lock);
	give_node(w, &left);
	while (!walk->pending && walk->active > 0 && !walk->failed) {
		walk->waiting++;
		(void)pthread_cond_wait(&walk->more, &walk->lock);
		walk->waiting--;
	}
	found = walk->pending && !walk->failed;
	if (found) {
		take_node(w);
	} else {
		(void)pthread_cond_broadcast(&walk->more);
	}
	(void)pthread_mutex_unlock(&walk->lock);
	sweep(&left);
	return found;
}

void ctm_walk_anchor(struct ctm_worker *w, struct ctm_dirnode *node, int fd)
{
	struct ctm_walk *walk = w->walk;
	int spare;

	(void)pthread_mutex_lock(&walk->lock);
	if (node->fd < 0) {
		spare = ctm_dirfds_put(&walk->fds, node, fd);
	} else {
		/* Another worker came the same way. */
		ctm_dirfds_pin(&walk->fds, node);
		spare = fd;
	}
	ctm_dirfds_unpin(&walk->fds, w->anchor);
	w->anchor = node;
	(void)pthread_mutex_unlock(&walk->lock);
	ctm_closep(&spare);
}

void ctm_walk_share(struct ctm_worker *w)
{
	struct ctm_walk *walk = w->walk;

	if (w->own_fd) {
		ctm_walk_anchor(w, w->node, w->fd);
		w->own_fd = false;
	}
	(void)pthread_mutex_lock(&walk->lock);
	w->fd = w->node->fd;
	w->node->refs++;
	w->node->next = walk->pending;
	walk->pending = w->node;
	if (walk->waiting > 0) {
		(void)pthread_cond_signal(&walk->more);
	}
	(void)pthread_mutex_unlock(&walk->lock);
}

bool ctm_walk_close_one(struct ctm_walk *walk)
{
	int fd;

	(void)pthread_mutex_lock(&walk->lock);
	fd = ctm_dirfds_take_oldest(&walk->fds);
	(void)pthread_mutex_unlock(&walk->lock);
	if (fd < 0) {
		return false;
	}
	ctm_closep(&fd);
	return true;
}

void ctm_walk_abort(struct ctm_walk *walk, int err, const char *op)
{
	(void)pthread_mutex_lock(&walk->lock);
	if (!walk->failed) {
		walk->failed = err;
		walk->failed_op = op;
	}
	(void)pthread_cond_broadcast(&walk->more);
	(void)pthread_mutex_unlock(&walk->lock);
}
