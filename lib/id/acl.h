/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * POSIX ACLs in the form of the system.posix_acl_access/default attributes
 * (linux/posix_acl_xattr.h, version 2).
 *
 * The bytes are what is on disk: the kernel accepts orders and duplicates that libacl's acl_valid()
 * refuses, so nothing is sorted, merged or "repaired" here; ids alone change.
 */
#ifndef CTM_ID_ACL_H
#define CTM_ID_ACL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "id/idmap.h"

#define CTM_XATTR_ACL_ACCESS  "system.posix_acl_access"
#define CTM_XATTR_ACL_DEFAULT "system.posix_acl_default"

struct ctm_acl_entry {
	uint16_t tag;  /* ACL_USER, ACL_GROUP ... of sys/acl.h */
	uint16_t perm; /* ACL_READ | ACL_WRITE | ACL_EXECUTE */
	uint32_t id;   /* meaningful for ACL_USER and ACL_GROUP */
};

/** Number of entries, or -EINVAL when the bytes are no version-2 ACL (absent, length, version). */
int ctm_acl_count(struct ctm_bytes acl);
/** Entry i; the caller has checked i against ctm_acl_count(). */
struct ctm_acl_entry ctm_acl_get(struct ctm_bytes acl, int i);

/** Whether the entry names an id, and of which kind. */
bool ctm_acl_names(const struct ctm_acl_entry *e, enum ctm_idkind *ret_kind);

/**
 * Whether any named entry's id is off the map's disk side: the test of a scan. A malformed value:
 * true.
 */
bool ctm_acl_off_map(struct ctm_bytes acl, const struct ctm_idmap *map);

/** Decides the id of one named entry; returns true and sets *to when it must move. */
typedef bool (*ctm_acl_move_fn)(enum ctm_idkind kind, ctm_did from, ctm_did *to, void *arg);

/**
 * Copy of the ACL with each named id replaced where fn says so. *ret_merge is set when two
 * entries of one tag with different ids would end on one id: the caller must leave the inode
 * alone then, for one of the two would be lost. Duplicates that are there already are none of
 * that. Returns the number of entries whose id changes, -EINVAL for a malformed value, -ENOMEM.
 */
int ctm_acl_move(struct ctm_bytes acl, ctm_acl_move_fn fn, void *arg, struct ctm_arena *arena,
		 struct ctm_bytes *ret, bool *ret_merge);

/**
 * "u::rwx,u:33:rwx,g::r-x,m::rwx,o::---", ids as stored, entries in the order of the bytes (the
 * abbreviated form of acl_to_any_text(3)). A tag or permission bits that no kernel writes are
 * shown as hex: "0x40:33:rw-+0x8". -EINVAL, -ENOMEM.
 */
int ctm_acl_format(struct ctm_bytes acl, struct ctm_buf *out);

#endif
