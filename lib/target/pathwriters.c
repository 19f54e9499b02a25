/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who but root can change what a path of the host leads to. */
#include "target/pathwriters.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/acl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "id/acl.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

/* As many as the kernel follows. */
#define LINKS_MAX 40

void ctm_pathwriters_done(struct ctm_pathwriters *writers)
{
	for (size_t i = 0; i < writers->v.n; i++) {
		free(writers->v.v[i].at);
	}
	ctm_vec_done(&writers->v);
}

static int add(struct ctm_pathwriters *writers, struct ctm_pathwriter one, const char *at)
{
	for (size_t i = 0; i < writers->v.n; i++) {
		const struct ctm_pathwriter *known = &writers->v.v[i];

		if (known->anybody == one.anybody && known->uid == one.uid &&
		    known->gid == one.gid) {
			return 0;
		}
	}
	one.at = strdup(at);
	if (!one.at || ctm_vec_push(&writers->v, &one) < 0) {
		free(one.at);
		return -ENOMEM;
	}
	return 0;
}

static int add_user(struct ctm_pathwriters *writers, uint32_t uid, const char *at)
{
	return add(writers, (struct ctm_pathwriter){ .uid = uid, .gid = CTM_ID_INVALID }, at);
}

/* Members of a group, or with CTM_ID_INVALID all. */
static int add_group(struct ctm_pathwriters *writers, uint32_t gid, const char *at)
{
	return add(writers, (struct ctm_pathwriter){ .anybody = true, .gid = gid }, at);
}

/* Where the walk stands, and what is left to go. */
struct way {
	struct ctm_pathwriters *writers;
	int dir; /* O_PATH */
	struct stat st;
	struct ctm_buf at;   /* the directory in words, "" for the root */
	struct ctm_buf rest; /* components with slashes between them */
	unsigned int links;
};

static void way_done(struct way *way)
{
	ctm_closep(&way->dir);
	ctm_buf_done(&way->at);
	ctm_buf_done(&way->rest);
}

/*
 * Who may write by the group bits, which stand for all of an ACL's named entries (acl(5)). Root's
 * own group counts as root: lxc-create(1) lets it write to the folder of every container.
 */
static int add_by_group(struct ctm_pathwriters *writers, int fd, const struct stat *st,
			const char *at)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_bytes acl = { 0 };
	int r = ctm_rootfd_get_xattr(fd, CTM_XATTR_ACL_ACCESS, &arena, &acl);
	int n;

	if (r < 0) {
		return r;
	}
	if (!acl.p) {
		return st->st_gid ? add_group(writers, st->st_gid, at) : 0;
	}
	n = ctm_acl_count(acl);
	if (n < 0) {
		return add_group(writers, CTM_ID_INVALID, at);
	}
	for (int i = 0; r == 0 && i < n; i++) {
		const struct ctm_acl_entry e = ctm_acl_get(acl, i);

		if (!(e.perm & ACL_WRITE)) {
			continue;
		}
		if (e.tag == ACL_USER && e.id != 0) {
			r = add_user(writers, e.id, at);
		} else if (e.tag == ACL_GROUP && e.id != 0) {
			r = add_group(writers, e.id, at);
		} else if (e.tag == ACL_GROUP_OBJ && st->st_gid != 0) {
			r = add_group(writers, st->st_gid, at);
		}
	}
	return r;
}

static int add_by_mode(struct ctm_pathwriters *writers, int fd, const struct stat *st,
		       const char *at)
{
	if (st->st_mode & S_IWOTH) {
		return add_group(writers, CTM_ID_INVALID, at);
	}
	return st->st_mode & S_IWGRP ? add_by_group(writers, fd, st, at) : 0;
}

/* Who can put something else in the place of this entry of the directory, or change it. */
static int look_at_entry(struct way *way, const struct stat *entry, const char *words)
{
	const char *dir = way->at.len ? way->at.p : "/";
	int r = way->st.st_uid ? add_user(way->writers, way->st.st_uid, dir) : 0;

	if (r == 0 && !(way->st.st_mode & S_ISVTX)) {
		r = add_by_mode(way->writers, way->dir, &way->st, dir);
	}
	if (r == 0 && entry->st_uid != 0) {
		r = add_user(way->writers, entry->st_uid, words);
	}
	return r;
}

