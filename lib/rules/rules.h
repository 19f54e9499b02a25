/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What package managers leave behind: tables, one file each.
 *
 * A row is data. Matching is by path components from the volume's root; one '*' in a component, at
 * any place in it, stands for one byte or more. A component without '*' comes before those with it,
 * and no directory has both with something below, so that a walk needs no second way. Adding a
 * manager is one file and one line in index.c.
 *
 * The locks of most managers live in the kernel, bound to an open file, and end with its process:
 * that their file exists means nothing. They are in the way only when the container's root may not
 * open them. Few managers take the file's being there for the lock (CTM_RULE_PIDLOCK).
 */
#ifndef CTM_RULES_RULES_H
#define CTM_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

enum ctm_rule_kind {
	CTM_RULE_LOCK,    /* lives in the kernel (fcntl/flock): stale by its owner only */
	CTM_RULE_PIDLOCK, /* exists = held: stale whenever the container is stopped */
	/* the manager locks its database itself: asked for a holder, never removed */
	CTM_RULE_DATABASE,
	/* rebuilt by its manager: stale by owner, or when the header is damaged */
	CTM_RULE_CACHE,
	CTM_RULE_LEFTOVER, /* unfinished download: stale by its owner */
	/* presence means work is left to do inside (dpkg/updates): reported, never touched */
	CTM_RULE_UNFINISHED,
};

/*
 * The most that a lock holds, in bytes: a number, perhaps a name. A larger file at its path is
 * none, and is kept: it would be saved at each start of a container that makes it anew.
 */
#define CTM_RULES_LOCK_MAX 4096

struct ctm_rule {
	const char *id; /* "apt.archives-lock": unique over all tables */
	const char *at; /* "var/cache/apt/archives/lock"; at most one '*' in each component */
	enum ctm_rule_kind kind;
	const char *why; /* one clause for the report; never NULL */
	/*
	 * CACHE only, may be NULL: whether the first bytes (head) of a file of this size look
	 * damaged.
	 */
	bool (*damaged)(struct ctm_bytes head, unsigned long long size);
};

struct ctm_rules {
	const char *name; /* "apt" */
	/* path that exists in a root with this manager; rows apply only then */
	const char *present_if;
	const struct ctm_rule *rows; /* sorted by .at */
	size_t n;
	/*
	 * What holds what nothing can build again, each with all below it: it is never removed,
	 * whatever a row says and --clean asks. Sorted.
	 */
	const char *const *never;
	size_t n_never;
	/* Directories and logs that the manager has to write (--scope required). Sorted. */
	const char *const *dirs;
	size_t n_dirs;
};

extern const struct ctm_rules *const ctm_rules_all[];
extern const size_t ctm_rules_n;

/**
 * Directories that package managers and root's shell must be able to write (--scope required): by
 * number, those of root first, then those of all tables. NULL from the end on. *ret_of: the table
 * that it is from, NULL for those of root.
 */
const char *ctm_required_dir(size_t i, const struct ctm_rules **ret_of);

/** Whether the rule's files are locks, of either sort. */
static inline bool ctm_rule_is_lock(const struct ctm_rule *rule)
{
	return rule->kind == CTM_RULE_LOCK || rule->kind == CTM_RULE_PIDLOCK;
}

/** Whether the path is one that must never be removed, or lies below such a one; of all tables. */
bool ctm_rules_never(const char *path, size_t len);

/**
 * Where a walk stands in the rules, so that the cost per entry is one pointer test: NULL means that
 * no rule can match at or below. ctm_rules_root() is the volume's root.
 */
struct ctm_rule_node;
const struct ctm_rule_node *ctm_rules_root(void);
/** State for the child directory of this name, or NULL. */
const struct ctm_rule_node *ctm_rules_down(const struct ctm_rule_node *at, const char *name,
					   size_t len);
/** The rule that names this entry of the directory, or NULL. */
const struct ctm_rule *ctm_rules_entry(const struct ctm_rule_node *at, const char *name,
				       size_t len);
/** The same from a whole path; also tells the table it is from (ret_set may be NULL). */
const struct ctm_rule *ctm_rules_match(const char *path, size_t len,
				       const struct ctm_rules **ret_set);

#endif
