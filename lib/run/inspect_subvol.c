/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A subvolume has a device number of its own (btrfs(5)), so all inodes of a path that have the
 * action's lie in it, and the topmost of them is its top directory.
 */
#include "run/inspect_subvol.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

struct devices {
	uint64_t *v;
	size_t n;
	size_t cap;
};

static bool seen(const struct devices *devices, uint64_t dev)
{
	/* Actions stand by path, so it is mostly the last one. */
	for (size_t i = devices->n; i-- > 0;) {
		if (devices->v[i] == dev) {
			return true;
		}
	}
	return false;
}

static bool is_on(const struct ctm_ops *ops, void *fs, const char *path, size_t len, uint64_t dev)
{
	const struct ctm_ref ref = { .path = path, .path_len = len };
	struct ctm_inode inode = { 0 };
	int h;
	int r = ops->open(fs, &ref, &h);

	if (r < 0) {
		return false;
	}
	r = ops->stat(fs, h, &inode);
	ops->close(fs, h);
	return r == 0 && inode.dev == dev;
}

/* The longest part of the path that ends before a slash and is not longer than len; 0: the root. */
static size_t cut(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);

	return slash ? (size_t)(slash - path) : 0;
}

static size_t next_cut(const char *path, size_t len, size_t at)
{
	const char *slash = memchr(path + at + 1, '/', len - at - 1);

	return slash ? (size_t)(slash - path) : len;
}

/* A path may have very many components: half of them at a time. */
static size_t find_top(const struct ctm_ops *ops, void *fs, const struct ctm_action *a)
{
	size_t low = 0;
	size_t high = a->path_len;

	if (is_on(ops, fs, a->path, 0, a->dev)) {
		return 0;
	}
	while (low < high) {
		size_t mid = cut(a->path, low + (high - low + 1) / 2);

		if (mid < low) {
			mid = low;
		}
		if (is_on(ops, fs, a->path, mid, a->dev)) {
			high = mid;
		} else {
			low = next_cut(a->path, a->path_len, mid);
		}
	}
	return high;
}

static int look(const struct ctm_ops *ops, void *fs, struct ctm_plan *plan,
		const struct ctm_action *a)
{
	const size_t len = find_top(ops, fs, a);
	const struct ctm_ref ref = { .path = a->path, .path_len = len };
	struct ctm_plan_subvol top = { .path = a->path, .path_len = len };
	struct ctm_subvol subvol = { 0 };
	struct ctm_inode inode = { 0 };
	int h;
	int r = ops->open(fs, &ref, &h);

	if (r < 0) {
		return 0;
	}
	r = ops->subvol(fs, h, &subvol);
	if (r == 0) {
		r = ops->stat(fs, h, &inode);
	}
	ops->close(fs, h);
	if (r < 0 || !subvol.readonly || inode.dev != a->dev) {
		return 0;
	}
	top.ino = inode.ino;
	return ctm_plan_readonly(plan, a->dev, &top,
				 subvol.received ? "it was made by btrfs receive, so it is left" :
						   NULL);
}

int ctm_inspect_subvols(const struct ctm_ops *ops, void *fs, struct ctm_plan *plan)
{
	struct devices devices = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->actions.n; i++) {
		const struct ctm_action *a = &plan->actions.v[i];

		ctm_spill_pass(plan->spill);
		if (!seen(&devices, a->dev)) {
			r = ctm_vec_push(&devices, &a->dev);
			r = r < 0 ? r : look(ops, fs, plan, a);
		}
	}
	ctm_vec_done(&devices);
	return r;
}
