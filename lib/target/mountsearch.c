/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Go through the mount namespaces of all processes. */
#include "target/mountsearch.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/pathname.h"
#include "base/vec.h"

CTM_HOST_PATHS

/* A namespace that was gone through; in mountinfo what a process sees depends on its root, too. */
struct view {
	uint64_t ns;
	char *root; /* text of the link; NULL: all of the namespace */
};

/* Where a namespace has the volume's directory. */
struct place {
	uint64_t ns;
	char *path;
};

/* In the child; what it allocates ends with it. */
struct search {
	const struct ctm_mount_query *query;
	uint64_t own_ns;
	pid_t parent;
	CTM_VEC(struct view) seen;
	CTM_VEC(struct place) places;
	int out;
	/* of the process at hand */
	pid_t pid;
	uint64_t ns;
};

/* What is said: a dot for each namespace (silence means trouble), and perhaps one of these. */
struct answer {
	enum ctm_mount_hit_kind kind;
	pid_t pid;
	bool own;
	uint32_t len; /* of the point, which follows */
};

/* --- which mounts ----------------------------------------------------------------------------- */

/* Both absolute; "/" holds everything. */
static bool within(const char *path, const char *dir)
{
	return path[0] == '/' && dir[0] == '/' &&
	       ctm_path_within(path + 1, strlen(path + 1), dir + 1, strlen(dir + 1));
}

static bool shows(const struct ctm_mount_query *query, const char *root, const char *point)
{
	if (query->inside && !within(root, query->inside)) {
		return false;
	}
	return !(query->home && point && strcmp(point, query->home) == 0);
}

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
	const char *root = mnt_fs_get_root(fs);
	bool same = false;

	for (size_t i = 0; i < query->n_devs; i++) {
		same = same || mnt_fs_get_devno(fs) == query->devs[i];
	}
	return same ? shows(query, root ? root : "", mnt_fs_get_target(fs)) :
		      is_btrfs_on(query, fs);
}

/* --- the child -------------------------------------------------------------------------------- */

static int say(const struct search *s, enum ctm_mount_hit_kind kind, const char *point)
{
	const struct answer answer = {
		.kind = kind,
		.pid = s->pid,
		.own = s->ns == s->own_ns,
		.len = (uint32_t)strlen(point),
	};
	int r = ctm_bounded_say(s->out, "!", 1);

	r = r < 0 ? r : ctm_bounded_say(s->out, &answer, sizeof(answer));
	r = r < 0 ? r : ctm_bounded_say(s->out, point, answer.len);
	return r < 0 ? r : 1;
}

/* A mount that holds more than the volume's directory: where the directory is in it. */
static int note_place(struct search *s, const struct ctm_nsmount *mount)
{
	const char *rest =
		s->query->inside + (strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root));
	const char *point = strcmp(mount->point, "/") == 0 ? "" : mount->point;
	struct place place = { .ns = s->ns };

	if (asprintf(&place.path, "%s%s", point, strcmp(rest, "/") == 0 ? "" : rest) < 0) {
		return -ENOMEM;
	}
	/* "": the directory is the namespace's root; whose root that is, the mount has said */
	return place.path[0] ? ctm_vec_push(&s->places, &place) : 0;
}

static int take_mount(const struct ctm_nsmount *mount, void *arg)
{
	struct search *s = arg;
	int r = 0;

	if (s->query->inside && within(s->query->inside, mount->root)) {
		r = note_place(s, mount);
	}
	return r == 0 && shows(s->query, mount->root, mount->point) ?
		       say(s, CTM_HIT_MOUNT, mount->point) :
		       r;
}

static bool already_seen(const struct search *s, const char *root)
{
	for (size_t i = 0; i < s->seen.n; i++) {
		const struct view *v = &s->seen.v[i];

		if (v->ns == s->ns && (!v->root || strcmp(v->root, root) == 0)) {
			return true;
		}
	}
	return false;
}

/*
 * Processes that are passed over: one that has ended (EINVAL is mountinfo's word for one not yet
 * reaped), and one that a security module hides even from root. Nearly always its namespace is
 * another's too, and a block device that it has mounted is not free for the exclusive open.
 */
static bool is_no_view(int r)
{
	return r == -EACCES || r == -EPERM || r == -ENOENT || r == -ESRCH || r == -EINVAL;
}

static int read_ns(pid_t pid, uint64_t *ret)
{
	char path[64];
	struct stat st;

	/* what the link leads to is the kernel's own (nsfs), no storage's */
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat(path, &st) < 0) {
		return -errno;
	}
	*ret = st.st_ino;
	return 0;
}

