/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries of every shape for tests of the record. */
#include "entries.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define PATH(p) .path = (p), .path_len = sizeof(p) - 1
#define BYTES(s)                               \
	{                                      \
		.p = (s), .len = sizeof(s) - 1 \
	}
#define HANDLE_EXT4(a, b)                                                               \
	{                                                                               \
		.type = 1, .len = 8, .bytes = {(a), (b), 0, 0, 0x5f, 0x12, 0xc3, 0xee } \
	}

const struct ctm_entry sample_entries[] = {
	{
		.kind = CTM_ENTRY_REMOVE,
		.cause = CTM_F_PKG_LOCK,
		.ref = { PATH("var/lib/dpkg/lock"), 2049, 77, HANDLE_EXT4(77, 0) },
		.nlink = 1,
		.names = 1,
		.before = { .mode = S_IFREG | 0640,
			    .acl_access = BYTES("\2\0\0\0"),
			    .caps = BYTES("") },
		.size = 12345678901,
		.sha256 = { 1, 2, 3, [31] = 255 },
		.mtime = { .tv_sec = -5, .tv_nsec = 999999999 },
		.rule = "dpkg.lock",
		.parent = { PATH("var/lib/dpkg"), 2049, 60, HANDLE_EXT4(60, 0) },
		.parent_mtime = { .tv_sec = 1700000000, .tv_nsec = 1 },
	},
	{
		.kind = CTM_ENTRY_SET,
		.cause = CTM_F_OWN_HOST,
		.ref = { PATH("usr/bin/sudo"), 2049, 300, HANDLE_EXT4(44, 1) },
		.nlink = 1,
		.names = 1,
		.before = { .mode = S_IFREG | 04755 },
		.after = { .mode = S_IFREG | 04755, .uid = { 100000 }, .gid = { 100000 } },
		.content = CTM_CONTENT_SHA256,
		.size = 300,
		.sha256 = { 4, 5, [31] = 6 },
	},
	{
		.kind = CTM_ENTRY_SET,
		.cause = CTM_F_OWN_HOST,
		.ref = { PATH("usr/bin/su"), 2049, 299, HANDLE_EXT4(43, 1) },
		.nlink = 3,
		.names = 2,
		.attr = 1,
		.before = { .mode = S_IFREG | 04755 },
		.after = { .mode = S_IFREG | 0755, .uid = { 100000 }, .gid = { 100000 } },
		.content = CTM_CONTENT_CTIME,
		.size = UINT64_MAX,
		.ctime = { .tv_sec = -1, .tv_nsec = 123456789 },
	},
	{
		.kind = CTM_ENTRY_SET,
		.cause = CTM_F_ACL_HOST,
		.ref = { PATH("usr/bin/sudo.d/\xff\n"),
			 UINT64_MAX,
			 UINT64_MAX,
			 { .type = -7, .len = 20, .bytes = { [19] = 9 } } },
		.nlink = UINT32_MAX,
		.names = 1,
		.before = { .mode = S_IFDIR | 01777,
			    .uid = { UINT32_MAX - 1 },
			    .gid = { 5 },
			    .acl_access = BYTES("a"),
			    .acl_default = BYTES("default"),
			    .caps = BYTES("x\0y") },
		.after = { .mode = S_IFDIR | 01777,
			   .uid = { 5 },
			   .gid = { UINT32_MAX - 1 },
			   .acl_access = BYTES("b"),
			   .acl_default = BYTES("default") },
	},
	{
		.kind = CTM_ENTRY_SET,
		.cause = CTM_F_N,
		.ref = { PATH("usr/bin/sudo.d"), 0, 0, { .len = 0 } },
		.nlink = 1,
		.names = 1,
		.before = { .mode = S_IFLNK | 0777 },
		.after = { .mode = S_IFLNK | 0777, .caps = BYTES("new") },
	},
	{
		.kind = CTM_ENTRY_SET,
		.cause = CTM_F_OWN_HOST,
		.ref = { PATH(""), 2049, 2, HANDLE_EXT4(2, 0) },
		.nlink = 20,
		.names = 1,
		.before = { .mode = S_IFDIR | 0755 },
		.after = { .mode = S_IFDIR | 0755, .uid = { 100000 }, .gid = { 100000 } },
	},
	{
		.kind = CTM_ENTRY_WRITABLE,
		.cause = CTM_F_ATTR_ROSUBVOL,
		.ref = { PATH("srv/snapshot"), 60, 256, HANDLE_EXT4(9, 7) },
		.nlink = 1,
		.names = 1,
	},
	{
		.kind = CTM_ENTRY_READONLY,
		.cause = CTM_F_ATTR_ROSUBVOL,
		.ref = { PATH(""), 60, 256, HANDLE_EXT4(9, 7) },
		.nlink = 1,
		.names = 1,
	},
	{
		.kind = CTM_ENTRY_RESTORE,
		.cause = CTM_F_PKG_PARTIAL,
		.ref = { PATH("f"), 2049, 78, HANDLE_EXT4(78, 3) },
		.nlink = 1,
		.names = 1,
		.after = { .mode = S_IFREG, .uid = { 42 }, .gid = { 43 } },
		.rule = "",
		.parent = { PATH(""), 2049, 2, { .len = 0 } },
	},
};
const size_t sample_entries_n = ARRAY_LEN(sample_entries);

