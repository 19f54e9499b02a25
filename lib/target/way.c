/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The directories above a root file system. */
#include "target/way.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/acl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "id/acl.h"
#include "target/hostask.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

void ctm_way_done(struct ctm_way *way)
{
	for (size_t i = 0; i < way->v.n; i++) {
		free(way->v.v[i].path);
	}
	ctm_vec_done(&way->v);
}

/* Who wants to pass. */
struct walker {
	const struct ctm_idmap *map;
	ctm_did uid;
	ctm_did gid;
};

/* acl(5), ACCESS CHECK ALGORITHM, for the execute bit and a process that does not own the inode. */
static bool acl_lets_pass(const struct walker *w, const struct ctm_inode *inode,
			  struct ctm_bytes acl, int n)
{
	bool group_hit = false;
	bool group_pass = false;
	bool mask = true;
	bool other = false;
	int user = -1;

	for (int i = 0; i < n; i++) {
		const struct ctm_acl_entry e = ctm_acl_get(acl, i);
		bool pass = e.perm & ACL_EXECUTE;

		switch (e.tag) {
		case ACL_USER:
			user = e.id == w->uid.v ? pass : user;
			break;
		case ACL_GROUP_OBJ:
		case ACL_GROUP:
			if ((e.tag == ACL_GROUP ? e.id : inode->gid.v) == w->gid.v) {
				group_hit = true;
				group_pass = group_pass || pass;
			}
			break;
		case ACL_MASK:
			mask = pass;
			break;
		case ACL_OTHER:
			other = pass;
			break;
		default:
			break;
		}
	}
	if (user >= 0) {
		return user && mask;
	}
	return group_hit ? group_pass && mask : other;
}

static int lets_pass(const struct walker *w, int fd, const struct ctm_inode *inode, bool *ret)
{
	struct ctm_arena arena = { 0 };
	struct ctm_bytes acl = { 0 };
	int n;
	int r;

	/* the container's root has its capabilities over inodes whose ids are both mapped */
	if (ctm_idmap_on_disk(w->map, CTM_UID, inode->uid) &&
	    ctm_idmap_on_disk(w->map, CTM_GID, inode->gid)) {
		*ret = true;
		return 0;
	}
	if (inode->uid.v == w->uid.v) {
		*ret = inode->mode & S_IXUSR;
		return 0;
	}
	r = ctm_rootfd_get_xattr(fd, CTM_XATTR_ACL_ACCESS, &arena, &acl);
	if (r < 0) {
		ctm_arena_done(&arena);
		return r;
	}
	n = acl.p ? ctm_acl_count(acl) : -1;
	*ret = n >= 0                   ? acl_lets_pass(w, inode, acl, n) :
	       inode->gid.v == w->gid.v ? (inode->mode & S_IXGRP) != 0 :
					  (inode->mode & S_IXOTH) != 0;
	ctm_arena_done(&arena);
	return 0;
}

static int look(const struct walker *w, const char *path, struct ctm_way *ret)
{
	CLEANUP_CLOSE int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ctm_way_dir one = { 0 };
	struct ctm_inode inode;
	bool pass = false;
	int r = fd < 0 ? -errno : ctm_rootfd_stat(fd, &inode);

	r = r < 0 ? r : lets_pass(w, fd, &inode, &pass);
	if (r < 0 || pass) {
		return r;
	}
	one.path = strdup(path);
	one.mode = inode.mode & 07777;
	one.uid = inode.uid;
	one.gid = inode.gid;
	r = one.path ? ctm_vec_push(&ret->v, &one) : -ENOMEM;
	if (r < 0) {
		free(one.path);
	}
	return r;
}

/* Every directory from "/" to path itself that is below top. */
static int look_along(const struct walker *w, const char *path, const char *top,
		      struct ctm_way *ret)
{
	CLEANUP_FREE char *part = strdup(path);
	size_t top_len = strcmp(top, "/") == 0 ? 0 : strlen(top);
	size_t len = strlen(path);
	int r = 0;

	if (!part) {
		return -ENOMEM;
	}
	if (!ctm_path_within(path, len, top, top_len)) {
		return 0;
	}
	if (!top_len) {
		r = look(w, "/", ret);
	}
	for (size_t i = top_len + 1; i <= len && r == 0; i++) {
		if (part[i] != '/' && part[i] != '\0') {
			continue;
		}
		part[i] = '\0';
		r = look(w, part, ret);
		part[i] = path[i];
	}
	return r;
}

/* The last directory on the way; an empty buffer: there is none to look at. */
static int find_way(const struct ctm_host *host, const struct ctm_target *target,
		    const struct ctm_volume *vol, struct ctm_buf *ret)
{
	const char *slash;

	if (target->kind == CTM_TARGET_PVE) {
		return ctm_host_path(host, ret, CTM_PLACE_LXC "/%u", target->vmid);
	}
	if (target->kind != CTM_TARGET_LXC || vol->kind != CTM_VOLUME_DIR || !vol->path) {
		return 0;
	}
	slash = strrchr(vol->path, '/');
	return slash && slash > vol->path ?
		       ctm_buf_add(ret, vol->path, (size_t)(slash - vol->path)) :
		       0;
}

/* The path with its links resolved; NULL with *ret_err 0 when it is not there. */
static char *resolve(const char *path, int *ret_err)
{
	char *real = realpath(path, NULL);

	*ret_err = real || errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	return real;
}

int ctm_way_closed(const struct ctm_host *host, const struct ctm_target *target,
		   const struct ctm_volume *vol, struct ctm_way *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf way = { 0 };
	CLEANUP_FREE char *real = NULL;
	CLEANUP_FREE char *top = NULL;
	struct walker w = { .map = target->map };
	mode_t mode;
	int r = find_way(host, target, vol, &way);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	if (way.len && ctm_hostask_mode(way.p, &mode) == -ETIME) {
		return ctm_hostask_silent(way.p, err);
	}
	/* who has no map is the host's root */
	if (!way.len || !target->map || target->privileged ||
	    ctm_idmap_to_disk(target->map, CTM_UID, (ctm_cid){ 0 }, &w.uid) < 0 ||
	    ctm_idmap_to_disk(target->map, CTM_GID, (ctm_cid){ 0 }, &w.gid) < 0) {
		return 0;
	}
	real = resolve(way.p, &r);
	if (!real && r == 0 && target->kind == CTM_TARGET_PVE) {
		/* made at the first start */
		*strrchr(way.p, '/') = '\0';
		real = resolve(way.p, &r);
	}
	if (real) {
		top = resolve(host->sysroot && host->sysroot[0] ? host->sysroot : "/", &r);
	}
	if (real && top) {
		r = look_along(&w, real, top, ret);
	}
	if (r < 0) {
		return r == -ENOMEM ? ctm_err_nomem(err) :
				      ctm_err_set(err, CTM_SYS, r,
						  "look at the directories above '%s'", way.p);
	}
	return 0;
}
