/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judging one inode: owner, ACLs, capabilities.
 */
#include "plan/judge.h"

#include <errno.h>
#include <string.h>

#include "id/acl.h"
#include "id/fcaps.h"

int ctm_judge_init(const struct ctm_policy *policy, const struct ctm_lens *lens,
		   struct ctm_judge *ret)
{
	struct ctm_judge judge = { .lens = lens, .flatten = policy->flatten };

	for (int k = CTM_UID; k <= CTM_GID && policy->map; k++) {
		judge.has_root[k] = ctm_idmap_to_disk(policy->map, (enum ctm_idkind)k,
						      (ctm_cid){ 0 }, &judge.root[k]) == 0;
	}
	if (judge.flatten && !(judge.has_root[CTM_UID] && judge.has_root[CTM_GID])) {
		return -EINVAL;
	}
	*ret = judge;
	return 0;
}

/* Same code, id and fate: one issue. Beyond the limit the last one of its kind speaks for all. */
static void add_issue(struct ctm_judgement *j, struct ctm_issue issue)
{
	struct ctm_issue *last = NULL;
	size_t same = 0;

	for (size_t i = 0; i < j->n; i++) {
		struct ctm_issue *known = &j->issues[i];

		if (known->code != issue.code || known->left != issue.left) {
			continue;
		}
		if (known->kind == issue.kind && known->id == issue.id && issue.code != CTM_F_ERR) {
			return;
		}
		last = known;
		same++;
	}
	if (last && (same >= CTM_ISSUES_OF_CODE || j->n == CTM_ISSUES_MAX)) {
		last->text = "and further ids on this inode";
		return;
	}
	if (j->n < CTM_ISSUES_MAX) {
		j->issues[j->n++] = issue;
	}
}

/* The codes of a class for owners and for entries of ACLs. */
static const enum ctm_finding_code own_codes[] = {
	[CTM_CLASS_OVERFLOW] = CTM_F_OWN_OVERFLOW, [CTM_CLASS_HOST] = CTM_F_OWN_HOST,
	[CTM_CLASS_HOLE] = CTM_F_OWN_HOLE,         [CTM_CLASS_TWICE] = CTM_F_OWN_TWICE,
	[CTM_CLASS_BASE] = CTM_F_OWN_BASE,         [CTM_CLASS_BEYOND] = CTM_F_OWN_BEYOND,
	[CTM_CLASS_FROM] = CTM_F_OWN_FROM,
};
static const enum ctm_finding_code acl_codes[] = {
	[CTM_CLASS_OVERFLOW] = CTM_F_ACL_OVERFLOW, [CTM_CLASS_HOST] = CTM_F_ACL_HOST,
	[CTM_CLASS_HOLE] = CTM_F_ACL_HOLE,         [CTM_CLASS_TWICE] = CTM_F_ACL_TWICE,
	[CTM_CLASS_BASE] = CTM_F_ACL_BASE,         [CTM_CLASS_BEYOND] = CTM_F_ACL_BEYOND,
	[CTM_CLASS_FROM] = CTM_F_ACL_FROM,
};

/* Looks at one id: true, with the issue but for its code, when it is not as it should be. */
static bool look(const struct ctm_judge *judge, enum ctm_idkind kind, ctm_did id,
		 const struct ctm_place *place, struct ctm_issue *ret)
{
	*ret = (struct ctm_issue){ .kind = (int)kind, .id = id.v };
	ctm_lens_look(judge->lens, kind, id, place, &ret->verdict);
	ret->left = !ret->verdict.moves;
	return ret->verdict.class != CTM_CLASS_MAPPED;
}

static bool by_fix(enum ctm_class class)
{
	return class != CTM_CLASS_HOST && class != CTM_CLASS_FROM;
}

static void judge_owner(const struct ctm_judge *judge, enum ctm_idkind kind,
			const struct ctm_place *place, ctm_did *id, struct ctm_judgement *j)
{
	struct ctm_issue issue;

	if (judge->flatten) {
		if (id->v != judge->root[kind].v) {
			issue = (struct ctm_issue){
				.code = CTM_F_FLATTEN,
				.kind = (int)kind,
				.id = id->v,
			};
			*id = judge->root[kind];
			add_issue(j, issue);
		}
		return;
	}
	if (!look(judge, kind, *id, place, &issue)) {
		return;
	}
	issue.code = own_codes[issue.verdict.class];
	if (issue.verdict.moves) {
		*id = issue.verdict.target;
		j->asked |= by_fix(issue.verdict.class);
	}
	add_issue(j, issue);
}

struct acl_mover {
	const struct ctm_judge *judge;
	const struct ctm_place *place;
	struct ctm_judgement *found;
};

static bool move_entry(enum ctm_idkind kind, ctm_did from, ctm_did *to, void *arg)
{
	struct acl_mover *mover = arg;
	struct ctm_issue issue;

	if (!look(mover->judge, kind, from, mover->place, &issue)) {
		return false;
	}
	issue.code = acl_codes[issue.verdict.class];
	add_issue(mover->found, issue);
	*to = issue.verdict.target;
	return issue.verdict.moves;
}

