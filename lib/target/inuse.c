/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mounts, loop devices and exclusive claims. */
#include "target/inuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "target/dirvol.h"
#include "target/loopsearch.h"
#include "target/mountsearch.h"
#include "target/rawvol.h"

static int mounted(const struct ctm_volume *vol, const struct ctm_mount_hit *hit,
		   struct ctm_err *err)
{
	int r;

	if (hit->own) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' is mounted at '%s'", vol->id,
				hit->point.p);
		ctm_err_hint(err, "unmount it with: umount '%s'", hit->point.p);
	} else {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"'%s' is mounted at '%s' in the mount namespace of process %d (%s)",
				vol->id, hit->point.p, (int)hit->pid, hit->name);
		ctm_err_hint(err, "end that process, or look with: nsenter -t %d -m findmnt",
			     (int)hit->pid);
	}
	return r;
}

static int search_mounts(const struct ctm_volume *vol, const struct ctm_mount_query *query,
			 struct ctm_err *err)
{
	CLEANUP(ctm_mount_hit_done) struct ctm_mount_hit hit = { 0 };
	int r = ctm_mountsearch(query, &hit);

	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look for mounts of '%s' in all namespaces",
				   vol->id);
	}
	return r > 0 ? mounted(vol, &hit, err) : 0;
}

static int check_dir(const struct ctm_volume *vol, const struct ctm_inuse_opts *opts,
		     struct ctm_err *err)
{
	CLEANUP(ctm_dirvol_done) struct ctm_dirvol dir = { .fd = -1 };
	struct ctm_mount_query query = { .n_devs = 1, .skip_own = opts->skip_own_namespace };
	int r = ctm_dirvol_open(vol, &dir, err);

	if (r < 0) {
		return r;
	}
	query.devs = &dir.dev;
	query.inside = dir.inside;
	query.home = dir.path;
	return search_mounts(vol, &query, err);
}

/* Who only reads is not disturbed by others who only read, such as another report of ours. */
static void drop_readonly(struct ctm_loop_rows *loops)
{
	size_t n = 0;

	for (size_t i = 0; i < loops->rows.n; i++) {
		if (!loops->rows.v[i].readonly) {
			loops->rows.v[n++] = loops->rows.v[i];
		}
	}
	loops->rows.n = n;
}

static int on_loop(const struct ctm_volume *vol, const struct ctm_loop_rows *loops,
		   struct ctm_err *err)
{
	int r;

	if (loops->rows.n == 0) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' is attached to /dev/loop%u by somebody else",
			vol->id, loops->rows.v[0].num);
	ctm_err_hint(err, "see what it is for; detach it with: losetup -d /dev/loop%u",
		     loops->rows.v[0].num);
	return r;
}

static int claimed(const struct ctm_volume *vol, const struct ctm_rawvol *raw, struct ctm_err *err)
{
	int r = ctm_rawvol_exclusive(raw);

	if (r == 0) {
		return 0;
	}
	if (r != -EBUSY) {
		return ctm_err_set(err, CTM_SYS, r, "open '%s' exclusively", raw->path);
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"the kernel has '%s' in use (a mount, device mapper, RAID)", vol->id);
	ctm_err_hint(err, "see by whom with: lsblk %s", raw->path);
	return r;
}

static int check_raw(const struct ctm_volume *vol, const struct ctm_inuse_opts *opts,
		     struct ctm_err *err)
{
	CLEANUP(ctm_rawvol_done) struct ctm_rawvol raw = { .fd = -1 };
	CLEANUP(ctm_loop_rows_done) struct ctm_loop_rows loops = { 0 };
	CLEANUP_FREE dev_t *devs = NULL;
	struct ctm_mount_query query = { .skip_own = opts->skip_own_namespace };
	int r = ctm_rawvol_open(vol, false, &raw, err);

	if (r < 0) {
		return r;
	}
	r = ctm_loopsearch(&raw, &loops);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look for loop devices on '%s'", vol->id);
	}
	if (!opts->exclusive) {
		drop_readonly(&loops);
	}
	devs = calloc(loops.rows.n + 1, sizeof(*devs));
	if (!devs) {
		return ctm_err_nomem(err);
	}
	for (size_t i = 0; i < loops.rows.n; i++) {
		devs[query.n_devs++] = loops.rows.v[i].dev;
	}
	if (raw.block) {
		devs[query.n_devs++] = raw.dev;
	}
	query.devs = devs;
	/* a mount says more than the loop device below it */
	r = search_mounts(vol, &query, err);
	r = r < 0 ? r : on_loop(vol, &loops, err);
	return r == 0 && raw.block && opts->exclusive ? claimed(vol, &raw, err) : r;
}

int ctm_inuse_check(const struct ctm_volume *vol, const struct ctm_inuse_opts *opts,
		    struct ctm_err *err)
{
	return vol->kind == CTM_VOLUME_DIR ? check_dir(vol, opts, err) : check_raw(vol, opts, err);
}

static void format_key(const char *kind, dev_t dev, uint64_t ino, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%s-%u:%u-%ju.lock", kind, major(dev), minor(dev),
		       (uintmax_t)ino);
}

int ctm_inuse_key(const struct ctm_volume *vol, char *ret, size_t size, struct ctm_err *err)
{
	CLEANUP(ctm_rawvol_done) struct ctm_rawvol raw = { .fd = -1 };
	CLEANUP(ctm_dirvol_done) struct ctm_dirvol dir = { .fd = -1 };
	int r;

	if (vol->kind == CTM_VOLUME_DIR) {
		r = ctm_dirvol_open(vol, &dir, err);
		if (r == 0) {
			format_key("dir", dir.st_dev, dir.ino, ret, size);
		}
		return r;
	}
	r = ctm_rawvol_open(vol, false, &raw, err);
	if (r == 0) {
		format_key(raw.block ? "block" : "image", raw.dev, raw.ino, ret, size);
	}
	return r;
}
