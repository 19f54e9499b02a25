/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of wordings is whole, and a group's title names its ids. */
#include "plan/finding.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

/* Codes are lower-case words with a dot; "flatten" and "err" stand alone. */
static bool good_code(const char *code)
{
	size_t dots = 0;

	for (const char *p = code; *p; p++) {
		if (*p == '.') {
			dots++;
		} else if (!islower((unsigned char)*p)) {
			return false;
		}
	}
	return dots == 1 || strcmp(code, "flatten") == 0 || strcmp(code, "err") == 0;
}

static bool good_line(const char *text)
{
	return text && *text && !strchr(text, '\n') && !strchr(text, '\t') && *text != ' ' &&
	       text[strlen(text) - 1] != ' ';
}

Test(finding, table_is_whole)
{
	for (int i = 0; i < CTM_F_N; i++) {
		const struct ctm_finding_info *info = ctm_finding_info((enum ctm_finding_code)i);

		cr_assert(info->code && good_code(info->code), "code %d", i);
		cr_assert(good_line(info->title) && strlen(info->title) <= 80, "%s: title",
			  info->code);
		cr_assert_neq(info->title[strlen(info->title) - 1], '.', "%s", info->code);
		cr_assert(good_line(info->why) && info->why[strlen(info->why) - 1] == '.',
			  "%s: why", info->code);
		cr_assert(!info->next || good_line(info->next), "%s: next", info->code);
		cr_assert_eq(!info->title_id[0], !info->title_id[1], "%s", info->code);
		/* what needs a person says what to do */
		cr_assert(info->severity != CTM_CHOICE || info->next, "%s: next", info->code);
		for (int k = 0; k < i; k++) {
			cr_assert_str_neq(info->code,
					  ctm_finding_info((enum ctm_finding_code)k)->code);
		}
	}
}

static const struct {
	enum ctm_finding_code code;
	const char *text;
	enum ctm_severity severity;
} codes[] = {
	{ CTM_F_OWN_HOST, "own.host", CTM_FAULT },
	{ CTM_F_OWN_FROM, "own.from", CTM_FAULT },
	{ CTM_F_OWN_HOLE, "own.hole", CTM_CHOICE },
	{ CTM_F_OWN_TWICE, "own.twice", CTM_CHOICE },
	{ CTM_F_OWN_BASE, "own.base", CTM_CHOICE },
	{ CTM_F_OWN_OVERFLOW, "own.overflow", CTM_CHOICE },
	{ CTM_F_OWN_BEYOND, "own.beyond", CTM_CHOICE },
	{ CTM_F_ACL_HOST, "acl.host", CTM_FAULT },
	{ CTM_F_ACL_FROM, "acl.from", CTM_FAULT },
	{ CTM_F_ACL_HOLE, "acl.hole", CTM_CHOICE },
	{ CTM_F_ACL_TWICE, "acl.twice", CTM_CHOICE },
	{ CTM_F_ACL_BASE, "acl.base", CTM_CHOICE },
	{ CTM_F_ACL_OVERFLOW, "acl.overflow", CTM_CHOICE },
	{ CTM_F_ACL_BEYOND, "acl.beyond", CTM_CHOICE },
	{ CTM_F_ACL_MERGE, "acl.merge", CTM_CHOICE },
	{ CTM_F_CAP_ROOT, "cap.root", CTM_FAULT },
	{ CTM_F_BITS_LOST, "bits.lost", CTM_INFO },
	{ CTM_F_PKG_LOCK, "pkg.lock", CTM_FAULT },
	{ CTM_F_PKG_CACHE, "pkg.cache", CTM_FAULT },
	{ CTM_F_PKG_PARTIAL, "pkg.partial", CTM_FAULT },
	{ CTM_F_PKG_HELD, "pkg.held", CTM_CHOICE },
	{ CTM_F_PKG_LARGE, "pkg.large", CTM_INFO },
	{ CTM_F_PKG_UNFINISHED, "pkg.unfinished", CTM_INFO },
	{ CTM_F_TREE_HOST, "tree.host", CTM_CHOICE },
	{ CTM_F_TREE_FIX, "tree.fix", CTM_CHOICE },
	{ CTM_F_TREE_MAPPED, "tree.mapped", CTM_CHOICE },
	{ CTM_F_CONF_LOCK, "conf.lock", CTM_CHOICE },
	{ CTM_F_CONF_SECTION, "conf.section", CTM_CHOICE },
	{ CTM_F_CONF_SNAPSHOT, "conf.snapshot", CTM_INFO },
	{ CTM_F_CONF_UNKNOWN, "conf.unknown", CTM_INFO },
	{ CTM_F_PATH_PARENT, "path.parent", CTM_CHOICE },
	{ CTM_F_MAP_OVERLAP, "map.overlap", CTM_CHOICE },
	{ CTM_F_MAP_HOLE, "map.hole", CTM_CHOICE },
	{ CTM_F_MAP_PUNCH, "map.punch", CTM_CHOICE },
	{ CTM_F_MAP_SUBID, "map.subid", CTM_CHOICE },
	{ CTM_F_MAP_ASYM, "map.asym", CTM_INFO },
	{ CTM_F_MAP_ACCOUNT, "map.account", CTM_INFO },
	{ CTM_F_MOUNT_BELOW, "mount.below", CTM_INFO },
	{ CTM_F_LINK_OUTSIDE, "link.outside", CTM_CHOICE },
	{ CTM_F_ATTR_FLAG, "attr.flag", CTM_CHOICE },
	{ CTM_F_ATTR_ROSUBVOL, "attr.rosubvol", CTM_CHOICE },
	{ CTM_F_ERR, "err", CTM_CHOICE },
};

