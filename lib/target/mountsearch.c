/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read the mount tables of all processes. */
#include "target/mountsearch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/pathname.h"
#include "base/vec.h"

CTM_HOST_PATHS

/* What a process sees of the mounts depends on these. */
struct view {
	ino_t ns;
	dev_t root_dev;
	ino_t root_ino;
};

struct search {
	const struct ctm_mount_query *query;
	ino_t own_ns;
	CTM_VEC(struct view) seen;
	struct ctm_mount_hit hit;
};

/*
 * mountinfo has a number of its own making for btrfs; the device it is on stands in the source,
 * which for this type the kernel writes.
 */
static bool is_btrfs_on(const struct ctm_mount_query *query, struct libmnt_fs *fs)
{
	const char *type = mnt_fs_get_fstype(fs);
	const char *source = mnt_fs_get_source(fs);
	struct stat st;

	if (query->inside || !type || strcmp(type, "btrfs") != 0 || !source ||
	    strncmp(source, "/dev/", 5) != 0 || stat(source, &st) < 0 || !S_ISBLK(st.st_mode)) {
		return false;
	}
	for (size_t i = 0; i < query->n_devs; i++) {
		if (st.st_rdev == query->devs[i]) {
			return true;
		}
	}
	return false;
}

bool ctm_mountsearch_matches(const struct ctm_mount_query *query, struct libmnt_fs *fs)
{
	const char *target = mnt_fs_get_target(fs);
	bool same = false;

	for (size_t i = 0; i < query->n_devs; i++) {
		same = same || mnt_fs_get_devno(fs) == query->devs[i];
	}
	if (!same) {
		return is_btrfs_on(query, fs);
	}
	if (query->inside && !ctm_mounttab_shows(fs, query->inside)) {
		return false;
	}
	return !(query->home && target && strcmp(target, query->home) == 0);
}

static bool already_seen(const struct search *s, const struct view *view)
{
	for (size_t i = 0; i < s->seen.n; i++) {
		const struct view *v = &s->seen.v[i];

		if (v->ns == view->ns && v->root_dev == view->root_dev &&
		    v->root_ino == view->root_ino) {
			return true;
		}
	}
	return false;
}

static int get_view(pid_t pid, struct view *ret)
{
	char path[64];
	struct stat ns;
	struct stat root;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat(path, &ns) < 0) {
		return -errno;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (stat(path, &root) < 0) {
		return -errno;
	}
	*ret = (struct view){ .ns = ns.st_ino, .root_dev = root.st_dev, .root_ino = root.st_ino };
	return 0;
}

/*
 * Processes that are passed over: one that has ended (EINVAL is mountinfo's word for one not yet
 * reaped), and one that a security module hides even from root. Nearly always its namespace is
 * another's too, and a block device that it has mounted is not free for the exclusive open.
 */
static bool is_no_view(pid_t pid, int r)
{
	if (r == -EACCES || r == -EPERM) {
		CTM_DEBUG("guard", "process %d may not be looked into", (int)pid);
		return true;
	}
	return r == -ENOENT || r == -ESRCH || r == -EINVAL;
}

static int keep(struct search *s, pid_t pid, const struct view *view, struct libmnt_fs *fs)
{
	const char *target = mnt_fs_get_target(fs);
	int r;

	s->hit.pid = pid;
	s->hit.own = view->ns == s->own_ns;
	ctm_procs_name(pid, s->hit.name);
	r = ctm_path_escape(&s->hit.point, target, strlen(target));
	return r < 0 ? r : 1;
}

static int look_at(pid_t pid, void *arg)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	CLEANUP(ctm_mounttab_free_iterp) struct libmnt_iter *itr = NULL;
	struct search *s = arg;
	struct libmnt_fs *fs;
	struct view view;
	char path[64];
	int r = get_view(pid, &view);

	if (r < 0) {
		return is_no_view(pid, r) ? 0 : r;
	}
	if (already_seen(s, &view) || (s->query->skip_own && view.ns == s->own_ns)) {
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	r = ctm_mounttab_read(path, &table);
	if (r < 0) {
		return is_no_view(pid, r) ? 0 : r;
	}
	r = ctm_vec_push(&s->seen, &view);
	if (r < 0) {
		return r;
	}
	itr = mnt_new_iter(MNT_ITER_FORWARD);
	if (!itr) {
		return -ENOMEM;
	}
	while (mnt_table_next_fs(table, itr, &fs) == 0) {
		if (ctm_mountsearch_matches(s->query, fs)) {
			return keep(s, pid, &view, fs);
		}
	}
	return 0;
}

int ctm_mountsearch(const struct ctm_mount_query *query, struct ctm_mount_hit *ret)
{
	struct search s = { .query = query };
	struct view own;
	int r = get_view(getpid(), &own);

	if (r < 0) {
		return r;
	}
	s.own_ns = own.ns;
	r = ctm_procs_each(look_at, &s);
	ctm_vec_done(&s.seen);
	if (r <= 0) {
		ctm_mount_hit_done(&s.hit);
		return r;
	}
	*ret = s.hit;
	return 1;
}
