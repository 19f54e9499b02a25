/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only door to a container's tree: every call is relative to a descriptor, no link is followed,
 * no mount is crossed, nothing is opened that could block or act.
 */
#ifndef CTM_TARGET_ROOTFD_H
#define CTM_TARGET_ROOTFD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "id/idmap.h"

/** What a chain of operations needs to know of an inode. */
struct ctm_inode {
	uint32_t mode;
	ctm_did uid;
	ctm_did gid;
	uint64_t dev;
	uint64_t ino;
	uint64_t rdev; /* of a device, as makedev(3) has it */
	uint32_t nlink;
	uint64_t size;
	uint32_t attr; /* CTM_ATTR_* of scan/fact.h */
	uint64_t mnt_id;
	bool mount_root;
	struct timespec atime, mtime, ctime, btime; /* btime 0 where the file system has none */
};

/** Opaque identity of an inode on its file system (name_to_handle_at(2)). len 0: none to be had. */
#define CTM_HANDLE_MAX 128
struct ctm_handle {
	int type;
	unsigned int len;
	unsigned char bytes[CTM_HANDLE_MAX];
};

/**
 * O_PATH descriptor of what stands at path (relative, "" is the root), the last component's link
 * itself. openat2 with BENEATH, NO_SYMLINKS, NO_MAGICLINKS, NO_XDEV; paths beyond PATH_MAX go in
 * steps. -ELOOP: a link on the way; -EXDEV: a mount on the way; -ENOENT ...
 */
int ctm_rootfd_open(int root, const char *path, size_t len, int *ret);
/**
 * Readable descriptor of a regular file (O_NONBLOCK, O_NOATIME where allowed), or of a directory;
 * other types: -EMEDIUMTYPE, unopened.
 */
int ctm_rootfd_open_content(int root, const char *path, size_t len, int *ret);
/** The same of what an O_PATH descriptor names. */
int ctm_rootfd_readable(int fd, int *ret);
int ctm_rootfd_stat(int fd, struct ctm_inode *ret);

/*
 * The same for one name in an open directory, one system call each, for the walk. name is what
 * readdir(3) gave; anything with a slash, ".." and "" are -EINVAL.
 */
/** Readable directory (O_NOATIME where allowed). -ENOTDIR for all else, which stays unopened. */
int ctm_rootfd_open_dir(int dir, const char *name, int *ret);
/** Of the entry itself, be it a link; never triggers an automount. */
int ctm_rootfd_stat_at(int dir, const char *name, struct ctm_inode *ret);
/** Removes a regular file with one name, if it is still this inode: -ESTALE when not. */
int ctm_rootfd_unlink(int dir, const char *name, uint64_t dev, uint64_t ino);

/* Work on O_PATH descriptors, of any type. */
int ctm_rootfd_chown(int fd, ctm_did uid, ctm_did gid); /* refuses CTM_ID_INVALID with -EINVAL */
int ctm_rootfd_chmod(int fd, uint32_t mode);            /* 07777 part; not on links: -EOPNOTSUPP */
int ctm_rootfd_set_mtime(int fd, struct timespec mtime);
/** Absent or unsupported attribute: 0 with ret->p NULL. Value in the arena. */
int ctm_rootfd_get_xattr(int fd, const char *name, struct ctm_arena *arena, struct ctm_bytes *ret);
/** value.p NULL removes it (absent already: 0). */
int ctm_rootfd_set_xattr(int fd, const char *name, struct ctm_bytes value);

/** len 0 in *ret where the file system has no handles (-EOPNOTSUPP swallowed). */
int ctm_rootfd_handle(int fd, struct ctm_handle *ret);
/**
 * O_PATH descriptor; -ESTALE when the inode is gone. root: any descriptor on that file system; an
 * O_PATH one costs a second open each time, because open_by_handle_at(2) wants a real one.
 */
int ctm_rootfd_open_handle(int root, const struct ctm_handle *handle, int *ret);

/**
 * Whether /proc is a real procfs: chmod, xattrs and ctm_rootfd_open_content() go through
 * /proc/self/fd, since fchmod(2) and fsetxattr(2) refuse O_PATH descriptors. Checked once by
 * attach.
 */
bool ctm_rootfd_proc_ok(void);

#endif
