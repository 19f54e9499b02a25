/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fact: what one directory entry of a volume is, as read, without judgement.
 *
 * Facts come from a source (the walk; later inode tables and archives) and go to the classifier.
 * They were read by a process that looked at a hostile tree: they are hints of what to look at, and
 * whoever changes an inode reads it again through its own descriptor first.
 */
#ifndef CTM_SCAN_FACT_H
#define CTM_SCAN_FACT_H

#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "id/idmap.h"

/** Inode flags that make a change fail (statx stx_attributes). */
#define CTM_ATTR_IMMUTABLE 0x1u
#define CTM_ATTR_APPEND    0x2u

/**
 * The op of an error (ENAMETOOLONG) that says of a directory: below it is one that is too deep, or
 * at too long a path, to be entered. It comes once for each such directory.
 */
#define CTM_OP_DEEP "deep"

/** First bytes of a file at a rule's path, enough for any cache header. */
#define CTM_HEAD_LEN 32

/**
 * An entry can have an inode and an error: a directory that could not be opened (op "open") or read
 * to its end ("read"), a file whose head could not be read ("read"), a start that is a link
 * ("open", ELOOP). An entry that could not be looked at ("stat"), or whose attributes could not be
 * read ("xattr"), has an error alone: not all that a repair must keep is known of it.
 */
enum ctm_fact_kind {
	CTM_FACT_INODE, /* everything below but err and op is set */
	CTM_FACT_ERROR, /* path, err and op are set */
	CTM_FACT_MOUNT, /* path: something is mounted there, it was not entered */
};

struct ctm_fact {
	enum ctm_fact_kind kind;
	/* relative to the volume's root, no slash at either end; "" is the root; bytes as stored */
	const char *path;
	size_t path_len;
	uint32_t mode; /* st_mode, type included */
	ctm_did uid;
	ctm_did gid;
	uint64_t dev;
	uint64_t ino;
	uint64_t rdev; /* of a device, as makedev(3) has it; else 0 */
	uint32_t nlink;
	uint64_t size;
	uint32_t attr; /* CTM_ATTR_* */
	struct ctm_bytes acl_access;
	struct ctm_bytes acl_default;
	struct ctm_bytes caps;
	/*
	 * content of a regular file at a rule's path, at most CTM_HEAD_LEN bytes; p NULL elsewhere,
	 * and when it could not be read
	 */
	struct ctm_bytes head;
	int err;        /* positive errno */
	const char *op; /* "open", "read", "stat", "xattr", CTM_OP_DEEP: static text */
};

/**
 * Called once per fact; everything it points to is valid during the call alone. Negative errno
 * stops the scan.
 */
typedef int (*ctm_fact_fn)(const struct ctm_fact *fact, void *arg);

#endif
