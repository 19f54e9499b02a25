/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Findings: what is wrong, with a stable code, and the table of their wording.
 */
#ifndef CTM_PLAN_FINDING_H
#define CTM_PLAN_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/spill.h"
#include "id/idmap.h"

enum ctm_severity {
	CTM_INFO,   /* said, does not count for the exit status */
	CTM_CHOICE, /* needs an option or a person */
	CTM_FAULT,  /* repaired by default */
};

/** In the order of the report and of the diff's hunks. */
enum ctm_finding_code {
	CTM_F_RUN_RECORDS,
	CTM_F_RUN_DAMAGED,
	CTM_F_RUN_NEWER,
	CTM_F_RUN_UNFINISHED,
	CTM_F_CONF_SECTION,
	CTM_F_CONF_FOREIGN,
	CTM_F_CONF_LOCK,
	CTM_F_CONF_SNAPSHOT,
	CTM_F_CONF_UNKNOWN,
	CTM_F_PATH_PARENT,
	CTM_F_MAP_OVERLAP,
	CTM_F_MAP_HOLE,
	CTM_F_MAP_PUNCH,
	CTM_F_MAP_SUBID,
	CTM_F_MAP_ASYM,
	CTM_F_MAP_ACCOUNT,
	CTM_F_TREE_HOST,
	CTM_F_TREE_FIX,
	CTM_F_TREE_MAPPED,
	CTM_F_PKG_HELD,
	CTM_F_PKG_LOCK,
	CTM_F_PKG_CACHE,
	CTM_F_PKG_PARTIAL,
	CTM_F_PKG_LARGE,
	CTM_F_OWN_FROM,
	CTM_F_OWN_HOST,
	CTM_F_OWN_DEVICE,
	CTM_F_OWN_HOLE,
	CTM_F_OWN_TWICE,
	CTM_F_OWN_BASE,
	CTM_F_OWN_OVERFLOW,
	CTM_F_OWN_BEYOND,
	CTM_F_ACL_FROM,
	CTM_F_ACL_HOST,
	CTM_F_ACL_HOLE,
	CTM_F_ACL_TWICE,
	CTM_F_ACL_BASE,
	CTM_F_ACL_OVERFLOW,
	CTM_F_ACL_BEYOND,
	CTM_F_ACL_MERGE,
	CTM_F_CAP_ROOT,
	CTM_F_CAP_BEYOND,
	CTM_F_BITS_LOST,
	CTM_F_FLATTEN,
	CTM_F_ATTR_FLAG,
	CTM_F_ATTR_ROSUBVOL,
	CTM_F_LINK_OUTSIDE,
	CTM_F_MOUNT_BELOW,
	CTM_F_PATH_LINK,
	CTM_F_PKG_UNFINISHED,
	CTM_F_ERR,
	CTM_F_N
};

struct ctm_finding_info {
	const char *code; /* "own.host"; of CTM_F_ERR "err", see ctm_finding_name() */
	enum ctm_severity severity;
	const char *title; /* one line that says the cause, for any number of ids */
	/*
	 * The same with the id between the two halves: "written from the host, ", " is outside the
	 * map". NULL where findings of the code name no ids.
	 */
	const char *title_id[2];
	const char *why;  /* one or two sentences: why it matters, how it comes about */
	const char *next; /* what to do, or NULL */
};
/** Never NULL. */
const struct ctm_finding_info *ctm_finding_info(enum ctm_finding_code code);

#define CTM_NO_ACTION SIZE_MAX

/**
 * One thing that is wrong with one inode, or with the volume. An inode has one finding for each id
 * that is wrong, so several of one code: they follow each other and their paths are equal.
 */
struct ctm_finding {
	enum ctm_finding_code code;
	int kind;         /* enum ctm_idkind, or -1 when no id is concerned */
	const char *path; /* in the plan's arena; NULL: the volume as a whole */
	size_t path_len;
	/* index into the plan's actions that cures it, or CTM_NO_ACTION: it stays */
	size_t action;
	const char *text; /* more words for this one, or NULL; in the plan's arena or static */
	uint32_t id;      /* the disk id that is wrong */
	int err;          /* CTM_F_ERR: positive errno */
	uint32_t mode;    /* of the inode, with its type; 0 where that is not known */
	uint32_t nlink;
};

/** The code as it is shown: "own.host", "err.EACCES". buf is used for the latter alone. */
const char *ctm_finding_name(const struct ctm_finding *finding, char buf[static 32]);

/**
 * Appends the title of a run of findings of one code: with the id when all their uids (or, without
 * any uid, all their gids) are the same, else the general form. "written from the host, uid 0 is
 * outside the map". n is at least 1; spill: where they lie. -ENOMEM.
 */
int ctm_finding_title(struct ctm_buf *out, const struct ctm_finding *findings, size_t n,
		      struct ctm_spill *spill);

#endif
