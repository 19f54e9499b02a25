/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan: findings and the actions that cure them, from facts. Pure: no system calls, no clock.
 *
 *	ctm_plan_new(&policy, &plan)
 *	source -> ctm_plan_fact(plan, fact)         any order
 *	ctm_plan_totals(plan, &totals)              whole-volume counts, for tree.host
 *	ctm_plan_finish(plan)                       order, hard links, severity
 *	inspect (run/inspect.h) fills in what only the file system knows of removals: hash, holders
 *	ctm_plan_digest(plan, ...)
 */
#ifndef CTM_PLAN_PLAN_H
#define CTM_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "id/idmap.h"
#include "plan/finding.h"
#include "rules/rules.h"
#include "scan/scan.h"

enum ctm_clean { CTM_CLEAN_STALE, CTM_CLEAN_ALL, CTM_CLEAN_NONE };

/** What the user asked for. Borrowed pointers outlive the plan. */
struct ctm_policy {
	const struct ctm_idmap *map;
	enum ctm_clean clean;
	bool no_content; /* remove nothing on grounds of its content (hook) */
	bool flatten;    /* every inode of the selection to the container's root */
	bool convert;    /* lifts the limit of half a tree */
	/* the selection as in ctm_scan_request; none: the whole volume */
	const char *const *starts;
	size_t n_starts;
	/* Which tables of ctm_rules_all apply (their present_if exists), by index; NULL: none. */
	const bool *rules_on;
};

/** All of an inode that a repair may change. Absent attributes have p NULL. */
struct ctm_inode_state {
	uint32_t mode; /* st_mode with type */
	ctm_did uid;
	ctm_did gid;
	struct ctm_bytes acl_access;
	struct ctm_bytes acl_default;
	struct ctm_bytes caps;
};
bool ctm_inode_state_eq(const struct ctm_inode_state *a, const struct ctm_inode_state *b);

enum ctm_action_kind {
	CTM_ACT_SET,    /* before -> after, one inode */
	CTM_ACT_REMOVE, /* a regular file with one link; before is what it was */
};

struct ctm_action {
	enum ctm_action_kind kind;
	/* the first finding that asked for it: the hunk it stands in */
	enum ctm_finding_code cause;
	const char *path; /* arena; for a hard link the first name in path order */
	size_t path_len;
	uint64_t dev;
	uint64_t ino;
	uint32_t nlink;
	uint32_t names; /* names of this inode that the scan met */
	struct ctm_inode_state before;
	struct ctm_inode_state after; /* CTM_ACT_SET */
	const struct ctm_rule *rule;  /* CTM_ACT_REMOVE */
	uint64_t size;                /* CTM_ACT_REMOVE: bytes of content */
	uint8_t sha256[32];           /* CTM_ACT_REMOVE: of the content, set by inspection */
};

struct ctm_plan {
	struct ctm_policy policy;
	struct ctm_arena arena;
	CTM_VEC(struct ctm_action) actions;   /* after ctm_plan_finish(): by path */
	CTM_VEC(struct ctm_finding) findings; /* after ctm_plan_finish(): by code, then path */
	struct ctm_scan_totals totals;        /* of the selection */
	uint64_t volume_inodes;               /* of the whole volume */
	bool refuse_tree; /* tree.host (or tree.mapped): repair must not change anything */
	bool refuse_held; /* a lock is held by a live process */
	bool finished;
};

int ctm_plan_new(const struct ctm_policy *policy, struct ctm_plan **ret);
void ctm_plan_free(struct ctm_plan *plan);
static inline void ctm_planp_free(struct ctm_plan **plan)
{
	ctm_plan_free(*plan);
}

/** A ctm_fact_fn: judges one fact. -ENOMEM. */
int ctm_plan_fact(const struct ctm_fact *fact, void *plan);
/**
 * The scan's totals; the plan takes over their memory. whole: counts of the whole volume where the
 * selection is a part of it (from a second, counting scan), else NULL.
 */
int ctm_plan_totals(struct ctm_plan *plan, struct ctm_scan_totals *totals,
		    const struct ctm_scan_totals *whole);
/**
 * Adds a finding that no fact carries (conf.lock, mount.below ...). text and path are copied.
 * -ENOMEM.
 */
int ctm_plan_note(struct ctm_plan *plan, enum ctm_finding_code code, const char *path,
		  size_t path_len, const char *text);
/** Orders actions and findings, folds hard links, decides tree.host. Call once. -ENOMEM. */
int ctm_plan_finish(struct ctm_plan *plan);

/**
 * Turns a removal into a repair of its owner (or into nothing when the owner is right): pkg.large,
 * --clean none.
 */
int ctm_plan_keep_file(struct ctm_plan *plan, size_t action, enum ctm_finding_code why,
		       const char *text);

/** Highest severity of the findings that no action cures (left) or of all of them. */
bool ctm_plan_has_work(const struct ctm_plan *plan); /* check, diff: exit 1 */
/* a fault or choice that no action cures: exit 4 */
bool ctm_plan_has_leftover(const struct ctm_plan *plan);

/**
 * 128 bits of SHA-256 over the volume's identity, the map and every action in order, as 32 hex
 * digits. identity: the text of ctm_identity_format().
 */
void ctm_plan_digest(const struct ctm_plan *plan, const char *identity, char ret[static 33]);

#endif
