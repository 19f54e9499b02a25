/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One inode in one line.
 */
#include "report/inodeline.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/pathname.h"
#include "id/acl.h"
#include "id/fcaps.h"

char ctm_inode_letter(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return 'f';
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	default:
		return '?';
	}
}

static int add_acl(struct ctm_buf *out, const char *label, struct ctm_bytes acl)
{
	int r;

	if (!acl.p) {
		return 0;
	}
	r = ctm_buf_addf(out, " %s=", label);
	if (r < 0) {
		return r;
	}
	r = ctm_acl_format(acl, out);
	return r == -EINVAL ? ctm_buf_addf(out, "malformed") : r;
}

static int add_caps(struct ctm_buf *out, struct ctm_bytes raw)
{
	struct ctm_fcaps caps;
	int r;

	if (!raw.p) {
		return 0;
	}
	r = ctm_buf_addf(out, " cap=");
	if (r < 0) {
		return r;
	}
	if (ctm_fcaps_parse(raw, &caps) < 0) {
		return ctm_buf_addf(out, "malformed");
	}
	return ctm_fcaps_format(&caps, out);
}

int ctm_inode_line(struct ctm_buf *out, const char *path, size_t path_len,
		   const struct ctm_inode_state *state, uint64_t rdev)
{
	int r = ctm_buf_addf(out, "%c %04o %8u:%-6u /", ctm_inode_letter(state->mode),
			     state->mode & 07777, state->uid.v, state->gid.v);

	if (r == 0) {
		r = ctm_path_show(out, path, path_len);
	}
	if (r == 0 && rdev && (S_ISCHR(state->mode) || S_ISBLK(state->mode))) {
		r = ctm_buf_addf(out, " dev=%u:%u", major(rdev), minor(rdev));
	}
	if (r == 0) {
		r = add_acl(out, "acl", state->acl_access);
	}
	if (r == 0) {
		r = add_acl(out, "default", state->acl_default);
	}
	if (r == 0) {
		r = add_caps(out, state->caps);
	}
	return r;
}
