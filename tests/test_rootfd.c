/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/rootfd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scan/fact.h"
#include "scratch.h"
#include "target/rootfd_flags.h"

static int make_file(int dir, const char *name, const char *content)
{
	CLEANUP_CLOSE int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY, 0640);
	size_t len = strlen(content);

	return fd >= 0 && write(fd, content, len) == (ssize_t)len ? 0 : -1;
}

/* Files with one name and with two, directories, a FIFO, a socket, links of all kinds. */
static void make_tree(const struct scratch *s)
{
	cr_assert_eq(mkdirat(s->fd, "dir", 0755), 0);
	cr_assert_eq(mkdirat(s->fd, "dir/sub", 0755), 0);
	cr_assert_eq(make_file(s->fd, "dir/sub/file", "inner"), 0);
	cr_assert_eq(make_file(s->fd, "file", "content"), 0);
	cr_assert_eq(make_file(s->fd, "two", ""), 0);
	cr_assert_eq(linkat(s->fd, "two", s->fd, "names", 0), 0);
	cr_assert_eq(mkfifoat(s->fd, "fifo", 0644), 0);
	cr_assert_eq(mknodat(s->fd, "sock", S_IFSOCK | 0644, 0), 0);
	cr_assert_eq(symlinkat("dir", s->fd, "to-dir"), 0);
	cr_assert_eq(symlinkat("/etc", s->fd, "to-etc"), 0);
	cr_assert_eq(symlinkat("../..", s->fd, "dir/up"), 0);
	cr_assert_eq(symlinkat("/proc/self/root", s->fd, "magic"), 0);
	cr_assert_eq(symlinkat("nowhere", s->fd, "dangling"), 0);
}

#define P(text) text, sizeof(text) - 1
static const struct {
	const char *path;
	size_t len;
	int r;
	const char *same_as; /* for fstatat(AT_SYMLINK_NOFOLLOW), when it opens */
} opens[] = {
	{ P(""), 0, "." },
	{ P("."), 0, "." },
	{ P("dir"), 0, "dir" },
	{ P("dir/sub/file"), 0, "dir/sub/file" },
	{ P("dir//sub"), 0, "dir/sub" },
	{ "file-and-more", 4, 0, "file" },
	{ P("fifo"), 0, "fifo" },
	{ P("sock"), 0, "sock" },
	{ P("to-dir"), 0, "to-dir" },
	{ P("dangling"), 0, "dangling" },
	{ P("to-dir/sub"), -ELOOP, NULL },
	{ P("to-dir/"), -ELOOP, NULL },
	{ P("to-etc/passwd"), -ELOOP, NULL },
	{ P("dir/up/etc"), -ELOOP, NULL },
	{ P("magic/etc"), -ELOOP, NULL },
	{ P("nothing"), -ENOENT, NULL },
	{ P("file/below"), -ENOTDIR, NULL },
	{ P("/etc"), -EINVAL, NULL },
	{ P(".."), -EINVAL, NULL },
	{ P("dir/.."), -EINVAL, NULL },
	{ P("dir/../file"), -EINVAL, NULL },
	{ P("file\0more"), -EINVAL, NULL },
};
CASES(rootfd, open, opens)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	struct stat want;
	struct stat got;
	int r;

	make_tree(&s);
	r = ctm_rootfd_open(s.fd, opens[*i].path, opens[*i].len, &fd);
	cr_assert_eq(r, opens[*i].r, "%s: returned %d", opens[*i].path, r);
	if (r < 0) {
		cr_assert_eq(fd, -1, "%s: result written", opens[*i].path);
		return;
	}
	cr_assert_eq(fstatat(s.fd, opens[*i].same_as, &want, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(fstat(fd, &got), 0);
	cr_assert(got.st_ino == want.st_ino && got.st_dev == want.st_dev, "%s", opens[*i].path);
	cr_assert(fcntl(fd, F_GETFL) & O_PATH, "%s", opens[*i].path);
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC, "%s", opens[*i].path);
}

Test(rootfd, a_mount_is_not_entered)
{
	CLEANUP_CLOSE int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	cr_assert_eq(ctm_rootfd_open(root, P("proc/self"), &fd), -EXDEV);
}

