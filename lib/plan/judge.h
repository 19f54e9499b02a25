/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is wrong with one inode, and what it should be. Pure.
 */
#ifndef CTM_PLAN_JUDGE_H
#define CTM_PLAN_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "plan/finding.h"
#include "plan/plan.h"
#include "scan/fact.h"

/** By what inodes are judged; from the policy, once for a plan. */
struct ctm_judge {
	const struct ctm_lens *lens;
	bool flatten;
	bool has_root[2]; /* by enum ctm_idkind: whether the map has container id 0 */
	ctm_did root[2];  /* M(0) */
};

/** The lens outlives it. -EINVAL: flatten without a mapped root of both kinds. */
int ctm_judge_init(const struct ctm_policy *policy, const struct ctm_lens *lens,
		   struct ctm_judge *ret);

/** One thing wrong, on its way to a finding. */
struct ctm_issue {
	enum ctm_finding_code code;
	int kind;
	uint32_t id;
	int err;
	bool left;                  /* the judgement's after does not cure it */
	const char *text;           /* static, or NULL: the verdict's */
	struct ctm_verdict verdict; /* where kind is that of an id */
};

/* Ids of one code that an inode lists; a hostile ACL may hold thousands. The rest is one issue. */
#define CTM_ISSUES_OF_CODE 8
#define CTM_ISSUES_MAX     48

struct ctm_judgement {
	struct ctm_inode_state after;
	bool changes; /* after differs from before */
	bool asked;   /* it has another owner only because of --fix */
	struct ctm_issue issues[CTM_ISSUES_MAX];
	size_t n;
};

/**
 * Judges an inode by its state. Attributes in after are those of before or new ones in the arena.
 *
 * mode stays as it is (a repair puts it back after chown(2) has stripped it), but with flatten it
 * is what chown leaves. Rules for capabilities: the root id of revision 3 moves as a uid does.
 * Revision 2 becomes revision 3 with M(0) when the file's uid moves, unless the map has no root; on
 * a file whose uid is right, or fits nothing, it stays. A capability that cannot be parsed could
 * not be put back after chown(2) (the kernel refuses such a value): the inode is left as it is.
 * -ENOMEM.
 */
int ctm_judge_inode(const struct ctm_judge *judge, const struct ctm_inode_state *before,
		    const struct ctm_place *place, struct ctm_arena *arena,
		    struct ctm_judgement *ret);

/** Whether an id of the inode cannot be judged before the lens is settled. */
bool ctm_judge_unsure(const struct ctm_judge *judge, const struct ctm_inode_state *state);

/** The cause of an action that carries the judgement out: the first issue that it cures. */
enum ctm_finding_code ctm_judge_cause(const struct ctm_judgement *judged);

/** What chown(2) by the initial root leaves of a mode (setuid; setgid where group may execute). */
uint32_t ctm_judge_stripped_mode(uint32_t mode);

/**
 * Whether a file at a rule's path is stale, assuming that no process holds it. Owner before
 * content. An owner that can be told from another map does not make it stale: the file is as good
 * as the rest of the tree. with_content: damage counts.
 */
enum ctm_stale ctm_judge_stale(const struct ctm_judge *judge, const struct ctm_rule *rule,
			       const struct ctm_fact *fact, const struct ctm_place *place,
			       bool with_content);

/** Whether an owner's id makes a file at a rule's path stale. */
bool ctm_judge_stale_id(const struct ctm_judge *judge, enum ctm_idkind kind, ctm_did id,
			const struct ctm_place *place, struct ctm_verdict *ret);

#endif
