/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One inode in one line. ACL and capability bytes: getfattr -e hex after setfacl and setcap. */
#include "report/inodeline.h"

#include <string.h>
#include <sys/stat.h>

#include "cases.h"

/* setfacl -m u:33:rw on a 0644 file */
static const unsigned char acl_u33[] = { 2,   0,   0,   0,   1,   0,   6,  0,   255, 255, 255,
					 255, 2,   0,   6,   0,   33,  0,  0,   0,   4,   0,
					 4,   0,   255, 255, 255, 255, 16, 0,   6,   0,   255,
					 255, 255, 255, 32,  0,   4,   0,  255, 255, 255, 255 };
/* setcap cap_net_raw+ep */
static const unsigned char cap_v2[] = {
	1, 0, 0, 2, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
};

static const struct {
	const char *name;
	const char *path;
	struct ctm_inode_state state;
	const char *want;
} rows[] = {
	{ "a setuid program before",
	  "usr/bin/sudo",
	  { .mode = S_IFREG | 04755 },
	  "f 4755        0:0      /usr/bin/sudo" },
	{ "and after",
	  "usr/bin/sudo",
	  { .mode = S_IFREG | 04755, .uid = { 100000 }, .gid = { 100000 } },
	  "f 4755   100000:100000 /usr/bin/sudo" },
	{ "the root", "", { .mode = S_IFDIR | 0755 }, "d 0755        0:0      /" },
	{ "a link",
	  "etc/localtime",
	  { .mode = S_IFLNK | 0777 },
	  "l 0777        0:0      /etc/localtime" },
	{ "a wide id",
	  "x",
	  { .mode = S_IFIFO | 0600, .uid = { 4294967294u } },
	  "p 0600 4294967294:0      /x" },
	{ "a hostile name",
	  "a\nb\033[2J",
	  { .mode = S_IFREG },
	  "f 0000        0:0      /a\\nb\\x1b[2J" },
	{ "an ACL",
	  "f",
	  { .mode = S_IFREG | 0664, .acl_access = { acl_u33, sizeof(acl_u33) } },
	  "f 0664        0:0      /f acl=u::rw-,u:33:rw-,g::r--,m::rw-,o::r--" },
	{ "a default ACL that is no ACL",
	  "d",
	  { .mode = S_IFDIR | 0755, .acl_default = { "xx", 2 } },
	  "d 0755        0:0      /d default=malformed" },
	{ "a capability",
	  "p",
	  { .mode = S_IFREG | 0755, .caps = { cap_v2, sizeof(cap_v2) } },
	  "f 0755        0:0      /p cap=cap_net_raw=ep" },
};

CASES(inodeline, line, rows)
{
	struct ctm_buf out = { 0 };

	cr_assert_eq(ctm_inode_line(&out, rows[*i].path, strlen(rows[*i].path), &rows[*i].state, 0),
		     0);
	cr_assert_str_eq(out.p, rows[*i].want, "%s: got '%s'", rows[*i].name, out.p);
	ctm_buf_done(&out);
}

static const struct {
	const char *name;
	uint32_t mode;
	char want;
} letters[] = {
	{ "file", S_IFREG, 'f' },    { "directory", S_IFDIR, 'd' },
	{ "link", S_IFLNK, 'l' },    { "char", S_IFCHR, 'c' },
	{ "block", S_IFBLK, 'b' },   { "fifo", S_IFIFO, 'p' },
	{ "socket", S_IFSOCK, 's' }, { "none", 0, '?' },
};

CASES(inodeline, letter, letters)
{
	cr_assert_eq(ctm_inode_letter(letters[*i].mode | 0644), letters[*i].want, "%s",
		     letters[*i].name);
}

/* Numbers as makedev(3) puts them together. */
static const struct {
	uint32_t mode;
	uint64_t rdev;
	const char *want;
} devices[] = {
	{ S_IFBLK | 0660, 0x800, "b 0660        0:6      /x dev=8:0 acl=malformed" },
	{ S_IFCHR | 0600, 0xf4200a40, "c 0600        0:6      /x dev=10:1000000 acl=malformed" },
	{ S_IFCHR | 0600, 0, "c 0600        0:6      /x acl=malformed" },
	{ S_IFREG | 0600, 0x800, "f 0600        0:6      /x acl=malformed" },
};
CASES(inodeline, device, devices)
{
	const struct ctm_inode_state state = { .mode = devices[*i].mode,
					       .gid = { 6 },
					       .acl_access = { "x", 1 } };
	struct ctm_buf out = { 0 };

	cr_assert_eq(ctm_inode_line(&out, "x", 1, &state, devices[*i].rdev), 0);
	cr_assert_str_eq(out.p, devices[*i].want);
	ctm_buf_done(&out);
}