/* 40 directories of 200 bytes: twice what one call takes. */
Test(rootfd, paths_beyond_path_max)
{
	SCRATCH(s);
	char name[201];
	char path[40 * 201];
	size_t len = 0;
	CLEANUP_CLOSE int at = dup(s.fd);
	CLEANUP_CLOSE int fd = -1;
	struct stat deep;
	struct stat got;

	memset(name, 'n', 200);
	name[200] = '\0';
	for (int i = 0; i < 40; i++) {
		int next;

		cr_assert_eq(mkdirat(at, name, 0755), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ctm_closep(&at);
		at = next;
		memcpy(path + len, name, 200);
		path[len + 200] = '/';
		len += 201;
	}
	cr_assert_eq(fstat(at, &deep), 0);
	cr_assert_eq(ctm_rootfd_open(s.fd, path, len - 1, &fd), 0);
	cr_assert_eq(fstat(fd, &got), 0);
	cr_assert_eq(got.st_ino, deep.st_ino);

	/* a link where the first step ends, 20 components in */
	path[20 * 201 - 2] = 'L';
	ctm_closep(&at);
	at = openat(s.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 19; i++) {
		int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		ctm_closep(&at);
		at = next;
	}
	memcpy(path + 40 * 201 - 1, "", 1);
	name[199] = 'L';
	cr_assert_eq(symlinkat("nnn", at, name), 0);
	ctm_closep(&fd);
	cr_assert_eq(ctm_rootfd_open(s.fd, path, len - 1, &fd), -ELOOP);
}

Test(rootfd, a_component_beyond_path_max)
{
	SCRATCH(s);
	static char path[PATH_MAX + 10];
	int fd = -1;

	memset(path, 'x', sizeof(path));
	cr_assert_eq(ctm_rootfd_open(s.fd, path, sizeof(path), &fd), -ENAMETOOLONG);
}

static const struct {
	const char *path;
	int content; /* of ctm_rootfd_open_content() */
	int dir;     /* of ctm_rootfd_open_dir() */
} contents[] = {
	{ "file", 0, -ENOTDIR },
	{ "dir", 0, 0 },
	{ "fifo", -EMEDIUMTYPE, -ENOTDIR },
	{ "sock", -EMEDIUMTYPE, -ENOTDIR },
	{ "to-dir", -EMEDIUMTYPE, -ENOTDIR },
	{ "dangling", -EMEDIUMTYPE, -ENOTDIR },
	{ "nothing", -ENOENT, -ENOENT },
	{ "..", -EINVAL, -EINVAL },
	{ "dir/sub", 0, -EINVAL },
	{ "", 0, -EINVAL },
};
CASES(rootfd, open_content_and_dir, contents)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_CLOSE int dir = -1;
	const char *path = contents[*i].path;

	make_tree(&s);
	cr_assert_eq(ctm_rootfd_open_content(s.fd, path, strlen(path), &fd), contents[*i].content,
		     "%s", path);
	cr_assert_eq(ctm_rootfd_open_dir(s.fd, path, &dir), contents[*i].dir, "%s", path);
}

Test(rootfd, content_is_read)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	char text[16];

	make_tree(&s);
	cr_assert_eq(ctm_rootfd_open_content(s.fd, P("dir/sub/file"), &fd), 0);
	cr_assert_eq(read(fd, text, sizeof(text)), 5);
	cr_assert_eq(memcmp(text, "inner", 5), 0);
}

Test(rootfd, stat_agrees_with_the_kernel)
{
	static const char *const names[] = { "file", "dir", "fifo", "to-etc", "names" };
	SCRATCH(s);

	make_tree(&s);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP_CLOSE int fd = -1;
		struct ctm_inode by_fd;
		struct ctm_inode by_name;
		struct stat st;

		cr_assert_eq(fstatat(s.fd, names[i], &st, AT_SYMLINK_NOFOLLOW), 0);
		cr_assert_eq(ctm_rootfd_open(s.fd, names[i], strlen(names[i]), &fd), 0);
		cr_assert_eq(ctm_rootfd_stat(fd, &by_fd), 0);
		cr_assert_eq(ctm_rootfd_stat_at(s.fd, names[i], &by_name), 0);
		cr_assert_eq(by_fd.mode, st.st_mode, "%s", names[i]);
		cr_assert_eq(by_fd.uid.v, st.st_uid, "%s", names[i]);
		cr_assert_eq(by_fd.gid.v, st.st_gid, "%s", names[i]);
		cr_assert_eq(by_fd.dev, st.st_dev, "%s", names[i]);
		cr_assert_eq(by_fd.ino, st.st_ino, "%s", names[i]);
		cr_assert_eq(by_fd.nlink, st.st_nlink, "%s", names[i]);
		cr_assert_eq(by_fd.size, (uint64_t)st.st_size, "%s", names[i]);
		cr_assert_eq(by_fd.mtime.tv_sec, st.st_mtim.tv_sec, "%s", names[i]);
		cr_assert_eq(by_fd.mtime.tv_nsec, st.st_mtim.tv_nsec, "%s", names[i]);
		cr_assert(!by_fd.mount_root && by_fd.attr == 0, "%s", names[i]);
		cr_assert(by_name.ino == by_fd.ino && by_name.mnt_id == by_fd.mnt_id, "%s",
			  names[i]);
	}
}

