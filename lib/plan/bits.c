/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bits.lost: what a file should have and has not.
 */
#include "plan/bits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/fix.h"
#include "plan/work.h"
#include "rules/bits.h"

#define SET_IDS ((uint32_t)(S_ISUID | S_ISGID))

static bool is_id(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did on_disk, ctm_cid want)
{
	ctm_did disk;

	return ctm_idmap_to_disk(map, kind, want, &disk) == 0 && disk.v == on_disk.v;
}

static bool own_group(const struct ctm_idmap *map, ctm_did on_disk)
{
	ctm_cid gid;

	return ctm_idmap_to_ct(map, CTM_GID, on_disk, &gid) == 0 && gid.v != 0;
}

/* Owned as it should be, be it after this repair. */
static bool is_meant(const struct ctm_idmap *map, const struct ctm_expected *want,
		     const struct ctm_inode_state *after)
{
	return is_id(map, CTM_UID, after->uid, want->uid) &&
	       (want->gid.v == CTM_BITS_OWN_GROUP ? own_group(map, after->gid) :
						    is_id(map, CTM_GID, after->gid, want->gid));
}

/*
 * A table cannot know what an administrator did since: a program that others may not run has been
 * closed on purpose, one with a capability has that instead.
 */
static uint32_t missing(const struct ctm_expected *want, const struct ctm_fact *fact)
{
	if (!want->recorded && (!(fact->mode & S_IXOTH) || fact->caps.p)) {
		return 0;
	}
	return (want->bits ? want->bits : (uint32_t)S_ISUID) & SET_IDS & ~fact->mode;
}

static bool passed_through(const struct ctm_expected *want, const struct ctm_inode_state *after)
{
	return want->uid.v == after->uid.v || want->gid.v == after->gid.v;
}

static bool may_set(const struct ctm_policy *policy, const struct ctm_expected *want,
		    const struct ctm_fact *fact, const struct ctm_inode_state *after)
{
	return (policy->fix & CTM_FIX_BITS) && want->recorded && want->exact && fact->nlink == 1 &&
	       (fact->mode & 0777) == (want->mode & 0777) && !(fact->mode & S_ISVTX) &&
	       !(want->mode & (S_ISVTX | S_IWGRP | S_IWOTH)) &&
	       (!(want->bits & S_ISUID) || (want->mode & S_IXUSR)) &&
	       (!(want->bits & S_ISGID) || (want->mode & S_IXGRP)) && !passed_through(want, after);
}

/* "4755 by package passwd of Debian, 0755 here" */
static const char *text_of(struct ctm_plan *plan, const struct ctm_expected *want,
			   const struct ctm_fact *fact)
{
	const uint32_t mode = (want->recorded ? want->mode : fact->mode | want->bits) & 07777;
	char buf[160];
	int n;

	if (want->bits) {
		n = snprintf(buf, sizeof(buf), "%04" PRIo32 " by %s, %04" PRIo32 " here", mode,
			     want->what, fact->mode & 07777);
	} else {
		n = snprintf(buf, sizeof(buf), "a capability by %s, none here", want->what);
	}
	return ctm_arena_dup(&plan->arena, buf,
			     (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

static int lost_cmp(const void *pa, const void *pb)
{
	const struct ctm_lost *a = pa;
	const struct ctm_lost *b = pb;

	if (a->fact.dev != b->fact.dev) {
		return a->fact.dev < b->fact.dev ? -1 : 1;
	}
	return (a->fact.ino > b->fact.ino) - (a->fact.ino < b->fact.ino);
}

static struct ctm_lost *find(const struct ctm_plan *plan, const struct ctm_fact *fact)
{
	const struct ctm_lost key = { .fact = *fact };

	return plan->work->lost.n ? bsearch(&key, plan->work->lost.v, plan->work->lost.n,
					    sizeof(key), lost_cmp) :
				    NULL;
}

static int keep(struct ctm_plan *plan, struct ctm_bytes *bytes)
{
	return ctm_arena_bytes(&plan->arena, *bytes, bytes);
}

/* There are few, so they are kept in order as they come. */
static int add(struct ctm_plan *plan, const struct ctm_lost *lost)
{
	int r = ctm_vec_push(&plan->work->lost, lost);

	if (r == 0) {
		qsort(plan->work->lost.v, plan->work->lost.n, sizeof(*lost), lost_cmp);
	}
	return r;
}

int ctm_plan_expect(struct ctm_plan *plan, const struct ctm_expected *want,
		    const struct ctm_fact *fact)
{
	struct ctm_lost lost = { .fact = *fact, .want = *want };
	int r;

	if (!plan->work->judges || plan->policy.flatten || fact->kind != CTM_FACT_INODE ||
	    !S_ISREG(fact->mode) || !missing(want, fact) || find(plan, fact) ||
	    ctm_rules_match(fact->path, fact->path_len, NULL)) {
		return 0;
	}
	lost.text = text_of(plan, want, fact);
	lost.fact.path = ctm_arena_dup(&plan->arena, fact->path, fact->path_len);
	r = lost.text && lost.fact.path ? 0 : -ENOMEM;
	r = r == 0 ? keep(plan, &lost.fact.acl_access) : r;
	r = r == 0 ? keep(plan, &lost.fact.acl_default) : r;
	r = r == 0 ? keep(plan, &lost.fact.caps) : r;
	return r == 0 ? add(plan, &lost) : r;
}

void ctm_plan_judge_bits(struct ctm_plan *plan, const struct ctm_fact *fact,
			 struct ctm_judgement *judged)
{
	struct ctm_lost *lost = find(plan, fact);
	uint32_t bits;

	if (!lost || lost->met) {
		return;
	}
	lost->met = true;
	/* A mode that has changed meanwhile is the next run's affair. */
	if (fact->mode != lost->fact.mode || judged->n == CTM_ISSUES_MAX ||
	    !is_meant(plan->policy.map, &lost->want, &judged->after)) {
		return;
	}
	bits = may_set(&plan->policy, &lost->want, fact, &judged->after) ?
		       missing(&lost->want, fact) :
		       0;
	judged->issues[judged->n++] = (struct ctm_issue){
		.code = CTM_F_BITS_LOST,
		.kind = -1,
		.left = !bits,
		.text = lost->text,
	};
	judged->after.mode |= bits;
	judged->changes = judged->changes || bits != 0;
}
