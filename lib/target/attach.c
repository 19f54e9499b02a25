/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attach a volume, prove it, let go of it. */
#include "target/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "target/clone.h"
#include "target/ctroot.h"
#include "target/devmount.h"
#include "target/dirvol.h"
#include "target/forecast.h"
#include "target/fsprobe.h"
#include "target/loopdev.h"
#include "target/mounttab.h"
#include "target/rawvol.h"
#include "target/rootfd.h"
#include "target/volident.h"

/*
 * How long the kernel gets to clear a loop device or to let go of a block device after the
 * unmount.
 */
#define SETTLE_MS 5000

struct ctm_attached {
	enum ctm_access access;
	enum ctm_volume_kind kind;
	int root; /* O_PATH */
	int sync; /* WRITE: readable descriptor of the root; syncfs(2) tells its errors */
	struct ctm_loop loop;  /* images, and devices for reading */
	struct ctm_rawvol raw; /* images and devices */
	struct ctm_dirvol dir; /* directories */
	struct ctm_identity identity;
	bool dirty;
	bool stale;
	char note[sizeof(((struct ctm_forecast *)0)->note)];
};

static struct ctm_attached *attached_new(const struct ctm_volume *vol, enum ctm_access access)
{
	struct ctm_attached *att = calloc(1, sizeof(*att));

	if (att) {
		att->access = access;
		att->kind = vol->kind;
		att->root = -1;
		att->sync = -1;
		att->loop.fd = -1;
		att->raw.fd = -1;
		att->dir.fd = -1;
	}
	return att;
}

/* --- attach ----------------------------------------------------------------------------------- */

static int attach_dir(const struct ctm_volume *vol, struct ctm_attached *att, struct ctm_err *err)
{
	int r = ctm_dirvol_open(vol, &att->dir, err);

	r = r < 0 ? r : ctm_dirvol_prove(vol, &att->dir, err);
	r = r < 0 ? r :
		    ctm_clone(att->dir.fd, vol->path, att->access == CTM_WRITE, &att->root, err);
	if (r < 0) {
		return r;
	}
	if (strcmp(vol->mp, "/") == 0) {
		r = ctm_dirvol_prove_rootfs(vol, att->root, err);
		if (r < 0) {
			return r;
		}
	}
	return ctm_volident_dir(vol, &att->dir, att->root, &att->identity, err);
}

/*
 * The device to mount. What is read goes through a loop device that the kernel holds read-only,
 * on top of a block device too; what is written goes to a block device itself, as every other
 * user of it does.
 */
static int make_device(struct ctm_attached *att, char *node, size_t size, dev_t *dev,
		       struct ctm_err *err)
{
	const bool writable = att->access == CTM_WRITE;
	int r;

	if (writable && att->raw.block) {
		(void)snprintf(node, size, "%s", att->raw.node);
		*dev = att->raw.dev;
		return 0;
	}
	r = ctm_loop_attach(att->raw.fd, att->raw.path, writable, &att->loop, err);
	if (r < 0) {
		return r;
	}
	(void)snprintf(node, size, "/dev/loop%u", att->loop.num);
	*dev = att->loop.dev;
	return 0;
}

/* The mount must be of that device; a btrfs has a device number of its own making. */
static int prove_mount(const struct ctm_attached *att, const char *type, dev_t dev,
		       struct ctm_err *err)
{
	struct ctm_inode root;
	int r = ctm_rootfd_stat(att->root, &root);

	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at the root of '%s'", att->raw.path);
	}
	if (strcmp(type, "btrfs") != 0 && root.dev != dev) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "what was mounted for '%s' is another device", att->raw.path);
	}
	return S_ISDIR(root.mode) ? 0 : ctm_err_set(err, CTM_SYS, ENOTDIR, "'%s'", att->raw.path);
}

/* What to do about a file system that cannot be mounted. */
static void hint_broken(const struct ctm_volume *vol, const char *path, const char *type,
			struct ctm_err *err)
{
	const char *checker = ctm_devmount_checker(type);

	if (checker) {
		ctm_err_hint(err, "look at the kernel's log (dmesg); check it with: %s %s%s",
			     checker, path, vol->storage ? "; repair it with: pct fsck ID" : "");
	}
}

static int mount_raw(const struct ctm_volume *vol, struct ctm_attached *att, const char *type,
		     struct ctm_err *err)
{
	char node[sizeof(att->identity.path)];
	dev_t dev;
	int r = make_device(att, node, sizeof(node), &dev, err);