/* *acl: of before; becomes that of after. */
static int judge_acl(const struct ctm_judge *judge, bool is_default, const struct ctm_place *place,
		     struct ctm_arena *arena, struct ctm_bytes *acl, struct ctm_judgement *j)
{
	struct ctm_judgement found = { .n = 0 };
	struct acl_mover mover = { .judge = judge, .place = place, .found = &found };
	struct ctm_bytes moved;
	bool merge = false;
	int r;

	if (!acl->p || (!judge->lens->from && !ctm_acl_off_map(*acl, judge->lens->map))) {
		return 0;
	}
	r = ctm_acl_move(*acl, move_entry, &mover, arena, &moved, &merge);
	if (r == -EINVAL) {
		add_issue(j, (struct ctm_issue){
				     .code = CTM_F_ERR,
				     .kind = -1,
				     .err = EINVAL,
				     .left = true,
				     .text = is_default ? "its default ACL is malformed" :
							  "its ACL is malformed",
			     });
		return 0;
	}
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < found.n; i++) {
		found.issues[i].left |= merge;
		add_issue(j, found.issues[i]);
	}
	if (merge) {
		add_issue(j, (struct ctm_issue){
				     .code = CTM_F_ACL_MERGE,
				     .kind = -1,
				     .left = true,
				     .text = is_default ? "in its default ACL" : NULL,
			     });
	} else if (r > 0) {
		*acl = moved;
	}
	return 0;
}

/* The kernel stores revision 3 with root id 0 and hands it out as revision 2. */
static int pack_caps(struct ctm_fcaps *caps, struct ctm_arena *arena, struct ctm_bytes *ret)
{
	unsigned char raw[CTM_FCAPS_V3_LEN];

	caps->revision = caps->rootid.v == 0 ? 2 : 3;
	return ctm_arena_bytes(
		arena, (struct ctm_bytes){ .p = raw, .len = ctm_fcaps_pack(caps, raw) }, ret);
}

/* The root id of revision 3 moves as a uid does. */
static int judge_rootid(const struct ctm_judge *judge, const struct ctm_place *place,
			struct ctm_fcaps *caps, struct ctm_arena *arena, struct ctm_judgement *j)
{
	struct ctm_issue issue;

	if (!look(judge, CTM_UID, caps->rootid, place, &issue)) {
		return 0;
	}
	issue.code = issue.verdict.moves ? CTM_F_CAP_ROOT : CTM_F_CAP_BEYOND;
	add_issue(j, issue);
	if (!issue.verdict.moves) {
		return 0;
	}
	caps->rootid = issue.verdict.target;
	return pack_caps(caps, arena, &j->after.caps);
}

/* Revision 2, on a file whose uid moves: from now on the container's alone. */
static int bind_caps(const struct ctm_judge *judge, struct ctm_fcaps *caps, struct ctm_arena *arena,
		     struct ctm_judgement *j)
{
	if (!judge->has_root[CTM_UID]) {
		j->issues[0].text = "its capability stays valid on the host as well, because the "
				    "map has no container root";
		return 0;
	}
	caps->rootid = judge->root[CTM_UID];
	return pack_caps(caps, arena, &j->after.caps);
}

static int judge_caps(const struct ctm_judge *judge, const struct ctm_inode_state *before,
		      const struct ctm_place *place, struct ctm_arena *arena,
		      struct ctm_judgement *j)
{
	bool uid_moves = before->uid.v != j->after.uid.v;
	bool chown = uid_moves || before->gid.v != j->after.gid.v;
	struct ctm_fcaps caps;

	if (!before->caps.p) {
		return 0;
	}
	if (ctm_fcaps_parse(before->caps, &caps) < 0) {
		add_issue(j, (struct ctm_issue){
				     .code = CTM_F_ERR,
				     .kind = -1,
				     .err = EINVAL,
				     .left = true,
				     .text = "its capability is malformed",
			     });
		if (chown && !S_ISDIR(before->mode)) {
			j->after = *before;
			for (size_t i = 0; i < j->n; i++) {
				j->issues[i].left = true;
			}
		}
		return 0;
	}
	if (judge->flatten && chown && !S_ISDIR(before->mode)) {
		j->after.caps = (struct ctm_bytes){ 0 };
		return 0;
	}
	if (caps.revision == 3) {
		return judge_rootid(judge, place, &caps, arena, j);
	}
	return uid_moves && !judge->flatten ? bind_caps(judge, &caps, arena, j) : 0;
}

uint32_t ctm_judge_stripped_mode(uint32_t mode)
{
	if (S_ISDIR(mode) || S_ISLNK(mode)) {
		return mode;
	}
	mode &= ~(uint32_t)S_ISUID;
	return mode & S_IXGRP ? mode & ~(uint32_t)S_ISGID : mode;
}

