/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the planner share and nobody else needs.
 */
#ifndef CTM_PLAN_WORK_H
#define CTM_PLAN_WORK_H

#include "plan/bits.h"
#include "plan/judge.h"
#include "plan/links.h"
#include "plan/names.h"
#include "plan/plan.h"

#define CTM_TEXTS 256 /* a power of two */

/** A file that has not what is expected of it (plan/bits.h). */
struct ctm_lost {
	struct ctm_fact fact; /* as it was looked at; in the arena */
	struct ctm_expected want;
	const char *text;
	bool met; /* it is judged */
};

struct ctm_plan_work {
	struct ctm_judge judge;
	bool judges; /* there is a map to judge by */
	struct ctm_links links;
	CTM_VEC(const struct ctm_rule *) unfinished; /* each reported once */
	CTM_VEC(struct ctm_fact) waiting;            /* for the counts; all in the arena */
	bool kept;               /* what is judged now was waiting: its path is in the arena */
	ctm_told_names names;    /* of all inodes that have several */
	struct ctm_links nested; /* of these, inodes with a name in a nested container */
	const char *deep;        /* path of the last CTM_OP_DEEP; in the arena */
	size_t deep_len;
	uint64_t asked;                /* inodes that --fix alone gives another owner */
	CTM_VEC(struct ctm_lost) lost; /* by dev and ino */
	/* The last text made for an id, so that a million files of one id share it. */
	struct {
		const char *text;
		int kind;
		uint32_t id;
		enum ctm_class class;
		bool nested;
	} texts[CTM_TEXTS];
	bool unsettled;
	size_t settled; /* so many findings are in order */
};

/*
 * The text of a finding for one directory below its path that is too deep; the plan makes one of
 * them, with their number, when it settles.
 */
extern const char ctm_plan_deep[];

/* In a finding's kind: it is gone and only keeps its place until the plan settles. */
#define CTM_KIND_DROPPED (-2)

/*
 * Adds the issues of one inode as findings, with the path (in the arena), mode and nlink of like.
 * like->action: what cures them.
 */
int ctm_plan_add_issues(struct ctm_plan *plan, const struct ctm_judgement *judged,
			const struct ctm_finding *like);
/* Adds one finding as it is. */
int ctm_plan_add(struct ctm_plan *plan, const struct ctm_finding *finding);

/* Puts a fact aside if the counts have to be there first: 1, else 0. -ENOMEM. */
int ctm_plan_wait(struct ctm_plan *plan, const struct ctm_fact *fact);
/* Judges what was put aside; the lens is settled. */
int ctm_plan_judge_waiting(struct ctm_plan *plan);
/* Where an inode is, for the lens. */
struct ctm_place ctm_plan_place(const struct ctm_plan *plan, const struct ctm_fact *fact);
/* Judges one inode by rules and map. */
int ctm_plan_inode(struct ctm_plan *plan, const struct ctm_fact *fact);
/* Decides tree.host, tree.fix, and whether there is nobody in bulk. */
int ctm_plan_judge_tree(struct ctm_plan *plan);

static inline struct ctm_inode_state ctm_fact_state(const struct ctm_fact *fact)
{
	return (struct ctm_inode_state){
		.mode = fact->mode,
		.uid = fact->uid,
		.gid = fact->gid,
		.acl_access = fact->acl_access,
		.acl_default = fact->acl_default,
		.caps = fact->caps,
	};
}

static inline bool ctm_fact_has_names(const struct ctm_fact *fact)
{
	return fact->nlink > 1 && !S_ISDIR(fact->mode);
}
/* Adds what the inode has lost to its judgement. */
void ctm_plan_judge_bits(struct ctm_plan *plan, const struct ctm_fact *fact,
			 struct ctm_judgement *judged);
/* Judges the inodes that have lost something and are no fact, since all else of them is right. */
int ctm_plan_rest_of_bits(struct ctm_plan *plan);

/* Whether the selection is the whole volume: no start paths, or the root is one of them. */
bool ctm_plan_is_whole(const struct ctm_policy *policy);

/* The finding of a removal by this rule. */
enum ctm_finding_code ctm_plan_rule_code(const struct ctm_rule *rule);

#endif
