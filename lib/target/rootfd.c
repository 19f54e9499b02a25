/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only calls that touch a container's tree. */
#include "target/rootfd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/fact.h"

CTM_TREE_CALLS

/* The kernel's limit of one value (XATTR_SIZE_MAX of linux/limits.h); most are far smaller. */
#define XATTR_MAX   65536
#define XATTR_GUESS 512

#define NSEC_MAX 999999999

/* "/proc/self/fd/" and a descriptor */
#define PROC_FD_LEN 32

static void proc_fd(char path[static PROC_FD_LEN], int fd)
{
	(void)snprintf(path, PROC_FD_LEN, "/proc/self/fd/%d", fd);
}

/* glibc 2.36 has no wrapper. */
static int openat2_beneath(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC | O_NOFOLLOW),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	long fd;

	do {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

static bool is_name(const char *name)
{
	return *name && strcmp(name, "..") != 0 && !strchr(name, '/');
}

/* Relative, no NUL, no "..": the kernel would stop an escape, we refuse the question. */
static bool is_relative_path(const char *path, size_t len)
{
	if (len > 0 && (path[0] == '/' || memchr(path, '\0', len))) {
		return false;
	}
	for (size_t at = 0; at < len;) {
		const char *slash = memchr(path + at, '/', len - at);
		size_t n = slash ? (size_t)(slash - (path + at)) : len - at;

		if (n == 2 && memcmp(path + at, "..", 2) == 0) {
			return false;
		}
		at += n + 1;
	}
	return true;
}

/*
 * How much of the path openat2 takes in one go: all, or whole components with the slash behind them
 * (which makes a link in its place -ELOOP, like in the middle of a path). 0: not even one
 * component.
 */
static size_t step_len(const char *path, size_t len)
{
	size_t n = len;

	if (n >= PATH_MAX) {
		for (n = PATH_MAX - 1; n > 0 && path[n - 1] != '/'; n--) {
		}
	}
	return n;
}

int ctm_rootfd_open(int root, const char *path, size_t len, int *ret)
{
	CLEANUP_CLOSE int held = -1;
	int at = root;

	if (!is_relative_path(path, len)) {
		return -EINVAL;
	}
	do {
		char step[PATH_MAX];
		size_t n = step_len(path, len);
		int fd;

		if (n == 0 && len > 0) {
			return -ENAMETOOLONG;
		}
		memcpy(step, path, n);
		memcpy(step + n, n == 0 ? "." : "", n == 0 ? 2 : 1);
		fd = openat2_beneath(at, step, O_PATH | (n == len ? 0 : O_DIRECTORY));
		if (fd < 0) {
			return fd;
		}
		ctm_closep(&held);
		held = fd;
		at = fd;
		path += n;
		len -= n;
		for (; len > 0 && *path == '/'; path++, len--) {
		}
	} while (len > 0);
	*ret = TAKE_FD(held);
	return 0;
}

/* Opens what an O_PATH descriptor names; the caller has seen that it is a file or a directory. */
static int reopen(int fd, int flags)
{
	char path[PROC_FD_LEN];
	int r;

	proc_fd(path, fd);
	do {
		r = open(path, flags | O_CLOEXEC | O_NOCTTY);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

int ctm_rootfd_open_content(int root, const char *path, size_t len, int *ret)
{
	CLEANUP_CLOSE int fd = -1;
	int r = ctm_rootfd_open(root, path, len, &fd);

	return r < 0 ? r : ctm_rootfd_readable(fd, ret);
}

int ctm_rootfd_readable(int fd, int *ret)
{
	struct ctm_inode inode;
	int r = ctm_rootfd_stat(fd, &inode);

	if (r < 0) {
		return r;
	}
	if (!S_ISREG(inode.mode) && !S_ISDIR(inode.mode)) {
		return -EMEDIUMTYPE;
	}
	r = reopen(fd, O_RDONLY | O_NONBLOCK | O_NOATIME);
	if (r == -EPERM) {
		r = reopen(fd, O_RDONLY | O_NONBLOCK);
	}
	if (r < 0) {
		return r;
	}
	*ret = r;
	return 0;
}

int ctm_rootfd_open_dir(int dir, const char *name, int *ret)
{
	/* The kernel looks at O_DIRECTORY before it opens: a FIFO or a device is never woken. */
	const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
	int fd;

	if (!is_name(name)) {
		return -EINVAL;
	}
	fd = openat2_beneath(dir, name, flags | O_NOATIME);
	if (fd == -EPERM) {
		/*
		 * Without privileges it is for owners alone; attach mounts noatime, so nothing is
		 * lost.
		 */
		fd = openat2_beneath(dir, name, flags);
	}
	if (fd < 0) {
		return fd;
	}
	*ret = fd;
	return 0;
}

/*
 * ext4 has 30 bits for the fraction and the kernel hands them out as they are, but takes no more
 * than a second's worth back.
 */
static struct timespec from_statx(const struct statx_timestamp *t)
{
	return (struct timespec){ .tv_sec = t->tv_sec,
				  .tv_nsec = t->tv_nsec <= NSEC_MAX ? (long)t->tv_nsec : NSEC_MAX };
}

static int stat_at(int dir, const char *name, int flags, struct ctm_inode *ret)
{
	const unsigned int want = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID;
	struct statx stx;

	if (statx(dir, name, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		  want, &stx) < 0) {
		return -errno;
	}
	*ret = (struct ctm_inode){
		.mode = stx.stx_mode,
		.uid = { stx.stx_uid },
		.gid = { stx.stx_gid },
		.dev = makedev(stx.stx_dev_major, stx.stx_dev_minor),
		.ino = stx.stx_ino,
		.rdev = makedev(stx.stx_rdev_major, stx.stx_rdev_minor),
		.nlink = stx.stx_nlink,
		.size = stx.stx_size,
		.attr = (stx.stx_attributes & STATX_ATTR_IMMUTABLE ? CTM_ATTR_IMMUTABLE : 0) |
			(stx.stx_attributes & STATX_ATTR_APPEND ? CTM_ATTR_APPEND : 0),
		.mnt_id = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0,
		.mount_root = stx.stx_attributes & STATX_ATTR_MOUNT_ROOT,
		.atime = from_statx(&stx.stx_atime),
		.mtime = from_statx(&stx.stx_mtime),
		.ctime = from_statx(&stx.stx_ctime),
	};
	if (stx.stx_mask & STATX_BTIME) {
		ret->btime = from_statx(&stx.stx_btime);
	}
	return 0;
}

int ctm_rootfd_stat(int fd, struct ctm_inode *ret)
{
	return stat_at(fd, "", AT_EMPTY_PATH, ret);
}

int ctm_rootfd_stat_at(int dir, const char *name, struct ctm_inode *ret)
{
	return is_name(name) ? stat_at(dir, name, 0, ret) : -EINVAL;
}

int ctm_rootfd_unlink(int dir, const char *name, uint64_t dev, uint64_t ino)
{
	struct ctm_inode inode;
	int r = ctm_rootfd_stat_at(dir, name, &inode);

	if (r < 0) {
		return r;
	}
	if (!S_ISREG(inode.mode) || inode.nlink != 1 || inode.dev != dev || inode.ino != ino) {
		return -ESTALE;
	}
	return unlinkat(dir, name, 0) < 0 ? -errno : 0;
}

int ctm_rootfd_chown(int fd, ctm_did uid, ctm_did gid)
{
	/*
	 * (uid_t)-1 means "leave it" to the kernel: half of the change would be lost without a
	 * word.
	 */
	if (uid.v == CTM_ID_INVALID || gid.v == CTM_ID_INVALID) {
		return -EINVAL;
	}
	return fchownat(fd, "", uid.v, gid.v, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int ctm_rootfd_chmod(int fd, uint32_t mode)
{
	char path[PROC_FD_LEN];
	struct ctm_inode inode;
	int r = ctm_rootfd_stat(fd, &inode);

	if (r < 0) {
		return r;
	}
	if (S_ISLNK(inode.mode)) {
		return -EOPNOTSUPP; /* kernels differ: some file systems would take it */
	}
	proc_fd(path, fd);
	return chmod(path, mode & 07777) < 0 ? -errno : 0;
}

int ctm_rootfd_set_mtime(int fd, struct timespec mtime)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, mtime };

	return utimensat(fd, "", times, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static bool is_absent(int error)
{
	return error == ENODATA || error == EOPNOTSUPP;
}

int ctm_rootfd_get_xattr(int fd, const char *name, struct ctm_arena *arena, struct ctm_bytes *ret)
{
	CLEANUP_FREE char *big = NULL;
	char small[XATTR_GUESS];
	char path[PROC_FD_LEN];
	const char *value = small;
	ssize_t n;

	proc_fd(path, fd);
	n = getxattr(path, name, small, sizeof(small));
	if (n < 0 && errno == ERANGE) {
		big = malloc(XATTR_MAX);
		if (!big) {
			return -ENOMEM;
		}
		value = big;
		n = getxattr(path, name, big, XATTR_MAX);
	}
	if (n < 0 && is_absent(errno)) {
		*ret = (struct ctm_bytes){ .p = NULL };
		return 0;
	}
	if (n < 0) {
		return -errno;
	}
	return ctm_arena_bytes(arena, (struct ctm_bytes){ .p = value, .len = (size_t)n }, ret);
}

int ctm_rootfd_set_xattr(int fd, const char *name, struct ctm_bytes value)
{
	char path[PROC_FD_LEN];

	proc_fd(path, fd);
	if (!value.p) {
		return removexattr(path, name) < 0 && !is_absent(errno) ? -errno : 0;
	}
	return setxattr(path, name, value.p, value.len, 0) < 0 ? -errno : 0;
}

/* struct file_handle ends in a flexible array; this is one with room. */
union handle_room {
	struct file_handle fh;
	char room[sizeof(struct file_handle) + CTM_HANDLE_MAX];
};

int ctm_rootfd_handle(int fd, struct ctm_handle *ret)
{
	union handle_room h = { .fh.handle_bytes = CTM_HANDLE_MAX };
	struct ctm_handle out = { 0 };
	int mount_id;

	if (name_to_handle_at(fd, "", &h.fh, &mount_id, AT_EMPTY_PATH) < 0) {
		if (errno != EOPNOTSUPP) {
			return -errno;
		}
		*ret = out;
		return 0;
	}
	if (h.fh.handle_bytes > CTM_HANDLE_MAX) {
		return -EOVERFLOW;
	}
	out.type = h.fh.handle_type;
	out.len = h.fh.handle_bytes;
	memcpy(out.bytes, h.fh.f_handle, out.len);
	*ret = out;
	return 0;
}

int ctm_rootfd_open_handle(int root, const struct ctm_handle *handle, int *ret)
{
	union handle_room h = { 0 };
	int fd;

	if (handle->len == 0 || handle->len > CTM_HANDLE_MAX) {
		return -EINVAL;
	}
	h.fh.handle_bytes = handle->len;
	h.fh.handle_type = handle->type;
	memcpy(h.fh.f_handle, handle->bytes, handle->len);
	fd = open_by_handle_at(root, &h.fh, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EBADF) {
		CLEANUP_CLOSE int real = openat2_beneath(root, ".", O_RDONLY | O_DIRECTORY);

		if (real < 0) {
			return real;
		}
		fd = open_by_handle_at(real, &h.fh, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0) {
		return -errno;
	}
	*ret = fd;
	return 0;
}

bool ctm_rootfd_proc_ok(void)
{
	struct statfs fs;

	return statfs("/proc/self/fd", &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}
