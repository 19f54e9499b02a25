/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan: findings and the actions that cure them, from facts. Pure: no system calls, no clock.
 *
 *	ctm_plan_new(&policy, &plan)
 *	source -> ctm_plan_fact(plan, fact)         any order
 *	source -> ctm_plan_other_name(plan, fact)   of the whole volume, if ctm_plan_wants_names()
 *	ctm_plan_totals(plan, &totals)              whole-volume counts, for tree.host
 *	ctm_plan_finish(plan)                       order, hard links, severity
 *	inspect (run/inspect.h) fills in what only the file system knows of removals: hash, holders;
 *	it may keep files and add findings, and ends with ctm_plan_settle(plan)
 *	ctm_plan_digest(plan, ...)
 *
 * The result depends on the set of facts alone, not on the order in which they come.
 */
#ifndef CTM_PLAN_PLAN_H
#define CTM_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/spill.h"
#include "id/idmap.h"
#include "plan/finding.h"
#include "plan/lens.h"
#include "rules/rules.h"
#include "scan/scan.h"

enum ctm_clean { CTM_CLEAN_STALE, CTM_CLEAN_ALL, CTM_CLEAN_NONE };

/** What the user asked for. Borrowed pointers outlive the plan. */
struct ctm_policy {
	const struct ctm_idmap *map;
	const struct ctm_idmap *from; /* --from-map, or NULL; one kind may be without ranges */
	const struct ctm_kin *kin;    /* other maps that ids may come from, or NULL: not known */
	enum ctm_clean clean;
	bool no_content; /* remove nothing on grounds of its content (hook) */
	bool running;    /* the container is running: no lock is stale by being there */
	bool alone;      /* no other process can have a file of it open, so none need be asked */
	/* milliseconds for finding out who has files of it open, all together; 0: no limit */
	unsigned int openers_ms;
	unsigned int fix; /* set of enum ctm_fix */
	bool flatten;     /* every inode of the selection to the container's root */
	bool convert;     /* lifts the limit of half a tree */
	/* the selection as in ctm_scan_request; none, or "" among them: the whole volume */
	const char *const *starts;
	size_t n_starts;
	/*
	 * A file system of its own (image, block device), not a directory of the host's. Then all
	 * names of an inode are inside, and the directory "lost+found" at its top that belongs to
	 * 0:0 was made by mke2fs, e2fsck or xfs_repair: it is the file system's, and no finding.
	 */
	bool raw_volume;
	/*
	 * Of a directory volume: whether this inode stands at this path of it, 1 or 0, or -ENOMEM;
	 * asked in ctm_plan_finish() for each name of what is to be changed. NULL: what was told is
	 * believed.
	 */
	int (*is_name)(void *arg, const char *path, size_t len, uint64_t dev, uint64_t ino);
	void *is_name_arg;
	/* Which tables of ctm_rules_all apply (their present_if exists), by index; NULL: none. */
	const bool *rules_on;
	/*
	 * Bytes of memory that the plan may take, 0: any number. What is more lies in unlinked
	 * files of spill_dir (base/spill.h); NULL: it is refused.
	 */
	size_t memory;
	const char *spill_dir;
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
	/*
	 * a saved file comes back as after, .size and .sha256 say: of an undo to be finished alone
	 */
	CTM_ACT_RESTORE,
};

/** Why a file at a rule's path is to go. */
enum ctm_stale {
	CTM_STALE_NOT,     /* it is healthy (removed with --clean all) */
	CTM_STALE_OWNER,   /* its owner is off the map */
	CTM_STALE_EXISTS,  /* its being there is the lock */
	CTM_STALE_CONTENT, /* its content is damaged */
};

/*
 * A SET never has before equal to after. Its modes differ only where flatten drops set-id bits or
 * --fix bits sets them; chown strips them, and whoever carries the action out puts after.mode back.
 */