/* What flatten takes away, in words, on the first finding of the inode. */
static void judge_loss(const struct ctm_inode_state *before, struct ctm_judgement *j)
{
	static const char *const words[8] = {
		NULL,
		"loses setuid",
		"loses setgid",
		"loses setuid and setgid",
		"loses its capabilities",
		"loses setuid and its capabilities",
		"loses setgid and its capabilities",
		"loses setuid, setgid and its capabilities",
	};
	uint32_t gone;

	j->after.mode = ctm_judge_stripped_mode(before->mode);
	gone = before->mode & ~j->after.mode;
	j->issues[0].text = words[(gone & S_ISUID ? 1 : 0) | (gone & S_ISGID ? 2 : 0) |
				  (before->caps.p && !j->after.caps.p ? 4 : 0)];
}

int ctm_judge_inode(const struct ctm_judge *judge, const struct ctm_inode_state *before,
		    const struct ctm_place *place, struct ctm_arena *arena,
		    struct ctm_judgement *ret)
{
	int r;

	ret->after = *before;
	ret->n = 0;
	ret->asked = false;
	judge_owner(judge, CTM_UID, place, &ret->after.uid, ret);
	judge_owner(judge, CTM_GID, place, &ret->after.gid, ret);
	r = judge_acl(judge, false, place, arena, &ret->after.acl_access, ret);
	if (r == 0) {
		r = judge_acl(judge, true, place, arena, &ret->after.acl_default, ret);
	}
	if (r == 0) {
		r = judge_caps(judge, before, place, arena, ret);
	}
	if (r < 0) {
		return r;
	}
	if (judge->flatten &&
	    (ret->after.uid.v != before->uid.v || ret->after.gid.v != before->gid.v)) {
		judge_loss(before, ret);
	}
	ret->changes = !ctm_inode_state_eq(before, &ret->after);
	ret->asked &= before->uid.v != ret->after.uid.v || before->gid.v != ret->after.gid.v;
	return 0;
}

static bool unsure_id(const struct ctm_judge *judge, enum ctm_idkind kind, ctm_did id)
{
	static const struct ctm_place somewhere = { .nested = false };
	struct ctm_verdict verdict;

	ctm_lens_look(judge->lens, kind, id, &somewhere, &verdict);
	return verdict.unsure;
}

static bool unsure_acl(const struct ctm_judge *judge, struct ctm_bytes acl)
{
	int n = acl.p && ctm_acl_off_map(acl, judge->lens->map) ? ctm_acl_count(acl) : 0;

	for (int i = 0; i < n; i++) {
		const struct ctm_acl_entry e = ctm_acl_get(acl, i);
		enum ctm_idkind kind;

		if (ctm_acl_names(&e, &kind) && unsure_id(judge, kind, (ctm_did){ e.id })) {
			return true;
		}
	}
	return false;
}

bool ctm_judge_unsure(const struct ctm_judge *judge, const struct ctm_inode_state *state)
{
	struct ctm_fcaps caps;

	if (judge->lens->settled) {
		return false;
	}
	return unsure_id(judge, CTM_UID, state->uid) || unsure_id(judge, CTM_GID, state->gid) ||
	       unsure_acl(judge, state->acl_access) || unsure_acl(judge, state->acl_default) ||
	       (state->caps.p && ctm_fcaps_parse(state->caps, &caps) == 0 && caps.revision == 3 &&
		unsure_id(judge, CTM_UID, caps.rootid));
}

enum ctm_finding_code ctm_judge_cause(const struct ctm_judgement *judged)
{
	for (size_t i = 0; i < judged->n; i++) {
		if (!judged->issues[i].left) {
			return judged->issues[i].code;
		}
	}
	return CTM_F_ERR;
}

bool ctm_judge_stale_id(const struct ctm_judge *judge, enum ctm_idkind kind, ctm_did id,
			const struct ctm_place *place, struct ctm_verdict *ret)
{
	ctm_lens_look(judge->lens, kind, id, place, ret);
	return ret->class == CTM_CLASS_HOST || ret->class == CTM_CLASS_BEYOND;
}

enum ctm_stale ctm_judge_stale(const struct ctm_judge *judge, const struct ctm_rule *rule,
			       const struct ctm_fact *fact, const struct ctm_place *place,
			       bool with_content)
{
	struct ctm_verdict verdict;

	if (rule->kind == CTM_RULE_UNFINISHED || rule->kind == CTM_RULE_DATABASE) {
		return CTM_STALE_NOT;
	}
	if (ctm_judge_stale_id(judge, CTM_UID, fact->uid, place, &verdict) ||
	    ctm_judge_stale_id(judge, CTM_GID, fact->gid, place, &verdict)) {
		return CTM_STALE_OWNER;
	}
	if (rule->kind == CTM_RULE_PIDLOCK) {
		return CTM_STALE_EXISTS;
	}
	if (rule->kind == CTM_RULE_CACHE && with_content && rule->damaged && S_ISREG(fact->mode) &&
	    rule->damaged(fact->head, fact->size)) {
		return CTM_STALE_CONTENT;
	}
	return CTM_STALE_NOT;
}