/* The text of the link alone: what it leads to may be on a storage that does not answer. */
static int read_root(pid_t pid, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	n = readlink(path, ret, size - 1);
	if (n < 0) {
		return -errno;
	}
	ret[n] = '\0';
	return 0;
}

static int look_at_mounts(struct search *s, const char *root)
{
	const struct ctm_nsmounts_query query = {
		.devs = s->query->devs,
		.n_devs = s->query->n_devs,
		.btrfs_source = !s->query->inside,
	};
	struct view view = { .ns = s->ns };
	bool whole = false;
	int r;

	r = ctm_nsmounts_each(s->pid, &query, take_mount, s, &whole);
	if (r != 0) {
		return is_no_view(r) ? 0 : r;
	}
	if (!whole) {
		view.root = strdup(root);
		if (!view.root) {
			return -ENOMEM;
		}
	}
	r = ctm_vec_push(&s->seen, &view);
	return r < 0 ? r : ctm_bounded_say(s->out, ".", 1);
}

/* 1: it was found, or there is nothing to be seen */
static int look_at(pid_t pid, struct search *s, char root[static PATH_MAX])
{
	int r = read_ns(pid, &s->ns);

	s->pid = pid;
	r = r < 0 ? r : read_root(pid, root, PATH_MAX);
	if (r < 0) {
		return is_no_view(r) ? -ESRCH : r;
	}
	return s->query->skip_own && s->ns == s->own_ns ? -ESRCH : 0;
}

/* Who sees all of its namespace comes first: then what the others see of it is known. */
static int pass_whole(pid_t pid, void *arg)
{
	struct search *s = arg;
	char root[PATH_MAX];
	int r = look_at(pid, s, root);

	if (r < 0) {
		return r == -ESRCH ? 0 : r;
	}
	return strcmp(root, "/") == 0 && !already_seen(s, root) ? look_at_mounts(s, root) : 0;
}

static int pass_rest(pid_t pid, void *arg)
{
	struct search *s = arg;
	char root[PATH_MAX];
	int r = look_at(pid, s, root);

	if (r < 0) {
		return r == -ESRCH ? 0 : r;
	}
	if (!already_seen(s, root)) {
		r = look_at_mounts(s, root);
	}
	if (r != 0 || strcmp(root, "/") == 0 || pid == s->parent) {
		return r;
	}
	for (size_t i = 0; i < s->places.n; i++) {
		if (s->places.v[i].ns == s->ns && within(root, s->places.v[i].path)) {
			return say(s, CTM_HIT_ROOT, root);
		}
	}
	return 0;
}

static int search(int out, void *arg)
{
	struct search *s = arg;
	int r = read_ns(getpid(), &s->own_ns);

	s->out = out;
	r = r < 0 ? r : ctm_procs_each(pass_whole, s);
	r = r != 0 ? r : ctm_procs_each(pass_rest, s);
	return r < 0 ? r : 0;
}

/* --- our side --------------------------------------------------------------------------------- */

static int take_answer(const struct ctm_buf *said, struct ctm_mount_hit *hit)
{
	const char *mark = said->len ? memchr(said->p, '!', said->len) : NULL;
	const char *end = said->p + said->len;
	struct answer answer;
	int r;

	if (!mark) {
		return 0;
	}
	mark++;
	if ((size_t)(end - mark) < sizeof(answer)) {
		return -EPIPE;
	}
	memcpy(&answer, mark, sizeof(answer));
	mark += sizeof(answer);
	if ((size_t)(end - mark) < answer.len) {
		return -EPIPE;
	}
	hit->kind = answer.kind;
	hit->pid = answer.pid;
	hit->own = answer.own;
	ctm_procs_name(hit->pid, hit->name);
	r = ctm_path_escape(&hit->point, mark, answer.len);
	return r < 0 ? r : 1;
}

int ctm_mountsearch(const struct ctm_mount_query *query, const struct ctm_bounded *limits,
		    struct ctm_mount_hit *ret)
{
	CLEANUP(ctm_buf_done) struct ctm_buf said = { 0 };
	struct search s = { .query = query, .parent = getpid() };
	struct ctm_mount_hit hit = { 0 };
	int r = ctm_bounded_ask(search, &s, limits, &said);

	if (r == 0) {
		r = take_answer(&said, &hit);
	}
	if (r <= 0) {
		CTM_DEBUG("guard", "the mount namespaces were searched: %d", r);
		ctm_mount_hit_done(&hit);
		return r;
	}
	*ret = hit;
	return 1;
}
