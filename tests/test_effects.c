/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the real effects on real files: what is found again, and what is left alone. */
#include "run/effects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "run/content.h"
#include "scratch.h"

static const struct ctm_ops *const ops = &ctm_effects_ops;

/* A volume "root" in a larger file system. */
struct world {
	struct scratch dir;
	int root;
	struct ctm_effects fx;
};

static void world_done(struct world *w)
{
	ctm_effects_done(&w->fx);
	ctm_closep(&w->root);
	scratch_done(&w->dir);
}

#define WORLD __attribute__((cleanup(world_done))) struct world

static void begin(struct world *w, bool whole)
{
	*w = (struct world){ .dir = scratch_new(), .root = -1 };
	cr_assert_eq(mkdirat(w->dir.fd, "root", 0755), 0);
	cr_assert_eq(mkdirat(w->dir.fd, "root/d", 0755), 0);
	w->root = openat(w->dir.fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(ctm_effects_init(&w->fx, w->root, whole, NULL), 0);
}

static void make(int dir, const char *path, const char *content)
{
	CLEANUP_CLOSE int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
}

/* As a repair records it: through our own descriptor. */
static struct ctm_ref ref_of(struct world *w, const char *path, bool handle)
{
	struct ctm_ref ref = { .path = path, .path_len = strlen(path) };
	struct ctm_inode inode;
	int h;

	cr_assert_eq(ops->open(&w->fx, &ref, &h), 0, "%s", path);
	cr_assert_eq(ops->stat(&w->fx, h, &inode), 0);
	ref.ino = inode.ino;
	if (handle) {
		cr_assert_eq(ops->handle(&w->fx, h, &ref.handle), 0);
	}
	ops->close(&w->fx, h);
	return ref;
}

static int open_again(struct world *w, const struct ctm_ref *ref, uint64_t *ret_ino)
{
	struct ctm_inode inode = { 0 };
	int h = -1;
	int r = ops->open(&w->fx, ref, &h);

	if (r == 0) {
		cr_assert_eq(ops->stat(&w->fx, h, &inode), 0);
		ops->close(&w->fx, h);
	}
	*ret_ino = inode.ino;
	return r;
}

static void nothing(struct world *w)
{
	(void)w;
}
static void moved_inside(struct world *w)
{
	cr_assert_eq(renameat(w->root, "d/f", w->root, "g"), 0);
}
static void moved_out(struct world *w)
{
	cr_assert_eq(renameat(w->root, "d/f", w->dir.fd, "outside"), 0);
}
static void removed(struct world *w)
{
	cr_assert_eq(unlinkat(w->root, "d/f", 0), 0);
}
static void replaced(struct world *w)
{
	make(w->root, "new", "");
	cr_assert_eq(renameat(w->root, "new", w->root, "d/f"), 0);
}
static void parent_is_link(struct world *w)
{
	cr_assert_eq(renameat(w->root, "d", w->root, "e"), 0);
	cr_assert_eq(symlinkat("e", w->root, "d"), 0);
}
static void is_link_out(struct world *w)
{
	moved_out(w);
	cr_assert_eq(symlinkat("../../outside", w->root, "d/f"), 0);
}
static void parent_is_file(struct world *w)
{
	moved_out(w);
	cr_assert_eq(unlinkat(w->root, "d", AT_REMOVEDIR), 0);
	make(w->root, "d", "");
}

#define GONE (-ESTALE)
static const struct {
	const char *name;
	void (*change)(struct world *w);
	int whole;   /* all of a file system, with handles */
	int part;    /* a directory, with handles */
	int by_path; /* without handles */
} rows[] = {
	{ "nothing happened", nothing, 0, 0, 0 },
	{ "moved inside", moved_inside, 0, GONE, GONE },
	{ "moved out of the volume", moved_out, 0, GONE, GONE },
	{ "removed", removed, GONE, GONE, GONE },
	{ "another file has its name", replaced, GONE, GONE, GONE },
	{ "its directory is a link now", parent_is_link, 0, GONE, GONE },
	{ "a link leads to it", is_link_out, 0, GONE, GONE },
	{ "its directory is a file now", parent_is_file, 0, GONE, GONE },
};

/*
 * In a directory volume only what the recorded path leads to; in one that is a file system of its
 * own the handle is enough, since nothing can leave that.
 */
CASES(effects, find_again, rows)
{
	const int want[] = { rows[*i].whole, rows[*i].part, rows[*i].by_path };

	if (geteuid() != 0) {
		cr_skip_test("needs root for handles");
	}
	for (int kind = 0; kind < 3; kind++) {
		WORLD w;
		struct ctm_ref ref;
		uint64_t ino;
		int r;

		begin(&w, kind == 0);
		make(w.root, "d/f", "");
		ref = ref_of(&w, "d/f", kind < 2);
		rows[*i].change(&w);
		r = open_again(&w, &ref, &ino);
		cr_assert_eq(r, want[kind], "%s, %d: %d", rows[*i].name, kind, r);
		cr_assert(r < 0 || ino == ref.ino, "%s, %d", rows[*i].name, kind);
	}
}

Test(effects, root_itself_and_any_inode)
{
	WORLD w;
	struct ctm_ref root;
	struct ctm_ref any = { .path = "d", .path_len = 1 };
	uint64_t ino;

	begin(&w, false);
	root = ref_of(&w, "", false);
	cr_assert_eq(open_again(&w, &root, &ino), 0);
	cr_assert_eq(open_again(&w, &any, &ino), 0, "inode number 0 means any");
	root.ino++;
	cr_assert_eq(open_again(&w, &root, &ino), -ESTALE);
}

static const char *const contents[] = { "FIFO", "directory", "link" };

/* Only regular files are opened, so nothing blocks and nothing acts. */
CASES(effects, content_of_other_types, contents)
{
	WORLD w;
	struct ctm_ref ref = { .path = "d/x", .path_len = 3 };
	int fd = -1;
	int r;

	begin(&w, false);
	make(w.root, "f", "");
	r = *i == 0 ? mkfifoat(w.root, "d/x", 0600) :
	    *i == 1 ? mkdirat(w.root, "d/x", 0700) :
		      symlinkat("../f", w.root, "d/x");
	cr_assert_eq(r, 0);
	r = ops->content(&w.fx, &ref, &fd);
	cr_assert_eq(r, -EMEDIUMTYPE, "%s: %d", contents[*i], r);
}

Test(effects, content)
{
	WORLD w;
	struct ctm_ref ref;
	char got[8] = "";
	int fd;

	begin(&w, false);
	make(w.root, "d/f", "hello");
	ref = ref_of(&w, "d/f", false);
	cr_assert_eq(ops->content(&w.fx, &ref, &fd), 0);
	cr_assert_eq(read(fd, got, sizeof(got)), 5);
	cr_assert_str_eq(got, "hello");
	cr_assert_eq(close(fd), 0);
	/* The same number in another subvolume is another file. */
	ref = ref_of(&w, "d/f", true);
	cr_assert_eq(ops->content(&w.fx, &ref, &fd), 0);
	cr_assert_eq(close(fd), 0);
	if (ref.handle.len > 0) {
		ref.handle.bytes[ref.handle.len - 1] ^= 1;
		cr_assert_eq(ops->content(&w.fx, &ref, &fd), -ESTALE);
		ref.handle.len = 0;
	}
	ref.ino++;
	cr_assert_eq(ops->content(&w.fx, &ref, &fd), -ESTALE);
	ref.path_len = 1;
	ref.ino = 0;
	ref.path = "n";
	cr_assert_eq(ops->content(&w.fx, &ref, &fd), -ESTALE);
}

static int write_hello(void *arg, int fd)
{
	int r = *(const int *)arg;

	return r < 0 ? r : ctm_content_write(fd, "hello", 5);
}

static const unsigned char default_acl[] = {
	2, 0,  0,    0,    1,    0,    7,  0, 0xff, 0xff, 0xff, 0xff, 2,    0,    7,
	0, 33, 0,    0,    0,    4,    0,  7, 0,    0xff, 0xff, 0xff, 0xff, 16,   0,
	7, 0,  0xff, 0xff, 0xff, 0xff, 32, 0, 7,    0,    0xff, 0xff, 0xff, 0xff,
};

/* Neither the directory's default ACL nor the umask has a say in what comes back. */
Test(effects, restore_is_exact)
{
	WORLD w;
	int fine = 0;
	const struct ctm_xattr xattr = { "user.test", { "v", 1 } };
	const struct ctm_saved file = {
		.state = { .mode = S_IFREG | 06711, .uid = { 5 }, .gid = { 6 } },
		.atime = { 1000, 1 },
		.mtime = { 2000, 2 },
		.xattrs = &xattr,
		.n_xattrs = 1,
		.content = write_hello,
		.arg = &fine,
	};
	CLEANUP_CLOSE int d = -1;
	CLEANUP_CLOSE int f = -1;
	struct stat st;
	char value[4];

	if (geteuid() != 0) {
		cr_skip_test("needs root");
	}
	begin(&w, false);
	d = openat(w.root, "d", O_RDONLY | O_DIRECTORY);
	cr_assert_eq(fsetxattr(d, CTM_XATTR_ACL_DEFAULT, default_acl, sizeof(default_acl), 0), 0);
	(void)umask(077);
	cr_assert_eq(ops->restore(&w.fx, d, "f", &file), 0);
	cr_assert_eq(fstatat(d, "f", &st, AT_SYMLINK_NOFOLLOW), 0);
	cr_expect_eq(st.st_mode, S_IFREG | 06711, "%o", st.st_mode);
	cr_expect_eq(st.st_uid, 5);
	cr_expect_eq(st.st_gid, 6);
	cr_expect_eq(st.st_size, 5);
	cr_expect_eq(st.st_nlink, 1);
	cr_expect(st.st_atim.tv_sec == 1000 && st.st_atim.tv_nsec == 1);
	cr_expect(st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 2);
	f = openat(d, "f", O_RDONLY);
	cr_expect_eq(fgetxattr(f, CTM_XATTR_ACL_ACCESS, NULL, 0), -1, "no ACL was inherited");
	cr_expect_eq(fgetxattr(f, "user.test", value, sizeof(value)), 1);
	cr_assert_eq(ops->restore(&w.fx, d, "f", &file), -EEXIST, "never over another");
}

static const char *const taken[] = { "file", "directory", "dangling link" };

/*
 * A name that is taken, and a content that is not to be had: nothing changes, nothing is left over.
 */
CASES(effects, restore_refused, taken)
{
	WORLD w;
	int bad = -EBADMSG;
	int fine = 0;
	struct ctm_saved file = {
		.state = { .mode = S_IFREG | 0600, .uid = { geteuid() }, .gid = { getegid() } },
		.content = write_hello,
		.arg = &bad,
	};
	struct stat before, after;
	int r;

	begin(&w, false);
	cr_assert_eq(ops->restore(&w.fx, w.root, "f", &file), -EBADMSG);
	cr_assert_eq(fstatat(w.root, "f", &after, AT_SYMLINK_NOFOLLOW), -1);
	file.arg = &fine;
	r = *i == 0 ? (make(w.root, "f", ""), 0) :
	    *i == 1 ? mkdirat(w.root, "f", 0700) :
		      symlinkat("nowhere", w.root, "f");
	cr_assert_eq(r, 0);
	cr_assert_eq(fstatat(w.root, "f", &before, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(ops->restore(&w.fx, w.root, "f", &file), -EEXIST, "%s", taken[*i]);
	cr_assert_eq(fstatat(w.root, "f", &after, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(before.st_ino, after.st_ino, "%s", taken[*i]);
	cr_assert_eq(fstatat(w.root, "nowhere", &after, AT_SYMLINK_NOFOLLOW), -1);
	cr_assert_eq(ops->restore(&w.fx, w.root, "../x", &file), -EINVAL);
	cr_assert_eq(ops->restore(&w.fx, w.root, "..", &file), -EINVAL);
}

Test(effects, unlink_only_this_inode)
{
	WORLD w;
	CLEANUP_CLOSE int d = -1;
	struct stat st;

	begin(&w, false);
	make(w.root, "d/f", "");
	d = openat(w.root, "d", O_PATH);
	cr_assert_eq(fstatat(w.root, "d/f", &st, 0), 0);
	cr_assert_eq(ops->unlink(&w.fx, d, "f", st.st_dev, st.st_ino + 1), -ESTALE);
	cr_assert_eq(linkat(w.root, "d/f", w.root, "g", 0), 0);
	cr_assert_eq(ops->unlink(&w.fx, d, "f", st.st_dev, st.st_ino), -ESTALE, "two names");
	cr_assert_eq(unlinkat(w.root, "g", 0), 0);
	cr_assert_eq(ops->unlink(&w.fx, d, "f", st.st_dev, st.st_ino), 0);
	cr_assert_eq(ops->unlink(&w.fx, d, "f", st.st_dev, st.st_ino), -ENOENT);
}

Test(effects, sync)
{
	WORLD w;

	begin(&w, false);
	cr_assert_eq(ops->sync(&w.fx), 0);
}
