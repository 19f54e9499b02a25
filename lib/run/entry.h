/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One step of a run as its record holds it: what one inode was and what it becomes.
 */
#ifndef CTM_RUN_ENTRY_H
#define CTM_RUN_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "plan/finding.h"
#include "plan/plan.h"
#include "run/ops.h"

/* The values are the kind bytes of the journal's records. */
enum ctm_entry_kind {
	CTM_ENTRY_SET = 'S',     /* before -> after, one inode */
	CTM_ENTRY_REMOVE = 'R',  /* a regular file with one link, saved in the run's removed.tar */
	CTM_ENTRY_RESTORE = 'T', /* a file out of the run's restore.tar comes back */
	/*
	 * The btrfs subvolume with this top directory becomes writable, before the first entry that
	 * needs it, and read-only, after the last. Both have a ref and nothing else. A run without
	 * an end may have left it writable.
	 */
	CTM_ENTRY_WRITABLE = 'W',
	CTM_ENTRY_READONLY = 'O',
};

/** Whether it has a file's content and a directory that it stands in. */
static inline bool ctm_entry_is_file(enum ctm_entry_kind kind)
{
	return kind == CTM_ENTRY_REMOVE || kind == CTM_ENTRY_RESTORE;
}
/** Whether it changes no inode by itself, and so does not count as a change. */
static inline bool ctm_entry_is_subvol(enum ctm_entry_kind kind)
{
	return kind == CTM_ENTRY_WRITABLE || kind == CTM_ENTRY_READONLY;
}

/* What a record knows of the content of a privileged file: see run/privileged.h. */
enum ctm_entry_content {
	CTM_CONTENT_NONE = 0,
	CTM_CONTENT_SHA256 = 1, /* size and sha256 */
	CTM_CONTENT_CTIME = 2,  /* size, and ctime for all that is in it */
};

/** Strings and values belong to whoever made it (plan, or the reader until its next call). */
struct ctm_entry {
	enum ctm_entry_kind kind;
	enum ctm_finding_code cause; /* CTM_F_N: none that this version knows */
	/* RESTORE: where the file comes back, and which inode it was before it was removed */
	struct ctm_ref ref;
	uint32_t nlink;
	uint32_t names; /* names of the inode that the scan met */
	/* SET: CTM_ATTR_* that stand on the inode, are lifted for it and set again */
	uint32_t attr;
	struct ctm_inode_state before;  /* RESTORE: unused */
	struct ctm_inode_state after;   /* REMOVE: unused */
	enum ctm_entry_content content; /* SET of a privileged file */
	struct timespec ctime;          /* CTM_CONTENT_CTIME: of the inode in its before state */
	/* REMOVE and RESTORE; size and sha256 also as .content says */
	uint64_t size;
	uint8_t sha256[32]; /* of the content: run/contentsum.h */
	struct timespec mtime;
	const char *rule;             /* id of the rule, "" when there is none */
	struct ctm_ref parent;        /* its path is the part of ref.path before the last slash */
	struct timespec parent_mtime; /* put back once the last file of it is gone or is back */
};

#endif