Test(rootfd, a_mount_point_is_known)
{
	CLEANUP_CLOSE int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ctm_inode proc;
	struct ctm_inode top;

	cr_assert_eq(ctm_rootfd_stat_at(root, "proc", &proc), 0);
	cr_assert_eq(ctm_rootfd_stat(root, &top), 0);
	cr_assert(proc.mount_root);
	cr_assert_neq(proc.mnt_id, top.mnt_id);
	cr_assert_eq(ctm_rootfd_stat_at(root, "../etc", &proc), -EINVAL);
}

Test(rootfd, unlink_takes_only_what_was_meant)
{
	SCRATCH(s);
	struct stat file;
	struct stat two;
	struct stat fifo;

	make_tree(&s);
	cr_assert_eq(fstatat(s.fd, "file", &file, 0), 0);
	cr_assert_eq(fstatat(s.fd, "two", &two, 0), 0);
	cr_assert_eq(fstatat(s.fd, "fifo", &fifo, 0), 0);
	cr_assert_eq(ctm_rootfd_unlink(s.fd, "file", file.st_dev, file.st_ino + 1), -ESTALE);
	cr_assert_eq(ctm_rootfd_unlink(s.fd, "file", file.st_dev + 1, file.st_ino), -ESTALE);
	cr_assert_eq(ctm_rootfd_unlink(s.fd, "two", two.st_dev, two.st_ino), -ESTALE, "two names");
	cr_assert_eq(ctm_rootfd_unlink(s.fd, "fifo", fifo.st_dev, fifo.st_ino), -ESTALE, "no file");
	cr_assert_eq(ctm_rootfd_unlink(s.fd, "dir/sub/file", file.st_dev, file.st_ino), -EINVAL);
	cr_assert_eq(ctm_rootfd_unlink(s.fd, "gone", file.st_dev, file.st_ino), -ENOENT);
	cr_assert_eq(faccessat(s.fd, "file", F_OK, 0), 0);
	cr_assert_eq(ctm_rootfd_unlink(s.fd, "file", file.st_dev, file.st_ino), 0);
	cr_assert_eq(faccessat(s.fd, "file", F_OK, 0), -1);
}