	if (r < 0) {
		return r;
	}
	r = ctm_devmount(node, type, att->access == CTM_WRITE, &att->root, err);
	if (r < 0) {
		(void)ctm_err_wrap(err, "'%s'", att->raw.path);
		hint_broken(vol, att->raw.path, type, err);
		return r;
	}
	return prove_mount(att, type, dev, err);
}

static int attach_raw(const struct ctm_volume *vol, struct ctm_attached *att, struct ctm_err *err)
{
	struct ctm_fsprobe probe;
	struct ctm_sbstate state;
	int r = ctm_rawvol_open(vol, att->access == CTM_WRITE, &att->raw, err);

	r = r < 0 ? r : ctm_forecast_read(att->raw.fd, att->raw.path, &probe, &state, err);
	r = r < 0 ? r : mount_raw(vol, att, probe.type, err);
	if (r < 0) {
		return r;
	}
	/* A dirty log of xfs cannot be told from its superblock: assume that there is one. */
	att->dirty = att->access == CTM_READ && state.dirty;
	att->stale = att->dirty || (att->access == CTM_READ && strcmp(probe.type, "xfs") == 0);
	ctm_forecast_note(&state, att->access, att->note, sizeof(att->note));
	return ctm_volident_raw(vol, att->raw.path, &probe, att->root, &att->identity, err);
}

/* A real descriptor of the root, on which syncfs(2) reports what has failed since now. */
static int open_sync(struct ctm_attached *att, struct ctm_err *err)
{
	int r = ctm_rootfd_open_content(att->root, "", 0, &att->sync);

	return r < 0 ? ctm_err_set(err, CTM_SYS, r, "open the root of '%s'", att->identity.path) :
		       0;
}

static int check_proc(struct ctm_err *err)
{
	int r;

	if (ctm_rootfd_proc_ok()) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "/proc is not mounted");
	ctm_err_hint(err, "mount it with: mount -t proc proc /proc");
	return r;
}

int ctm_attach(const struct ctm_host *host, const struct ctm_volume *vol, enum ctm_access access,
	       struct ctm_attached **ret, struct ctm_err *err)
{
	CLEANUP(ctm_attached_freep) struct ctm_attached *att = NULL;
	int r;

	(void)host; /* nothing is mounted at any place */
	if (vol->kind == CTM_VOLUME_BIND) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' is a directory of the host, no volume", vol->path);
	}
	if (access == CTM_WRITE && vol->base) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is the base volume of a template",
				   vol->id);
	}
	if (access == CTM_WRITE && vol->readonly) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"'%s' is read-only in the configuration (ro=1)", vol->id);
		ctm_err_hint(err,
			     "if it is to be repaired, take ro=1 away first, with: pct set ID "
			     "--%s ...",
			     vol->key);
		return r;
	}
	r = check_proc(err);
	if (r < 0) {
		return r;
	}
	att = attached_new(vol, access);
	if (!att) {
		return ctm_err_nomem(err);
	}
	r = ctm_dirvol_prove_mounted(vol, err);
	if (r < 0) {
		return r;
	}
	r = vol->kind == CTM_VOLUME_DIR ? attach_dir(vol, att, err) : attach_raw(vol, att, err);
	if (r == 0 && access == CTM_WRITE) {
		r = open_sync(att, err);
	}
	if (r < 0) {
		return r;
	}
	CTM_DEBUG("attach", "'%s' attached, %s", att->identity.path, att->identity.fstype);
	*ret = TAKE_PTR(att);
	return 0;
}

static int through_init(const struct ctm_target *target, const struct ctm_volume *vol,
			struct ctm_attached *att, struct ctm_err *err)
{
	CLEANUP(ctm_ctinit_done) struct ctm_ctinit init = { .fd = -1 };
	struct ctm_fsprobe probe;
	int r = ctm_rawvol_open(vol, false, &att->raw, err);

	r = r < 0 ? r : ctm_fsprobe(att->raw.fd, att->raw.path, &probe, err);
	r = r < 0 ? r : ctm_ctinit_find(target, &init, err);
	r = r < 0 ? r : ctm_ctroot_open(&init, vol, &att->raw, &att->root, err);
	return r < 0 ? r :
		       ctm_volident_raw(vol, att->raw.path, &probe, att->root, &att->identity, err);
}

int ctm_attach_running(const struct ctm_target *target, const struct ctm_volume *vol,
		       struct ctm_attached **ret, struct ctm_err *err)
{
	CLEANUP(ctm_attached_freep) struct ctm_attached *att = NULL;
	int r = check_proc(err);

