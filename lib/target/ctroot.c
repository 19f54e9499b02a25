/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a container's first process to a volume of it. */
#include "target/ctroot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "target/clone.h"
#include "target/loopsearch.h"
#include "target/mountsearch.h"
#include "target/mounttab.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

/* A place in the container, and its row in the container's table of mounts. */
struct place {
	int fd; /* O_PATH */
	struct ctm_inode inode;
	struct libmnt_table *table;
	struct libmnt_fs *mount; /* in table */
};

static void place_done(struct place *place)
{
	ctm_closep(&place->fd);
	mnt_unref_table(place->table);
	*place = (struct place){ .fd = -1 };
}

static int lost(const struct ctm_volume *vol, const char *why, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' of the running container: %s", vol->id, why);

	ctm_err_hint(err, "stop the container to look at the volume itself");
	return r;
}

/*
 * Takes over fd. The mount cannot go away while fd is open, so its row is in a table read now. The
 * inode is asked of the kernel's memory alone (AT_STATX_DONT_SYNC).
 */
static int place_fill(const struct ctm_ctinit *init, int fd, struct place *place)
{
	char path[64];
	int r;

	place_done(place);
	place->fd = fd;
	r = ctm_rootfd_stat(fd, &place->inode);
	if (r < 0) {
		return r;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)init->pid);
	r = ctm_mounttab_read(path, &place->table);
	return r < 0 ? r : ctm_mounttab_by_id(place->table, place->inode.mnt_id, &place->mount);
}

/* One component further; a mount that stands there is entered, by its root alone. */
static int open_next(int at, const char *name, int *ret)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, at, name, &how, sizeof(how));

	if (fd < 0) {
		return -errno;
	}
	*ret = (int)fd;
	return 0;
}

/* Whether looking a name up there asks nobody but the kernel. */
static bool answers(const struct place *place)
{
	const char *type = mnt_fs_get_fstype(place->mount);

	return type && strncmp(type, "fuse", 4) != 0 && !mnt_fstype_is_netfs(type);
}

static int step(const struct ctm_ctinit *init, const char *name, struct place *place)
{
	int fd = -1;
	int r = answers(place) ? open_next(place->fd, name, &fd) : -EREMOTE;

	return r < 0 ? r : place_fill(init, fd, place);
}

/* From the container's root to mp ("/", "/srv/data"). */
static int go(const struct ctm_ctinit *init, const char *mp, struct place *place)
{
	CLEANUP_FREE char *copy = strdup(mp);
	char path[64];
	char *rest = copy;
	const char *name;
	int fd;
	int r;

	if (!copy) {
		return -ENOMEM;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)init->pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	r = place_fill(init, fd, place);
	while (r == 0 && (name = strsep(&rest, "/"))) {
		if (name[0] != '\0') {
			r = step(init, name, place);
		}
	}
	return r;
}

/* Whether the mount is of the device that raw is, or of a loop device on it. */
static int is_on(const struct ctm_rawvol *raw, const struct place *place, bool *ret)
{
	CLEANUP(ctm_loop_rows_done) struct ctm_loop_rows loops = { 0 };
	CLEANUP_FREE dev_t *devs = NULL;
	struct ctm_mount_query query = { 0 };
	int r = ctm_loopsearch(raw, &loops);

	if (r < 0) {
		return r;
	}
	devs = calloc(loops.rows.n + 1, sizeof(*devs));
	if (!devs) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < loops.rows.n; i++) {
		devs[query.n_devs++] = loops.rows.v[i].dev;
	}
	if (raw->block) {
		devs[query.n_devs++] = raw->dev;
	}
	query.devs = devs;
	*ret = ctm_mountsearch_matches(&query, place->mount);
	return 0;
}

static int prove(const struct ctm_volume *vol, const struct ctm_rawvol *raw,
		 const struct place *place, struct ctm_err *err)
{
	const char *root = mnt_fs_get_root(place->mount);
	bool same = false;
	int r = is_on(raw, place, &same);

	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look for loop devices on '%s'", vol->id);
	}
	if (!same) {
		return lost(vol, "what it has mounted there is another volume", err);
	}
	if (!place->inode.mount_root || !root || strcmp(root, "/") != 0) {
		return lost(vol, "it has only a part of the volume there", err);
	}
	if (ctm_mounttab_idmapped(place->mount)) {
		return lost(vol, "an idmapped mount hides the owners that are on the disk", err);
	}
	return 0;
}

int ctm_ctroot_open(const struct ctm_ctinit *init, const struct ctm_volume *vol,
		    const struct ctm_rawvol *raw, int *ret, struct ctm_err *err)
{
	CLEANUP(place_done) struct place place = { .fd = -1 };
	CLEANUP_CLOSE int root = -1;
	int r = go(init, vol->mp, &place);

	if (r == -ENOMEM) {
		return ctm_err_nomem(err);
	}
	if (!ctm_ctinit_alive(init)) {
		return lost(vol, "it has just ended", err);
	}
	/* a FUSE answers those alone for whom it was mounted */
	if (r == -EREMOTE || r == -EACCES) {
		return lost(vol, "a FUSE or network mount stands in the way", err);
	}
	if (r < 0) {
		return lost(vol, strerrordesc_np(-r), err);
	}
	r = prove(vol, raw, &place, err);
	r = r < 0 ? r : ctm_clone_of(init->fd, place.fd, vol->id, &root, err);
	if (r == 0 && !ctm_ctinit_alive(init)) {
		return lost(vol, "it has just ended", err);
	}
	if (r == 0) {
		*ret = TAKE_FD(root);
	}
	return r;
}