struct ctm_action {
	enum ctm_action_kind kind;
	/* the first finding that asked for it: the hunk it stands in */
	enum ctm_finding_code cause;
	const char *path; /* arena; for a hard link the first name in path order */
	size_t path_len;
	uint64_t dev;
	uint64_t ino;
	uint64_t rdev; /* CTM_ACT_SET of a device, as makedev(3) has it; else 0 */
	uint32_t nlink;
	uint32_t names; /* names of this inode that the scan met */
	struct ctm_inode_state before;
	struct ctm_inode_state after; /* CTM_ACT_SET */
	/* CTM_ACT_SET: CTM_ATTR_* that stand on the inode, are lifted for it, and set again */
	uint32_t attr;
	const struct ctm_rule *rule; /* CTM_ACT_REMOVE */
	enum ctm_stale stale;        /* CTM_ACT_REMOVE */
	uint64_t size;               /* CTM_ACT_REMOVE: bytes of content */
	uint8_t sha256[32];          /* CTM_ACT_REMOVE: run/contentsum.h, set by inspection */
};

/** A read-only btrfs subvolume that is made writable for the actions that lie in it. */
struct ctm_plan_subvol {
	const char *path; /* of its top directory; in the plan's arena */
	size_t path_len;
	uint64_t ino;
};

/*
 * However large it is, it takes no more memory than the policy allows: whoever goes through all
 * actions or findings calls ctm_spill_pass() for each, and keeps nothing for each elsewhere than in
 * the spill.
 */
struct ctm_plan {
	struct ctm_policy policy;
	struct ctm_spill *spill;              /* where all of it lies; NULL: policy.memory is 0 */
	struct ctm_arena arena;               /* in the spill */
	CTM_VEC(struct ctm_action) actions;   /* after ctm_plan_finish(): by path */
	CTM_VEC(struct ctm_finding) findings; /* after ctm_plan_finish(): by code, then path */
	CTM_VEC(struct ctm_plan_subvol) subvols; /* --fix rosubvol, by path */
	struct ctm_scan_totals totals;           /* of the selection */
	/*
	 * Of the whole volume; inodes is 0 while they are not known. Where the selection is the
	 * volume, the histograms are those of totals and not here.
	 */
	struct ctm_scan_totals volume;
	struct ctm_lens lens; /* what ids were judged by; settled by ctm_plan_finish() */
	/*
	 * tree.host or tree.fix: nothing may be changed; there are findings, but no actions
	 */
	bool refuse_tree;
	bool refuse_held; /* a lock is held by a live process */
	bool finished;
	struct ctm_plan_work *work; /* private */
};

/**
 * The policy is copied, what it points to is not. A policy without a map, or with an empty one,
 * judges no inode. -EINVAL: flatten, and the map has no container root. -ENOMEM.
 */
int ctm_plan_new(const struct ctm_policy *policy, struct ctm_plan **ret);
void ctm_plan_free(struct ctm_plan *plan);
static inline void ctm_planp_free(struct ctm_plan **plan)
{
	ctm_plan_free(*plan);
}

/**
 * A ctm_fact_fn: judges one fact. Every name of the volume comes at most once, and of an inode with
 * several names that is off the map each name comes (that is how names outside are noticed). An
 * inode whose attributes could not be read must come as CTM_FACT_ERROR alone: what is not known
 * would be lost in a repair. -ENOMEM; ctm_plan_no_room() says whether it was the spill.
 */
int ctm_plan_fact(const struct ctm_fact *fact, void *plan);
/**
 * Whether a selection of a directory volume has inodes with names elsewhere: in the rest of the
 * volume or, which must be known, outside of it. Then the facts of a second scan, of the whole
 * volume, go to ctm_plan_other_name(), a ctm_fact_fn; want_all as in the first scan.
 */
bool ctm_plan_wants_names(const struct ctm_plan *plan);
int ctm_plan_other_name(const struct ctm_fact *fact, void *plan);
/**
 * Whether inodes wait for the counts: then policy.kin is asked for bases, which may be filled in
 * until ctm_plan_finish().
 */
bool ctm_plan_waits(const struct ctm_plan *plan);
/**
 * The scan's totals; the plan takes over their memory, *totals is then empty. whole: counts of the
 * whole volume where the selection is a part of it (from a second, counting scan), taken over as
 * well, else NULL. Without them a selection says nothing about the tree: tree.host is not decided,
 * and ids are judged by the counts of the selection.
 */
void ctm_plan_totals(struct ctm_plan *plan, struct ctm_scan_totals *totals,
		     struct ctm_scan_totals *whole);
