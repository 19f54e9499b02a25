/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The effects of a repair, as an interface: the real one (run/effects.h) and the tests' model of
 * what the kernel does (tests/fakefs.h) stand behind it.
 */
#ifndef CTM_RUN_OPS_H
#define CTM_RUN_OPS_H

#include "plan/plan.h"
#include "target/rootfd.h"
#include "target/rootfd_flags.h"

/**
 * How to find an inode again: by handle where there is one, else by path and inode number (0: any
 * inode). dev is what stat(2) said at that time; it is not compared, because device numbers change
 * with every attach.
 */
struct ctm_ref {
	const char *path;
	size_t path_len;
	uint64_t dev;
	uint64_t ino;
	struct ctm_handle handle;
};

struct ctm_xattr {
	const char *name;
	struct ctm_bytes value;
};

/** A regular file that is to stand in a directory again exactly as it was saved. */
struct ctm_saved {
	struct ctm_inode_state state;
	struct timespec atime;
	struct timespec mtime;
	const struct ctm_xattr *xattrs; /* all but ACLs and the capability, which state has */
	size_t n_xattrs;
	/* Writes the content to the descriptor; an error means that no file may appear. */
	int (*content)(void *arg, int fd);
	void *arg;
};

/**
 * All return 0 or negative errno. h is a small integer that open handed out (a descriptor in the
 * real one); names are single components.
 */
struct ctm_ops {
	/* -ESTALE: no longer there, or another inode stands at the path. */
	int (*open)(void *fs, const struct ctm_ref *ref, int *ret_h);
	/* What stands under this name in the directory, a link itself; -ENOENT. */
	int (*open_at)(void *fs, int dir_h, const char *name, int *ret_h);
	void (*close)(void *fs, int h);
	int (*stat)(void *fs, int h, struct ctm_inode *ret);
	/* Everything a repair may change, attributes in the arena. */
	int (*read)(void *fs, int h, struct ctm_arena *arena, struct ctm_inode_state *ret);
	int (*chown)(void *fs, int h, ctm_did uid, ctm_did gid);
	int (*chmod)(void *fs, int h, uint32_t mode);
	int (*set_xattr)(void *fs, int h, const char *name, struct ctm_bytes value);
	/*
	 * Makes the immutable and append-only flags as in attr (CTM_ATTR_*) and changes no other.
	 * -EMEDIUMTYPE: of regular files and directories alone.
	 */
	int (*set_attr)(void *fs, int h, uint32_t attr);
	/* Of the btrfs subvolume whose top directory it is; -ENOTTY: it is none. */
	int (*subvol)(void *fs, int h, struct ctm_subvol *ret);
	int (*set_subvol)(void *fs, int h, bool readonly);
	int (*handle)(void *fs, int h, struct ctm_handle *ret);
	int (*set_mtime)(void *fs, int h, struct timespec mtime);
	/*
	 * A readable file descriptor (the caller closes it) of a regular file, found by its path;
	 * -EMEDIUMTYPE, -ESTALE.
	 */
	int (*content)(void *fs, const struct ctm_ref *ref, int *ret_fd);
	/* The same of an open inode. */
	int (*readable)(void *fs, int h, int *ret_fd);
	/*
	 * Nobody can open the file of such a descriptor for writing until that is closed; who has
	 * waited for long gets through, and is told by kept_out. -ETXTBSY: somebody has it open, or
	 * mapped; -EOPNOTSUPP: that cannot be known here.
	 */
	int (*keep_out)(void *fs, int fd);
	/* Nobody has tried since: 0; -ETXTBSY. */
	int (*kept_out)(void *fs, int fd);
	/* Removes name from the directory if it is still this inode; -ESTALE. */
	int (*unlink)(void *fs, int dir_h, const char *name, uint64_t dev, uint64_t ino);
	/*
	 * The whole file appears at once or not at all, on stable storage; never replaces: -EEXIST.
	 */
	int (*restore)(void *fs, int dir_h, const char *name, const struct ctm_saved *file);
	/* The whole file system is on stable storage. */
	int (*sync)(void *fs);
};

#endif
