/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a walk begins: the way from the root to each start path, one component at a time, under the
 * same rules as the walk itself. One worker does this, before there are others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/walk_state.h"

struct start {
	const char *path;
	const char *name; /* the component that is looked at, within path */
	size_t len;       /* of name */
};

static bool is_last(const struct start *at)
{
	return at->name[at->len] == '\0';
}

/* The reason why the start cannot be reached; its path is given as a whole. */
static int unreachable(struct ctm_worker *w, const struct start *at, int err)
{
	struct ctm_fact fact = {
		.kind = CTM_FACT_ERROR,
		.path = at->path,
		.path_len = strlen(at->path),
		.err = err,
		.op = "open",
	};

	w->tally.errors++;
	return ctm_walk_tell_path(w, &fact);
}

static int mounted(struct ctm_worker *w, const struct start *at)
{
	struct ctm_fact fact = {
		.kind = CTM_FACT_MOUNT,
		.path = at->path,
		.path_len = (size_t)(at->name + at->len - at->path),
	};

	return ctm_walk_tell_path(w, &fact);
}

/* Goes from w->node, open as the anchor, to its sub-directory. */
static int enter(struct ctm_worker *w, const char *name, size_t len)
{
	struct ctm_dirnode *node = ctm_walk_child_node(w, w->node, name, len);
	int r;

	if (!node) {
		return -ENOMEM;
	}
	/* The new node's reference on its parent is the one the worker had. */
	ctm_walk_take(w, node);
	r = ctm_walk_open_node(w);
	if (r == 0) {
		ctm_walk_anchor(w, node, TAKE_FD(w->fd));
		w->own_fd = false;
	}
	return r;
}

/* One component. 1: go on with the next. */
static int step(struct ctm_worker *w, const struct start *at)
{
	char name[CTM_FEED_NAME_MAX + 1];
	int r;

	if (at->len > CTM_FEED_NAME_MAX) {
		return unreachable(w, at, ENAMETOOLONG);
	}
	memcpy(name, at->name, at->len);
	name[at->len] = '\0';
	if (fchdir(w->anchor->fd) < 0) {
		return unreachable(w, at, errno);
	}
	r = ctm_walk_stat(name, &w->stx);
	if (r < 0) {
		return unreachable(w, at, -r);
	}
	if (S_ISLNK(w->stx.stx_mode)) {
		/* The link itself is an entry like others, but where it leads was meant. */
		r = unreachable(w, at, ELOOP);
		return r == 0 && is_last(at) ? ctm_walk_entry(w, w->node, name, at->len) : r;
	}
	if (is_last(at)) {
		return ctm_walk_entry(w, w->node, name, at->len);
	}
	if (ctm_walk_is_mount(w->walk, &w->stx)) {
		return mounted(w, at);
	}
	if (!S_ISDIR(w->stx.stx_mode)) {
		return unreachable(w, at, ENOTDIR);
	}
	if (ctm_walk_is_elsewhere(w->walk, &w->stx)) {
		w->tally.subvolumes++;
		return 0;
	}
	r = enter(w, name, at->len);
	if (r < 0) {
		return r == -ENOMEM ? r : unreachable(w, at, -r);
	}
	return 1;
}

static int start_root(struct ctm_worker *w)
{
	if (fchdir(w->anchor->fd) < 0) {
		return ctm_walk_error(w, w->node, "", 0, errno, "open");
	}
	return ctm_walk_entry(w, w->node, ".", 0);
}

static int start_below(struct ctm_worker *w, const char *path)
{
	struct start at = { .path = path, .name = path };
	int r;

	do {
		at.name += at.len + (at.len > 0);
		at.len = strcspn(at.name, "/");
		r = step(w, &at);
	} while (r > 0);
	return r;
}

int ctm_walk_starts(struct ctm_worker *w)
{
	CLEANUP_FREE const char **starts = NULL;
	size_t n = 0;
	int r = ctm_sieve_starts(w->walk->req, &starts, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		ctm_walk_begin(w);
		r = starts[i][0] ? start_below(w, starts[i]) : start_root(w);
		ctm_walk_give(w);
	}
	return r;
}