Test(rootfd, changes_reach_the_inode_itself)
{
	SCRATCH(s);
	CLEANUP_CLOSE int file = -1;
	CLEANUP_CLOSE int fifo = -1;
	CLEANUP_CLOSE int link = -1;
	const struct timespec when = { .tv_sec = 1000000000, .tv_nsec = 5 };
	struct stat before;
	struct stat st;

	make_tree(&s);
	cr_assert_eq(fstatat(s.fd, "file", &before, 0), 0);
	cr_assert_eq(ctm_rootfd_open(s.fd, P("file"), &file), 0);
	cr_assert_eq(ctm_rootfd_open(s.fd, P("fifo"), &fifo), 0);
	cr_assert_eq(ctm_rootfd_open(s.fd, P("to-dir"), &link), 0);

	cr_assert_eq(ctm_rootfd_chmod(file, S_IFDIR | 04751), 0, "the type does not matter");
	cr_assert_eq(fstat(file, &st), 0);
	cr_assert_eq(st.st_mode, S_IFREG | 04751);
	cr_assert_eq(ctm_rootfd_chmod(fifo, 0600), 0);
	cr_assert_eq(fstat(fifo, &st), 0);
	cr_assert_eq(st.st_mode, S_IFIFO | 0600);
	cr_assert_eq(ctm_rootfd_chmod(link, 0600), -EOPNOTSUPP);
	cr_assert_eq(fstatat(s.fd, "dir", &st, 0), 0);
	cr_assert_eq(st.st_mode, S_IFDIR | 0755);

	cr_assert_eq(ctm_rootfd_set_mtime(file, when), 0);
	cr_assert_eq(ctm_rootfd_set_mtime(link, when), 0);
	cr_assert_eq(fstat(file, &st), 0);
	cr_assert(st.st_mtim.tv_sec == when.tv_sec && st.st_mtim.tv_nsec == when.tv_nsec);
	cr_assert(st.st_atim.tv_sec == before.st_atim.tv_sec &&
		  st.st_atim.tv_nsec == before.st_atim.tv_nsec);
	cr_assert_eq(fstat(link, &st), 0);
	cr_assert_eq(st.st_mtim.tv_sec, when.tv_sec);
	cr_assert_eq(fstatat(s.fd, "dir", &st, 0), 0);
	cr_assert_neq(st.st_mtim.tv_sec, when.tv_sec);

	cr_assert_eq(ctm_rootfd_chown(file, (ctm_did){ CTM_ID_INVALID }, (ctm_did){ 0 }), -EINVAL);
	cr_assert_eq(ctm_rootfd_chown(file, (ctm_did){ 0 }, (ctm_did){ CTM_ID_INVALID }), -EINVAL);
	cr_assert_eq(ctm_rootfd_chown(link, (ctm_did){ geteuid() }, (ctm_did){ getegid() }), 0);
	if (geteuid() == 0) {
		cr_assert_eq(ctm_rootfd_chown(link, (ctm_did){ 100000 }, (ctm_did){ 100042 }), 0);
		cr_assert_eq(fstat(link, &st), 0);
		cr_assert(st.st_uid == 100000 && st.st_gid == 100042);
		cr_assert_eq(fstatat(s.fd, "dir", &st, 0), 0);
		cr_assert_eq(st.st_uid, 0);
	}
}

Test(rootfd, attributes)
{
	SCRATCH(s);
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	CLEANUP_CLOSE int file = -1;
	CLEANUP_CLOSE int link = -1;
	static char big[3000];
	struct ctm_bytes got;

	make_tree(&s);
	cr_assert_eq(ctm_rootfd_open(s.fd, P("file"), &file), 0);
	cr_assert_eq(ctm_rootfd_open(s.fd, P("to-dir"), &link), 0);
	memset(big, 'b', sizeof(big));
	if (ctm_rootfd_set_xattr(file, "user.big", (struct ctm_bytes){ big, sizeof(big) }) ==
	    -EOPNOTSUPP) {
		cr_skip_test("no extended attributes in the temporary directory");
	}
	cr_assert_eq(ctm_rootfd_get_xattr(file, "user.big", &arena, &got), 0);
	cr_assert(got.len == sizeof(big) && memcmp(got.p, big, sizeof(big)) == 0);

	cr_assert_eq(ctm_rootfd_set_xattr(file, "user.empty", (struct ctm_bytes){ "", 0 }), 0);
	cr_assert_eq(ctm_rootfd_get_xattr(file, "user.empty", &arena, &got), 0);
	cr_assert(got.p && got.len == 0, "an empty value is not an absent one");

	cr_assert_eq(ctm_rootfd_get_xattr(file, "user.none", &arena, &got), 0);
	cr_assert_null(got.p);
	cr_assert_eq(ctm_rootfd_get_xattr(link, "system.posix_acl_access", &arena, &got), 0);
	cr_assert_null(got.p, "a link has none, and its target was not asked");

	cr_assert_eq(ctm_rootfd_set_xattr(file, "user.big", (struct ctm_bytes){ .p = NULL }), 0);
	cr_assert_eq(ctm_rootfd_get_xattr(file, "user.big", &arena, &got), 0);
	cr_assert_null(got.p);
	cr_assert_eq(ctm_rootfd_set_xattr(file, "user.big", (struct ctm_bytes){ .p = NULL }), 0,
		     "twice");
}

static unsigned int kernel_flags(int dir, const char *path)
{
	CLEANUP_CLOSE int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	unsigned int flags = 0;

	cr_assert_eq(ioctl(fd, FS_IOC_GETFLAGS, &flags), 0, "%s: %s", path, strerror(errno));
	return flags;
}

