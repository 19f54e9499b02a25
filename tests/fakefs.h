/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A volume in memory behind struct ctm_ops, with what the kernel does beside what it is asked for:
 * chown(2) takes setuid, setgid (where the group may execute) and the capability away, even when
 * the owner stays; links have no mode of their own; immutable and append-only inodes refuse;
 * directories get a new mtime.
 *
 * Any call can be made to fail, or be the last one that happened.
 */
#ifndef CTM_TESTS_FAKEFS_H
#define CTM_TESTS_FAKEFS_H

#include <setjmp.h>

#include "base/vec.h"
#include "run/ops.h"

struct fake_node {
	char *path;
	struct ctm_inode_state state; /* values in the arena */
	uint64_t ino;
	uint32_t nlink;
	uint32_t attr;
	uint64_t rdev;
	uint64_t dev;   /* 0: that of most */
	bool subvol;    /* the top of a subvolume, which is all that has its dev */
	bool ro_subvol; /* EROFS for all of it */
	bool received;
	struct timespec mtime;
	struct timespec atime;
	struct timespec ctime; /* another one after every change that goes through the ops */
	uint64_t holes;        /* bytes behind the content, which nobody can read here */
	/* somebody has it open for writing */
	bool writer;
	struct ctm_bytes content;
	bool gone;
};

struct fakefs {
	CTM_VEC(struct fake_node) nodes;
	struct ctm_arena arena;
	struct ctm_buf log;   /* "chown usr/bin/sudo 100000:100000\n" ..., of calls that change */
	long long now;        /* mtime of the next change of a directory */
	unsigned int calls;   /* so far, all but close */
	unsigned int fail_at; /* the call of this number (from 1) fails; 0: none */
	int fail_with;        /* positive errno */
	bool fail_on;         /* so does every one after it */
	/*
	 * "chown", "chmod", "attr", "subvol", "xattr", "mtime", "unlink" or "restore": all of these
	 * fail; or NULL
	 */
	const char *fail_op;
	jmp_buf *die; /* the call fail_at does not return: the process is killed there */
	/* A chown that is the last call has taken the capability away, and has not done more. */
	bool torn_chown;
	bool no_handles;
	bool no_leases;
	/* A chown finds somebody who writes this to the file. */
	struct ctm_bytes write_at_chown;
	/* During a call of this kind somebody wants to write to the file. */
	const char *want_at;
	bool wanted;
	/* the last descriptor that was handed out for an open file, and which it is */
	int shown_fd;
	int shown_h;
	bool readonly;
	int open; /* handles that were not closed */
};

extern const struct ctm_ops fake_ops;

void fake_done(struct fakefs *fs);
/**
 * Adds an inode; its directory need not exist. Index into nodes; pointers move with the next one.
 */
size_t fake_add(struct fakefs *fs, const char *path, uint32_t mode, uint32_t uid, uint32_t gid);
/** The inode at this path, or NULL. */
struct fake_node *fake_at(struct fakefs *fs, const char *path);
struct ctm_bytes fake_bytes(struct fakefs *fs, const void *p, size_t len);
/**
 * One line for each inode, by path: all that a run may change, and all that it must not. Free it.
 */
char *fake_listing(struct fakefs *fs);

#endif