static int start_at_root(struct way *way)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &way->st) < 0) {
		int r = -errno;

		ctm_closep(&fd);
		return r;
	}
	ctm_closep(&way->dir);
	way->dir = fd;
	way->at.len = 0;
	return 0;
}

/* The link's own words come in front of what is left. */
static int follow(struct way *way, int link, const char *words)
{
	CLEANUP(ctm_buf_done) struct ctm_buf rest = { 0 };
	struct statfs fs;
	char text[PATH_MAX];
	ssize_t n = readlinkat(link, "", text, sizeof(text) - 1);
	int r = 0;

	if (n < 0 || fstatfs(link, &fs) < 0) {
		return -errno;
	}
	if (n == 0 || ++way->links > LINKS_MAX) {
		return -ELOOP;
	}
	text[n] = '\0';
	if (fs.f_type == PROC_SUPER_MAGIC) {
		r = add_group(way->writers, CTM_ID_INVALID, words);
	}
	if (r == 0 && text[0] == '/') {
		r = start_at_root(way);
	}
	r = r < 0 ? r : ctm_buf_addf(&rest, "%s/%s", text, way->rest.p);
	if (r == 0) {
		ctm_buf_done(&way->rest);
		way->rest = rest;
		rest = (struct ctm_buf){ 0 };
	}
	return r;
}

/* No link: the directory that comes next, or the end of the way. */
static void enter(struct way *way, int *fd, const struct stat *st, struct ctm_buf *words)
{
	ctm_closep(&way->dir);
	way->dir = TAKE_FD(*fd);
	way->st = *st;
	ctm_buf_done(&way->at);
	way->at = *words;
	*words = (struct ctm_buf){ 0 };
}

/* One component; way->rest is what comes behind it. */
static int step(struct way *way, const char *name)
{
	CLEANUP(ctm_buf_done) struct ctm_buf words = { 0 };
	CLEANUP_CLOSE int fd = openat(way->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0) {
		return -errno;
	}
	r = ctm_buf_addf(&words, "%s/%s", way->at.len ? way->at.p : "", name);
	r = r < 0 ? r : look_at_entry(way, &st, words.p);
	if (r < 0) {
		return r;
	}
	if (S_ISLNK(st.st_mode)) {
		return follow(way, fd, words.p);
	}
	enter(way, &fd, &st, &words);
	return 0;
}

/* The next component into name, of NAME_MAX + 1 bytes; false at the end of the way. */
static bool next_name(struct way *way, char *name, int *ret)
{
	const char *p = way->rest.p + strspn(way->rest.p, "/");
	size_t len = strcspn(p, "/");

	*ret = len > NAME_MAX ? -ENAMETOOLONG : 0;
	if (len == 0 || *ret < 0) {
		return false;
	}
	memcpy(name, p, len);
	name[len] = '\0';
	p += len;
	way->rest.len = strlen(p);
	memmove(way->rest.p, p, way->rest.len + 1);
	return true;
}

int ctm_pathwriters_add(struct ctm_pathwriters *writers, const char *path)
{
	CLEANUP(way_done) struct way way = { .writers = writers, .dir = -1 };
	CLEANUP_FREE char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
	char name[NAME_MAX + 1];
	int r;

	if (path[0] != '/' && !cwd) {
		return -errno;
	}
	r = ctm_buf_addf(&way.rest, "%s/%s", cwd ? cwd : "", path);
	r = r < 0 ? r : ctm_buf_addf(&way.at, "%s", "");
	r = r < 0 ? r : start_at_root(&way);
	while (r == 0 && next_name(&way, name, &r)) {
		r = strcmp(name, ".") == 0 ? 0 : step(&way, name);
	}
	/* Of what stands at the end, the content counts: of a folder, which files it has. */
	if (r == 0 && way.st.st_uid) {
		r = add_user(writers, way.st.st_uid, way.at.len ? way.at.p : "/");
	}
	if (r == 0) {
		r = add_by_mode(writers, way.dir, &way.st, way.at.len ? way.at.p : "/");
	}
	return r;
}