CASES(finding, codes, codes)
{
	const struct ctm_finding_info *info = ctm_finding_info(codes[*i].code);

	cr_assert_str_eq(info->code, codes[*i].text);
	cr_assert_eq(info->severity, codes[*i].severity, "%s", codes[*i].text);
}

static const struct {
	struct ctm_finding finding;
	const char *want;
} names[] = {
	{ { .code = CTM_F_OWN_HOST }, "own.host" },
	{ { .code = CTM_F_ERR, .err = EACCES }, "err.EACCES" },
	{ { .code = CTM_F_ERR, .err = EIO }, "err.EIO" },
	{ { .code = CTM_F_ERR, .err = 99999 }, "err.99999" },
	{ { .code = CTM_F_ERR }, "err" },
	{ { .code = CTM_F_OWN_HOST, .err = EIO }, "own.host" },
};

CASES(finding, name, names)
{
	char buf[32];

	cr_assert_str_eq(ctm_finding_name(&names[*i].finding, buf), names[*i].want);
}

#define UID(n)                           \
	{                                \
		.kind = CTM_UID, .id = n \
	}
#define GID(n)                           \
	{                                \
		.kind = CTM_GID, .id = n \
	}

static const struct {
	const char *name;
	enum ctm_finding_code code;
	struct ctm_finding v[4];
	size_t n;
	const char *want;
} titles[] = {
	{ "one uid",
	  CTM_F_OWN_HOST,
	  { UID(0), UID(0) },
	  2,
	  "written from the host, uid 0 is outside the map" },
	{ "one gid",
	  CTM_F_OWN_HOST,
	  { GID(42) },
	  1,
	  "written from the host, gid 42 is outside the map" },
	{ "one uid, several gids",
	  CTM_F_OWN_HOST,
	  { UID(0), GID(0), UID(0), GID(42) },
	  4,
	  "written from the host, uid 0 is outside the map" },
	{ "several uids",
	  CTM_F_OWN_HOST,
	  { UID(0), GID(0), UID(33), GID(0) },
	  4,
	  "written from the host, ids outside the map" },
	{ "several gids",
	  CTM_F_ACL_HOST,
	  { GID(4), GID(10) },
	  2,
	  "ACL entries written from the host, ids outside the map" },
	{ "no id",
	  CTM_F_PKG_LOCK,
	  { { .kind = -1 }, { .kind = -1 } },
	  2,
	  "stale locks left by a run on the host" },
	{ "a code that names none",
	  CTM_F_PKG_LOCK,
	  { UID(0) },
	  1,
	  "stale locks left by a run on the host" },
	{ "the largest id",
	  CTM_F_OWN_BEYOND,
	  { UID(4294967294) },
	  1,
	  "uid 4294967294 fits neither the container nor its map" },
};

CASES(finding, title, titles)
{
	CLEANUP(ctm_buf_done) struct ctm_buf out = { 0 };
	struct ctm_finding v[4];

	memcpy(v, titles[*i].v, sizeof(v));
	for (size_t k = 0; k < 4; k++) {
		v[k].code = titles[*i].code;
	}
	cr_assert_eq(ctm_finding_title(&out, v, titles[*i].n, NULL), 0);
	cr_assert_str_eq(out.p, titles[*i].want, "%s: %s", titles[*i].name, out.p);
}