	if (r < 0) {
		return r;
	}
	att = attached_new(vol, CTM_READ);
	if (!att) {
		return ctm_err_nomem(err);
	}
	r = through_init(target, vol, att, err);
	if (r < 0) {
		return r;
	}
	CTM_DEBUG("attach", "'%s' attached where it is mounted, %s", att->identity.path,
		  att->identity.fstype);
	*ret = TAKE_PTR(att);
	return 0;
}

int ctm_attach_guarded(const struct ctm_guard *guard, const struct ctm_host *host,
		       const struct ctm_target *target, const struct ctm_volume *vol,
		       struct ctm_attached **ret, struct ctm_err *err)
{
	return ctm_guard_in_container(guard) ? ctm_attach_running(target, vol, ret, err) :
					       ctm_attach(host, vol, CTM_READ, ret, err);
}

/* --- detach ----------------------------------------------------------------------------------- */

/* A written block device: the unmount is over when the kernel would give the device away again. */
static int wait_released(const struct ctm_rawvol *raw)
{
	const struct timespec step = { .tv_nsec = 10 * 1000000L };
	int r = ctm_rawvol_exclusive(raw);

	for (unsigned int waited = 0; r == -EBUSY && waited < SETTLE_MS; waited += 10) {
		(void)nanosleep(&step, NULL);
		r = ctm_rawvol_exclusive(raw);
	}
	return r == -EBUSY ? -ETIMEDOUT : 0;
}

static int let_go(struct ctm_attached *att, struct ctm_err *err)
{
	int r = 0;

	/* The last descriptors of the mount: the file system is unmounted when this returns. */
	ctm_closep(&att->sync);
	ctm_closep(&att->root);
	if (att->loop.fd >= 0) {
		ctm_loop_release(&att->loop);
		r = ctm_loop_wait_cleared(&att->loop, SETTLE_MS);
		if (r < 0) {
			return ctm_err_set(err, CTM_SYS, EBUSY,
					   "/dev/loop%u on '%s' is still held by another process",
					   att->loop.num, att->raw.path);
		}
	} else if (att->raw.block && att->access == CTM_WRITE) {
		r = wait_released(&att->raw);
		if (r < 0) {
			return ctm_err_set(err, CTM_SYS, EBUSY, "'%s' is still mounted",
					   att->raw.path);
		}
	}
	return 0;
}

int ctm_detach(struct ctm_attached *att, struct ctm_err *err)
{
	struct ctm_err failed = { 0 };
	int synced = 0;
	int r;

	if (!att) {
		return 0;
	}
	if (att->sync >= 0) {
		synced = ctm_attached_sync(att);
	}
	r = let_go(att, &failed);
	if (synced < 0) {
		r = ctm_err_set(err, CTM_SYS, synced,
				"write back '%s': changes may be lost, check it again",
				att->identity.path);
	} else if (r < 0 && err) {
		*err = failed;
	}
	ctm_rawvol_done(&att->raw);
	ctm_dirvol_done(&att->dir);
	free(att);
	return r;
}

void ctm_attached_freep(struct ctm_attached **att)
{
	(void)ctm_detach(*att, NULL);
	*att = NULL;
}

/* --- what is attached ------------------------------------------------------------------------- */

int ctm_attached_root(const struct ctm_attached *att)
{
	return att->root;
}

const struct ctm_identity *ctm_attached_identity(const struct ctm_attached *att)
{
	return &att->identity;
}

const char *ctm_attached_fstype(const struct ctm_attached *att)
{
	return att->identity.fstype;
}

const char *ctm_attached_note(const struct ctm_attached *att)
{
	return att->note[0] ? att->note : NULL;
}

bool ctm_attached_stale(const struct ctm_attached *att)
{
	return att->stale;
}

bool ctm_attached_dirty(const struct ctm_attached *att)
{
	return att->dirty;
}

int ctm_attached_sync(struct ctm_attached *att)
{
	if (att->sync < 0) {
		return 0; /* read-only */
	}
	return syncfs(att->sync) < 0 ? -errno : 0;
}

int ctm_attached_mounts_below(const struct ctm_attached *att,
			      int (*fn)(const char *path, void *arg), void *arg)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	int r;

	if (att->kind != CTM_VOLUME_DIR) {
		return 0; /* a mount of our own, nothing can be mounted below it */
	}
	r = ctm_mounttab_read("/proc/self/mountinfo", &table);
	return r < 0 ? r : ctm_mounttab_each_below(table, att->dir.path, fn, arg);
}