static void state_equal(const struct ctm_inode_state *want, const struct ctm_inode_state *got,
			const char *name, const char *which)
{
	cr_expect_eq(want->mode, got->mode, "%s: %s: mode %o, want %o", name, which, got->mode,
		     want->mode);
	cr_expect_eq(want->uid.v, got->uid.v, "%s: %s: uid %u", name, which, got->uid.v);
	cr_expect_eq(want->gid.v, got->gid.v, "%s: %s: gid %u", name, which, got->gid.v);
	cr_expect(ctm_bytes_eq(want->acl_access, got->acl_access), "%s: %s: acl", name, which);
	cr_expect(ctm_bytes_eq(want->acl_default, got->acl_default), "%s: %s: default acl", name,
		  which);
	cr_expect(ctm_bytes_eq(want->caps, got->caps), "%s: %s: caps", name, which);
}

static void ref_equal(const struct ctm_ref *want, const struct ctm_ref *got, const char *name,
		      bool with_path)
{
	if (with_path) {
		cr_expect_eq(want->path_len, got->path_len, "%s: length of the path", name);
		cr_expect(memcmp(want->path, got->path, want->path_len) == 0, "%s: path", name);
	}
	cr_expect_eq(want->dev, got->dev, "%s: dev", name);
	cr_expect_eq(want->ino, got->ino, "%s: ino", name);
	cr_expect_eq(want->handle.type, got->handle.type, "%s: handle type", name);
	cr_expect_eq(want->handle.len, got->handle.len, "%s: handle length", name);
	cr_expect(memcmp(want->handle.bytes, got->handle.bytes, want->handle.len) == 0,
		  "%s: handle", name);
}

void entries_equal(const struct ctm_entry *want, const struct ctm_entry *got, const char *name)
{
	cr_assert_eq(want->kind, got->kind, "%s: kind %c, want %c", name, got->kind, want->kind);
	cr_expect_eq(want->cause, got->cause, "%s: cause", name);
	ref_equal(&want->ref, &got->ref, name, true);
	cr_expect_eq(want->nlink, got->nlink, "%s: nlink", name);
	cr_expect_eq(want->names, got->names, "%s: names", name);
	cr_expect_eq(want->attr, got->attr, "%s: attr", name);
	if (want->kind != CTM_ENTRY_RESTORE) {
		state_equal(&want->before, &got->before, name, "before");
	}
	if (want->kind != CTM_ENTRY_REMOVE) {
		state_equal(&want->after, &got->after, name, "after");
	}
	cr_expect_eq(want->content, got->content, "%s: content", name);
	cr_expect_eq(want->ctime.tv_sec, got->ctime.tv_sec, "%s: ctime", name);
	cr_expect_eq(want->ctime.tv_nsec, got->ctime.tv_nsec, "%s: ctime ns", name);
	if (want->content == CTM_CONTENT_CTIME) {
		cr_expect_eq(want->size, got->size, "%s: size", name);
	}
	if (!ctm_entry_is_file(want->kind) && want->content != CTM_CONTENT_SHA256) {
		return;
	}
	cr_expect_eq(want->size, got->size, "%s: size", name);
	cr_expect(memcmp(want->sha256, got->sha256, 32) == 0, "%s: sha256", name);
	if (!ctm_entry_is_file(want->kind)) {
		return;
	}
	cr_expect_eq(want->mtime.tv_sec, got->mtime.tv_sec, "%s: mtime", name);
	cr_expect_eq(want->mtime.tv_nsec, got->mtime.tv_nsec, "%s: mtime ns", name);
	cr_expect_str_eq(want->rule, got->rule, "%s: rule", name);
	ref_equal(&want->parent, &got->parent, name, true);
	cr_expect_eq(want->parent_mtime.tv_sec, got->parent_mtime.tv_sec, "%s: parent mtime", name);
	cr_expect_eq(want->parent_mtime.tv_nsec, got->parent_mtime.tv_nsec, "%s: ns", name);
}