/**
 * Whether counts of the whole volume are worth a second scan: ids of the selection are off the map.
 */
bool ctm_scan_totals_odd(const struct ctm_scan_totals *totals);
/**
 * Adds a finding that no fact carries (conf.lock, mount.below ...). text and path are copied; path
 * NULL: the volume as a whole; text NULL: none. After ctm_plan_finish() it stands at the end until
 * ctm_plan_settle(). -ENOMEM.
 */
int ctm_plan_note(struct ctm_plan *plan, enum ctm_finding_code code, const char *path,
		  size_t path_len, const char *text);
/**
 * Judges what had to wait for the counts, folds hard links, decides tree.host, and settles. Call
 * once, after the last fact and the totals. -ENOMEM.
 */
int ctm_plan_finish(struct ctm_plan *plan);
/**
 * Drops actions that change nothing and puts actions and findings in order; indexes of actions are
 * then other ones. Call it after the last ctm_plan_keep_file() or late ctm_plan_note(); it does
 * nothing when nothing has changed. -ENOMEM: the plan is of no use any more.
 */
int ctm_plan_settle(struct ctm_plan *plan);

/**
 * Takes a removal of a finished plan back: the file stays and its owner is repaired, or, where that
 * is right, nothing is done. Adds a finding of code why (pkg.large, pkg.held, err ...) with the
 * text, which is copied and may be NULL. A file that is stale by something else than its owner
 * keeps its finding, which then has no action. Indexes of actions stay valid until
 * ctm_plan_settle(). -EINVAL: not a removal. -ENOMEM.
 */
int ctm_plan_keep_file(struct ctm_plan *plan, size_t action, enum ctm_finding_code why,
		       const char *text);

/**
 * All actions of a finished plan on inodes of this device lie in a read-only subvolume with this
 * top directory. With --fix rosubvol, and no reason why not, it joins plan->subvols; else they and
 * their findings are dropped. Either way there is one finding attr.rosubvol with their number.
 * why_not: more words for it, static, or NULL. Indexes of actions stay valid until
 * ctm_plan_settle(). -ENOMEM.
 */
int ctm_plan_readonly(struct ctm_plan *plan, uint64_t dev, const struct ctm_plan_subvol *top,
		      const char *why_not);

/**
 * After -ENOMEM: 0, or the negative errno that kept the plan from growing in a file, as of
 * ctm_spill_error(): -EFBIG, when there is no directory for one; -ENOSPC ...
 */
int ctm_plan_no_room(const struct ctm_plan *plan);

/**
 * Makes what an unfinished run still has to do a part of a finished plan: n actions with cause
 * CTM_F_RUN_UNFINISHED, before as it stands there now, after as its record says; strings and values
 * live as long as the plan (plan->arena). The action that the plan has for an inode (device and
 * number) of the run gives way to the run's, so that no inode stands in the plan twice. alone: all
 * other actions go, too: what is to be done after an undo is known only then. Adds a finding for
 * each of the actions, or one for the volume where nothing is left to do but to end the run.
 * tree.host refuses nothing any more: it is judged again when the run has been finished. -ENOMEM,
 * and then the plan is of no use any more.
 */
int ctm_plan_take_over(struct ctm_plan *plan, const struct ctm_action *v, size_t n, bool alone);
/** Whether every action of the plan is one of those agreed to; both are settled. */
bool ctm_plan_within(const struct ctm_plan *plan, const struct ctm_plan *agreed);

/** Whether there is a finding of this code. */
bool ctm_plan_has(const struct ctm_plan *plan, enum ctm_finding_code code);
/** A fault or a choice is there, or anything that an action cures: check and diff exit with 1. */
bool ctm_plan_has_work(const struct ctm_plan *plan);
/** A fault or choice that no action cures: a repair of this plan exits with 4. */
bool ctm_plan_has_leftover(const struct ctm_plan *plan);

/**
 * 128 bits of SHA-256, as 32 hex digits: over the volume's identity (the text of
 * ctm_identity_format()), the map, and every action in order: path, before and after, and of
 * removals size and hash. The plan is settled. Device and inode numbers and findings do not count.
 */
void ctm_plan_digest(const struct ctm_plan *plan, const char *identity, char ret[static 33]);

#endif
