/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Findings: what is wrong, with a stable code, and the table of their wording.
 */
#ifndef CTM_PLAN_FINDING_H
#define CTM_PLAN_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "id/idmap.h"

enum ctm_severity {
	CTM_INFO,   /* said, does not count for the exit status */
	CTM_CHOICE, /* needs an option or a person */
	CTM_FAULT,  /* repaired by default */
};

/** In the order of the report and of the diff's hunks. */
enum ctm_finding_code {
	CTM_F_CONF_LOCK,
	CTM_F_TREE_HOST,
	CTM_F_TREE_MAPPED,
	CTM_F_PKG_HELD,
	CTM_F_PKG_LOCK,
	CTM_F_PKG_CACHE,
	CTM_F_PKG_PARTIAL,
	CTM_F_PKG_LARGE,
	CTM_F_OWN_HOST,
	CTM_F_OWN_BEYOND,
	CTM_F_ACL_HOST,
	CTM_F_ACL_BEYOND,
	CTM_F_ACL_MERGE,
	CTM_F_CAP_ROOT,
	CTM_F_CAP_BEYOND,
	CTM_F_FLATTEN,
	CTM_F_ATTR_FLAG,
	CTM_F_LINK_OUTSIDE,
	CTM_F_MOUNT_BELOW,
	CTM_F_PATH_LINK,
	CTM_F_PKG_UNFINISHED,
	CTM_F_ERR,
	CTM_F_N
};

struct ctm_finding_info {
	const char *code; /* "own.host" */
	enum ctm_severity severity;
	/* one line: "written from the host, %s is outside the map" without the %s part */
	const char *title;
	const char *why;  /* one or two sentences: why it matters, how it comes about */
	const char *next; /* what to do, or NULL */
};
const struct ctm_finding_info *ctm_finding_info(enum ctm_finding_code code);

#define CTM_NO_ACTION SIZE_MAX

struct ctm_finding {
	enum ctm_finding_code code;
	const char *path; /* in the plan's arena; NULL: the volume as a whole */
	size_t path_len;
	int kind;    /* enum ctm_idkind, or -1 when no id is concerned */
	uint32_t id; /* the disk id that is wrong */
	int err;     /* CTM_F_ERR: positive errno; the code is shown as "err.EACCES" */
	/* index into the plan's actions that cures it, or CTM_NO_ACTION: it stays */
	size_t action;
	const char *text; /* more words for this one, or NULL; in the plan's arena */
};

#endif
