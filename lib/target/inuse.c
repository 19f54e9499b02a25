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

/* Longer without a word than any namespace takes: something is stuck. */
#define SILENT_MS 60000
/* What the words of a refusal may take. */
#define NAMING_MS 3000

static int mounted(const struct ctm_volume *vol, const struct ctm_mount_hit *hit,
		   struct ctm_err *err)
{
	int r;

	if (hit->kind == CTM_HIT_ROOT) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"process %d (%s) has its root directory in '%s', at '%s'",
				(int)hit->pid, hit->name, vol->id, hit->point.p);
		ctm_err_hint(err, "end that process: it was started there by chroot or the like");
	} else if (hit->own) {
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

/* --- directories ----------------------------------------------------------------------------- */

static int too_long(const struct ctm_volume *vol, const struct ctm_bounded *limits,
		    struct ctm_err *err)
{
	int r;

	if (limits->total_ms == 0) {
		r = ctm_err_set(err, CTM_REFUSED, ETIME,
				"whether '%s' is in use elsewhere cannot be found out: reading a "
				"mount namespace of this host does not end",
				vol->id);
		ctm_err_hint(err, "see which process does not answer with: "
				  "ps -eo pid,stat,wchan:32,args");
		return r;
	}
	r = ctm_err_set(err, CTM_REFUSED, ETIME,
			"whether '%s' is in use elsewhere was not found out in %u s: this host has "
			"very many mounts or mount namespaces",
			vol->id, (limits->total_ms + 999) / 1000);
	ctm_err_hint(err, "a repair of the stopped container takes the time that it needs");
	return r;
}

static int check_dir(const struct ctm_volume *vol, const struct ctm_inuse_opts *opts,
		     struct ctm_err *err)
{
	CLEANUP(ctm_mount_hit_done) struct ctm_mount_hit hit = { 0 };
	CLEANUP(ctm_dirvol_done) struct ctm_dirvol dir = { .fd = -1 };
	struct ctm_mount_query query = { .n_devs = 1, .skip_own = opts->skip_own_namespace };
	struct ctm_bounded limits = opts->limits;
	int r = ctm_dirvol_open(vol, &dir, err);

	if (r < 0) {
		return r;
	}
	query.devs = &dir.dev;
	query.inside = dir.inside;
	query.home = dir.path;
	limits.silent_ms = limits.silent_ms ? limits.silent_ms : SILENT_MS;
	r = ctm_mountsearch(&query, &limits, &hit);
	if (r == -ETIME) {
		return too_long(vol, &limits, err);
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look for mounts of '%s' in all namespaces",
				   vol->id);
	}
	return r > 0 ? mounted(vol, &hit, err) : 0;
}

/* --- devices and images ----------------------------------------------------------------------- */

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
	int r = ctm_err_set(err, CTM_REFUSED, 0,
			    "the kernel has '%s' in use (a mount, device mapper, RAID)", vol->id);

	ctm_err_hint(err, "see by whom with: lsblk %s", raw->path);
	return r;
}

/* That it is in use is certain; where it is mounted says more. 0: it is nowhere to be seen. */
static int name_mount(const struct ctm_volume *vol, const struct ctm_rawvol *raw,
		      const struct ctm_loop_rows *loops, const struct ctm_inuse_opts *opts,
		      struct ctm_err *err)
{
	CLEANUP(ctm_mount_hit_done) struct ctm_mount_hit hit = { 0 };
	const struct ctm_bounded limits = { .total_ms = NAMING_MS };
	struct ctm_mount_query query = { .skip_own = opts->skip_own_namespace };
	CLEANUP_FREE dev_t *devs = calloc(loops->rows.n + 1, sizeof(*devs));

	if (!devs) {
		return ctm_err_nomem(err);
	}
	for (size_t i = 0; i < loops->rows.n; i++) {
		devs[query.n_devs++] = loops->rows.v[i].dev;
	}
	if (raw->block) {
		devs[query.n_devs++] = raw->dev;
	}
	query.devs = devs;
	return ctm_mountsearch(&query, &limits, &hit) > 0 ? mounted(vol, &hit, err) : 0;
}

/*
 * 1: the kernel has the device in use. A writer may try to claim it. A reader must not: in that
 * moment the mount of somebody who starts the container would fail.
 */
static int in_use(const struct ctm_rawvol *raw, const struct ctm_inuse_opts *opts)
{
	int r;

	if (!raw->block) {
		return 0;
	}
	if (!opts->exclusive) {
		return ctm_rawvol_mounted(raw);
	}
	r = ctm_rawvol_exclusive(raw);
	return r == -EBUSY ? 1 : r;
}

static int check_raw(const struct ctm_volume *vol, const struct ctm_inuse_opts *opts,
		     struct ctm_err *err)
{
	CLEANUP(ctm_rawvol_done) struct ctm_rawvol raw = { .fd = -1 };
	CLEANUP(ctm_loop_rows_done) struct ctm_loop_rows loops = { 0 };
	int used;
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
	used = in_use(&raw, opts);
	if (used < 0) {
		return ctm_err_set(err, CTM_SYS, used, "find out whether '%s' is in use", raw.path);
	}
	if (used == 0 && loops.rows.n == 0) {
		return 0;
	}
	r = name_mount(vol, &raw, &loops, opts, err);
	r = r < 0 ? r : on_loop(vol, &loops, err);
	return r < 0 ? r : claimed(vol, &raw, err);
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