static const struct {
	const char *path;
	int want;
} flagged[] = {
	{ "file", 0 },
	{ "dir", 0 },
	{ "fifo", -EMEDIUMTYPE },
	{ "link", -EMEDIUMTYPE },
};

/* Immutable and append-only alone change, whatever else is set. */
CASES(rootfd, flags_of_inodes, flagged)
{
	SCRATCH(s);
	const char *path = flagged[*i].path;
	const uint32_t attrs[] = { CTM_ATTR_IMMUTABLE, CTM_ATTR_APPEND,
				   CTM_ATTR_IMMUTABLE | CTM_ATTR_APPEND, 0 };
	CLEANUP_CLOSE int fd = -1;
	unsigned int other = FS_NODUMP_FL;
	struct ctm_inode inode;

	if (geteuid() != 0) {
		cr_skip("needs root");
	}
	cr_assert_eq(mkdirat(s.fd, "dir", 0755), 0);
	cr_assert_eq(mknodat(s.fd, "file", S_IFREG | 0644, 0), 0);
	cr_assert_eq(mkfifoat(s.fd, "fifo", 0644), 0);
	cr_assert_eq(symlinkat("file", s.fd, "link"), 0);
	cr_assert_eq(ctm_rootfd_open(s.fd, path, strlen(path), &fd), 0);
	if (flagged[*i].want < 0) {
		cr_assert_eq(ctm_rootfd_set_attr(fd, CTM_ATTR_IMMUTABLE), flagged[*i].want, "%s",
			     path);
		return;
	}
	{
		CLEANUP_CLOSE int open_fd = openat(s.fd, path, O_RDONLY | O_CLOEXEC);

		if (ioctl(open_fd, FS_IOC_SETFLAGS, &other) < 0) {
			cr_assert_eq(ctm_rootfd_set_attr(fd, 0), -ENOTTY, "%s: no flags here",
				     path);
			return;
		}
	}
	other = kernel_flags(s.fd, path);
	for (size_t k = 0; k < ARRAY_LEN(attrs); k++) {
		unsigned int want = other;

		want |= attrs[k] & CTM_ATTR_IMMUTABLE ? FS_IMMUTABLE_FL : 0;
		want |= attrs[k] & CTM_ATTR_APPEND ? FS_APPEND_FL : 0;
		cr_assert_eq(ctm_rootfd_set_attr(fd, attrs[k]), 0, "%s: %zu", path, k);
		cr_assert_eq(kernel_flags(s.fd, path), want, "%s: %zu", path, k);
		cr_assert_eq(ctm_rootfd_stat(fd, &inode), 0);
		cr_assert_eq(inode.attr, attrs[k], "%s: %zu", path, k);
	}
}

Test(rootfd, handles)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_CLOSE int path_root = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ctm_handle handle;
	struct stat want;
	int r;

	make_tree(&s);
	cr_assert_eq(ctm_rootfd_open(s.fd, P("to-dir"), &fd), 0);
	cr_assert_eq(fstat(fd, &want), 0);
	cr_assert_eq(ctm_rootfd_handle(fd, &handle), 0);
	if (handle.len == 0) {
		cr_skip_test("no file handles in the temporary directory");
	}
	ctm_closep(&fd);
	r = ctm_rootfd_open_handle(s.fd, &handle, &fd);
	if (r == -EPERM) {
		cr_skip_test("opening by handle needs CAP_DAC_READ_SEARCH");
	}
	for (int i = 0; i < 2; i++) {
		struct stat st;

		cr_assert_eq(r, 0);
		cr_assert_eq(fstat(fd, &st), 0);
		cr_assert_eq(st.st_ino, want.st_ino);
		cr_assert(S_ISLNK(st.st_mode), "the link itself");
		ctm_closep(&fd);
		r = ctm_rootfd_open_handle(path_root, &handle, &fd);
	}
	ctm_closep(&fd);
	cr_assert_eq(unlinkat(s.fd, "to-dir", 0), 0);
	cr_assert_eq(ctm_rootfd_open_handle(s.fd, &handle, &fd), -ESTALE);
	handle.len = 0;
	cr_assert_eq(ctm_rootfd_open_handle(s.fd, &handle, &fd), -EINVAL);
}

Test(rootfd, proc_is_real_here)
{
	cr_assert(ctm_rootfd_proc_ok());
}
