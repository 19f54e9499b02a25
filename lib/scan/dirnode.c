/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories of a walk as a tree that knows only the way up. */
#include "scan/dirnode.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct ctm_dirnode *ctm_dirnode_new(struct ctm_dirnode *parent, const char *name, size_t len,
				    uint64_t dev, uint64_t ino)
{
	struct ctm_dirnode *node = malloc(sizeof(*node) + len + 1);

	if (!node) {
		return NULL;
	}
	*node = (struct ctm_dirnode){
		.parent = parent,
		.dev = dev,
		.ino = ino,
		.depth = parent ? parent->depth + 1 : 0,
		.path_len = (uint32_t)len,
		.refs = 1,
		.fd = -1,
		.name_len = (uint8_t)len,
	};
	if (parent && parent->path_len > 0) {
		node->path_len += parent->path_len + 1;
	}
	node->shown = parent && node->path_len > CTM_DIRNODE_SHORT ? parent->shown : node;
	memcpy(node->name, name, len);
	node->name[len] = '\0';
	return node;
}

void ctm_dirnode_unref(struct ctm_dirnode *node, struct ctm_dirnode **dead)
{
	while (node && --node->refs == 0) {
		struct ctm_dirnode *parent = node->parent;

		node->next = *dead;
		*dead = node;
		node = parent;
	}
}

/* Writes the components of node's path that are deeper than depth, the last one first. */
static void fill(char *end, const struct ctm_dirnode *node, uint32_t depth)
{
	for (; node->depth > depth; node = node->parent) {
		end -= node->name_len;
		memcpy(end, node->name, node->name_len);
		if (node->depth > depth + 1) {
			*--end = '/';
		}
	}
}

int ctm_dirnode_path(const struct ctm_dirnode *node, const struct ctm_dirnode *above,
		     struct ctm_buf *out)
{
	int r;

	out->len = above->path_len;
	r = ctm_buf_reserve(out, node->path_len - above->path_len);
	if (r < 0) {
		return r;
	}
	fill(out->p + node->path_len, node, above->depth);
	if (above->path_len > 0 && node->path_len > above->path_len) {
		out->p[above->path_len] = '/';
	}
	out->len = node->path_len;
	out->p[out->len] = '\0';
	return 0;
}

/* Bytes of the path between two nodes. */
static size_t distance(const struct ctm_dirnode *above, const struct ctm_dirnode *below)
{
	return below->path_len - above->path_len - (above->path_len > 0 ? 1 : 0);
}

int ctm_dirnode_step(const struct ctm_dirnode *above, struct ctm_dirnode *below,
		     struct ctm_buf *out, struct ctm_dirnode **ret)
{
	size_t len;
	int r;

	while (below->depth - above->depth > CTM_DIRNODE_STEP ||
	       distance(above, below) >= PATH_MAX) {
		below = below->parent;
	}
	len = distance(above, below);
	out->len = 0;
	r = ctm_buf_reserve(out, len);
	if (r < 0) {
		return r;
	}
	fill(out->p + len, below, above->depth);
	out->len = len;
	out->p[len] = '\0';
	*ret = below;
	return 0;
}
