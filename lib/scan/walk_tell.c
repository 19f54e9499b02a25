/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a worker says. The path of the directory it spoke of last is kept, and the node with it: in
 * a deep tree only the part that differs is composed and sent.
 */
#include <limits.h>
#include <string.h>

#include "scan/walk_state.h"

/* The last directory that is at or above both. */
static const struct ctm_dirnode *common(const struct ctm_dirnode *a, const struct ctm_dirnode *b)
{
	while (a != b) {
		if (a->depth >= b->depth) {
			a = a->parent;
		} else {
			b = b->parent;
		}
	}
	return a;
}

/* Makes w->path begin with this directory's path, and the pipe's other end know it. */
static int speak_of(struct ctm_worker *w, struct ctm_dirnode *dir)
{
	const struct ctm_dirnode *shared;
	int r;

	if (w->path_of == dir) {
		return 0;
	}
	shared = common(w->path_of ? w->path_of : w->walk->root, dir);
	r = ctm_dirnode_path(dir, shared, &w->path);
	if (r < 0) {
		return r;
	}
	ctm_walk_speak_of(w, dir);
	return ctm_feed_dir(&w->out, w->path.p, dir->path_len, shared->path_len);
}

int ctm_walk_tell(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len,
		  struct ctm_fact *fact)
{
	int r;

	if (w->sieve.none) {
		return 0;
	}
	r = speak_of(w, dir);
	if (r < 0) {
		return r;
	}
	w->path.len = dir->path_len;
	r = ctm_buf_reserve(&w->path, len + 1);
	if (r < 0) {
		return r;
	}
	if (len > 0 && w->path.len > 0) {
		(void)ctm_buf_add(&w->path, "/", 1);
	}
	(void)ctm_buf_add(&w->path, name, len);
	fact->path = w->path.p;
	fact->path_len = w->path.len;
	return ctm_feed_fact(&w->out, fact);
}

int ctm_walk_error(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len,
		   int err, const char *op)
{
	struct ctm_fact fact = { .kind = CTM_FACT_ERROR, .err = err, .op = op };

	w->tally.errors++;
	/* Names are cheap for a tenant; a copy of its long path for each of them is not for us. */
	if (dir->path_len + 1 + len > PATH_MAX) {
		dir = dir->shown;
		len = 0;
		fact.op = CTM_OP_DEEP;
	}
	return ctm_walk_tell(w, dir, name, len, &fact);
}

int ctm_walk_tell_path(struct ctm_worker *w, struct ctm_fact *fact)
{
	int r;

	if (w->sieve.none) {
		return 0;
	}
	ctm_walk_speak_of(w, NULL);
	r = ctm_feed_dir(&w->out, fact->path, fact->path_len, 0);
	return r < 0 ? r : ctm_feed_fact(&w->out, fact);
}
