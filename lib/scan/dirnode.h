/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Directories that a walk is in, or has seen and not yet entered, as a tree that knows only the way
 * up.
 *
 * A node holds a reference on its parent, so a path can be composed, and a directory whose
 * descriptor was closed be found again, as long as anything below it is unfinished; memory depends
 * on depth and on what waits, not on the size of the tree. Name, parent, shown, dev, ino and rule
 * never change and may be read by any thread that holds a reference; all else is guarded by the
 * walk's lock.
 */
#ifndef CTM_SCAN_DIRNODE_H
#define CTM_SCAN_DIRNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "rules/rules.h"

/** Paths of so many bytes are short (ctm_dirnode.shown). */
#define CTM_DIRNODE_SHORT 1024u

struct ctm_dirnode {
	struct ctm_dirnode *parent; /* NULL: the volume's root */
	struct ctm_dirnode *shown;  /* the last one at or above it with a short path */
	const struct ctm_rule_node *rule;
	uint64_t dev;
	uint64_t ino;
	uint32_t depth;    /* 0: the root */
	uint32_t path_len; /* of the whole path from the root */
	/* from here on guarded by the lock */
	uint32_t refs; /* children, places in a list, and workers */
	uint32_t pins; /* users of fd; see dirfds.h */
	int fd;        /* -1: not open */
	uint8_t name_len;
	int64_t offset;                    /* where its listing goes on (lseek); 0: not begun */
	struct ctm_dirnode *next;          /* in the list it is in */
	struct ctm_dirnode *newer, *older; /* among the idle descriptors */
	char name[];                       /* NUL-terminated */
};

/**
 * A node with one reference. name "" and parent NULL: the root. The parent's reference is the
 * caller's to take (under the lock, for many children at once). NULL when memory runs out.
 */
struct ctm_dirnode *ctm_dirnode_new(struct ctm_dirnode *parent, const char *name, size_t len,
				    uint64_t dev, uint64_t ino);

/**
 * Gives back one reference. Nodes that nobody needs any more, this one and those above it, are put
 * in front of the list *dead, descriptors included.
 */
void ctm_dirnode_unref(struct ctm_dirnode *node, struct ctm_dirnode **dead);

/**
 * Path of node from the root, without slashes at the ends. out begins with the path of above, which
 * is node or above it (its first above->path_len bytes are right); the rest is put behind that.
 * -ENOMEM.
 */
int ctm_dirnode_path(const struct ctm_dirnode *node, const struct ctm_dirnode *above,
		     struct ctm_buf *out);

/** A step of a way down is shorter than PATH_MAX and has at most so many components. */
#define CTM_DIRNODE_STEP 64

/**
 * The first step of the way from above down to below (above is one of its ancestors), as a relative
 * path in out, and the node where it ends. -ENOMEM.
 */
int ctm_dirnode_step(const struct ctm_dirnode *above, struct ctm_dirnode *below,
		     struct ctm_buf *out, struct ctm_dirnode **ret);

#endif
