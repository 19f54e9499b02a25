/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From facts to findings and actions, one fact at a time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/pathname.h"
#include "plan/device.h"
#include "plan/fix.h"
#include "plan/work.h"

static const char *keep_path(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	return plan->work->kept ? fact->path :
				  ctm_arena_dup(&plan->arena, fact->path, fact->path_len);
}

/* An attribute of after that is before's own must point to the copy as well. */
static int keep_bytes(struct ctm_plan *plan, struct ctm_bytes *before, struct ctm_bytes *after)
{
	bool same = before->p == after->p;
	int r = ctm_arena_bytes(&plan->arena, *before, before);

	if (r == 0 && same) {
		*after = *before;
	}
	return r;
}

static int keep_state(struct ctm_plan *plan, struct ctm_inode_state *before,
		      struct ctm_inode_state *after)
{
	int r = keep_bytes(plan, &before->acl_access, &after->acl_access);

	if (r == 0) {
		r = keep_bytes(plan, &before->acl_default, &after->acl_default);
	}
	if (r == 0) {
		r = keep_bytes(plan, &before->caps, &after->caps);
	}
	return r;
}

/* Adds the action for an inode. after: NULL for a removal. The path is in the arena already. */
static int add_action(struct ctm_plan *plan, const struct ctm_fact *fact, const char *path,
		      const struct ctm_action *like, const struct ctm_inode_state *after)
{
	struct ctm_action action = *like;
	int r;

	action.path = path;
	action.path_len = fact->path_len;
	action.dev = fact->dev;
	action.ino = fact->ino;
	action.rdev = fact->rdev;
	action.nlink = fact->nlink;
	action.names = 1;
	action.before = ctm_fact_state(fact);
	action.after = after ? *after : action.before;
	r = keep_state(plan, &action.before, &action.after);
	if (r == 0) {
		plan->work->unsettled = true;
		r = ctm_spill_push(plan->spill, &plan->actions, &action);
	}
	return r;
}

static bool is_flagged(const struct ctm_fact *fact)
{
	return fact->attr & (CTM_ATTR_IMMUTABLE | CTM_ATTR_APPEND);
}

/* Only what can be opened without a side effect can have its flags lifted (ioctl_iflags(2)). */
static bool can_lift(const struct ctm_plan *plan, const struct ctm_fact *fact)
{
	return (plan->policy.fix & CTM_FIX_FLAGS) && (S_ISREG(fact->mode) || S_ISDIR(fact->mode));
}

static int flag_finding(struct ctm_plan *plan, const struct ctm_fact *fact, const char *path,
			size_t action)
{
	struct ctm_finding f = {
		.code = CTM_F_ATTR_FLAG,
		.kind = -1,
		.path = path,
		.path_len = fact->path_len,
		.action = action,
		.text = fact->attr & CTM_ATTR_IMMUTABLE ? "immutable" : "append-only",
	};

	return ctm_plan_add(plan, &f);
}

static int plan_removal(struct ctm_plan *plan, const struct ctm_fact *fact,
			const struct ctm_rule *rule, enum ctm_stale stale)
{
	const struct ctm_place place = ctm_plan_place(plan, fact);
	struct ctm_verdict verdict;
	bool uid_off = ctm_judge_stale_id(&plan->work->judge, CTM_UID, fact->uid, &place, &verdict);
	const char *path = keep_path(plan, fact);
	struct ctm_action like = {
		.kind = CTM_ACT_REMOVE,
		.cause = ctm_plan_rule_code(rule),
		.rule = rule,
		.stale = stale,
		.size = fact->size,
	};
	struct ctm_finding f = {
		.code = like.cause,
		.kind = -1,
		.path = path,
		.path_len = fact->path_len,
		.action = is_flagged(fact) ? CTM_NO_ACTION : plan->actions.n,
	};
	int r;

	if (!path) {
		return -ENOMEM;
	}
	switch (stale) {
	case CTM_STALE_OWNER:
		f.kind = uid_off ? CTM_UID : CTM_GID;
		f.id = uid_off ? fact->uid.v : fact->gid.v;
		break;
	case CTM_STALE_EXISTS:
		f.text = "nobody uses it while the container is stopped";
		break;
	case CTM_STALE_CONTENT:
		f.text = fact->size ? "its header is damaged" : "it is empty";
		break;
	case CTM_STALE_NOT:
		f.text = "healthy, removed because of --clean all";
		break;
	}
	r = ctm_plan_add(plan, &f);
	if (r < 0) {
		return r;
	}
	return is_flagged(fact) ? flag_finding(plan, fact, path, CTM_NO_ACTION) :
				  add_action(plan, fact, path, &like, NULL);
}

/* Another name of an inode that is in the plan: it stands at its first one. */
static int add_name(struct ctm_plan *plan, struct ctm_link *link, const struct ctm_fact *fact)
{
	link->names++;
	if (ctm_path_cmp(fact->path, fact->path_len, link->path, link->path_len) < 0) {
		const char *path = keep_path(plan, fact);

		if (!path) {
			return -ENOMEM;
		}
		link->path = path;
		link->path_len = fact->path_len;
	}
	return 0;
}

/* The inode by its ids and attributes, then what its mode and its device say. */
static int judge_fact(struct ctm_plan *plan, const struct ctm_fact *fact,
		      const struct ctm_inode_state *before, struct ctm_judgement *ret)
{
	const struct ctm_place place = ctm_plan_place(plan, fact);
	int r = ctm_judge_inode(&plan->work->judge, before, &place, &plan->arena, ret);

	if (r < 0) {
		return r;
	}
	ctm_plan_judge_bits(plan, fact, ret);
	return ctm_device_judge(&plan->policy, fact, before, &plan->arena, ret);
}

/* Findings and the repair of what is wrong with the inode itself. *ret_action cures them. */
static int plan_repair(struct ctm_plan *plan, const struct ctm_fact *fact, size_t *ret_action)
{
	struct ctm_plan_work *work = plan->work;
	struct ctm_link *known =
		ctm_fact_has_names(fact) ? ctm_links_get(&work->links, fact->dev, fact->ino) : NULL;
	const struct ctm_inode_state before = ctm_fact_state(fact);
	struct ctm_link link = {
		.dev = fact->dev,
		.ino = fact->ino,
		.nlink = fact->nlink,
		.names = 1,
		.first = plan->findings.n,
		.action = CTM_NO_ACTION,
		.path_len = fact->path_len,
	};
	struct ctm_judgement judged;
	int r;

	*ret_action = CTM_NO_ACTION;
	if (known) {
		*ret_action = known->action;
		return add_name(plan, known, fact);
	}
	r = judge_fact(plan, fact, &before, &judged);
	if (r < 0 || judged.n == 0) {
		return r;
	}
	link.path = keep_path(plan, fact);
	if (!link.path) {
		return -ENOMEM;
	}
	if (judged.changes && (!is_flagged(fact) || can_lift(plan, fact))) {
		struct ctm_action like = {
			.kind = CTM_ACT_SET,
			.cause = ctm_judge_cause(&judged),
			.attr = fact->attr & (CTM_ATTR_IMMUTABLE | CTM_ATTR_APPEND),
		};

		link.action = plan->actions.n;
		work->asked += judged.asked;
		r = add_action(plan, fact, link.path, &like, &judged.after);
	}
	if (r == 0) {
		const struct ctm_finding like = {
			.path = link.path,
			.path_len = link.path_len,
			.action = link.action,
			.mode = fact->mode,
			.nlink = fact->nlink,
		};

		r = ctm_plan_add_issues(plan, &judged, &like);
	}
	if (r == 0 && judged.changes && is_flagged(fact)) {
		r = flag_finding(plan, fact, link.path, link.action);
	}
	link.n = plan->findings.n - link.first;
	*ret_action = link.action;
	return r == 0 && ctm_fact_has_names(fact) ? ctm_links_add(&work->links, &link) : r;
}

int ctm_plan_rest_of_bits(struct ctm_plan *plan)
{
	size_t action;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->work->lost.n; i++) {
		if (!plan->work->lost.v[i].met) {
			r = plan_repair(plan, &plan->work->lost.v[i].fact, &action);
		}
	}
	return r;
}

static const char *why_not_removed(const struct ctm_fact *fact)
{
	switch (fact->mode & S_IFMT) {
	case S_IFREG:
		return "not removed: it has more than one name";
	case S_IFDIR:
		return "not removed: it is a directory";
	case S_IFLNK:
		return "not removed: it is a symbolic link";
	case S_IFIFO:
		return "not removed: it is a FIFO";
	case S_IFSOCK:
		return "not removed: it is a socket";
	default:
		return "not removed: it is a device";
	}
}

/* Whether a repair leaves the owner stale, because a part of it fits nothing. */
static bool stays_stale(const struct ctm_plan *plan, const struct ctm_fact *fact)
{
	const struct ctm_judge *judge = &plan->work->judge;
	const struct ctm_place place = ctm_plan_place(plan, fact);
	struct ctm_verdict uid;
	struct ctm_verdict gid;
	bool uid_stale = ctm_judge_stale_id(judge, CTM_UID, fact->uid, &place, &uid);
	bool gid_stale = ctm_judge_stale_id(judge, CTM_GID, fact->gid, &place, &gid);

	return !plan->policy.flatten && ((uid_stale && !uid.moves) || (gid_stale && !gid.moves));
}

/*
 * Something else than a plain file stands at a rule's path. Its owner is repaired as everywhere, by
 * this action.
 */
static int report_odd(struct ctm_plan *plan, const struct ctm_fact *fact,
		      const struct ctm_rule *rule, enum ctm_stale stale, size_t action)
{
	bool cured = stale == CTM_STALE_OWNER && !stays_stale(plan, fact);
	struct ctm_finding f = {
		.code = ctm_plan_rule_code(rule),
		.kind = -1,
		.path = keep_path(plan, fact),
		.path_len = fact->path_len,
		.action = cured ? action : CTM_NO_ACTION,
		.text = why_not_removed(fact),
	};

	return f.path ? ctm_plan_add(plan, &f) : -ENOMEM;
}

/* dpkg/updates and its like: once for each rule, at the directory. */
static int note_unfinished(struct ctm_plan *plan, const struct ctm_rule *rule)
{
	const char *slash = strrchr(rule->at, '/');
	int r;

	for (size_t i = 0; i < plan->work->unfinished.n; i++) {
		if (plan->work->unfinished.v[i] == rule) {
			return 0;
		}
	}
	r = ctm_vec_push(&plan->work->unfinished, &rule);
	if (r < 0) {
		return r;
	}
	return ctm_plan_note(plan, ctm_plan_rule_code(rule), rule->at,
			     slash ? (size_t)(slash - rule->at) : strlen(rule->at), NULL);
}

/* What stands at a lock's path is no lock: it stays, and its owner is repaired as everywhere. */
static int report_large(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	char text[96];

	(void)snprintf(text, sizeof(text),
		       "no lock is %" PRIu64 " bytes long: it is something else", fact->size);
	return ctm_plan_note(plan, CTM_F_PKG_LARGE, fact->path, fact->path_len, text);
}

static bool is_too_large(const struct ctm_rule *rule, const struct ctm_fact *fact)
{
	return ctm_rule_is_lock(rule) && S_ISREG(fact->mode) && fact->size > CTM_RULES_LOCK_MAX;
}

static const struct ctm_rule *rule_for(const struct ctm_plan *plan, const struct ctm_fact *fact)
{
	const struct ctm_rules *set = NULL;
	const struct ctm_rule *rule =
		plan->policy.rules_on ? ctm_rules_match(fact->path, fact->path_len, &set) : NULL;

	for (size_t i = 0; rule && i < ctm_rules_n; i++) {
		if (ctm_rules_all[i] == set) {
			return plan->policy.rules_on[i] ? rule : NULL;
		}
	}
	return NULL;
}

/* Made by the tools of the file system, for the file system. */
static bool is_lost_found(const struct ctm_policy *policy, const struct ctm_fact *fact)
{
	static const char name[] = "lost+found";

	return policy->raw_volume && S_ISDIR(fact->mode) && fact->uid.v == 0 && fact->gid.v == 0 &&
	       fact->path_len == strlen(name) && memcmp(fact->path, name, strlen(name)) == 0;
}

int ctm_plan_inode(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	const struct ctm_policy *policy = &plan->policy;
	const struct ctm_rule *rule = rule_for(plan, fact);
	const struct ctm_place place = ctm_plan_place(plan, fact);
	enum ctm_stale stale = CTM_STALE_NOT;
	bool asked;
	size_t action;
	int r = 0;

	if (is_lost_found(policy, fact)) {
		return 0;
	}
	if (rule && rule->kind == CTM_RULE_UNFINISHED) {
		r = S_ISREG(fact->mode) ? note_unfinished(plan, rule) : 0;
		rule = NULL;
	}
	if (rule && (policy->clean == CTM_CLEAN_NONE || rule->kind == CTM_RULE_DATABASE ||
		     ctm_rules_never(fact->path, fact->path_len))) {
		rule = NULL;
	}
	if (rule) {
		stale = ctm_judge_stale(&plan->work->judge, rule, fact, &place,
					!policy->no_content);
		/* A running container may be at work under it. */
		stale = stale == CTM_STALE_EXISTS && policy->running ? CTM_STALE_NOT : stale;
		asked = stale != CTM_STALE_NOT || policy->clean == CTM_CLEAN_ALL;
		if (asked && is_too_large(rule, fact)) {
			stale = CTM_STALE_NOT;
			r = report_large(plan, fact);
		} else if (asked && S_ISREG(fact->mode) && fact->nlink == 1) {
			return plan_removal(plan, fact, rule, stale);
		}
	}
	if (r == 0) {
		r = plan_repair(plan, fact, &action);
	}
	if (r == 0 && stale != CTM_STALE_NOT) {
		r = report_odd(plan, fact, rule, stale, action);
	}
	return r;
}

const char ctm_plan_deep[] = "below it are directories that are too deep";

/* Mostly they come one after the other, of one directory: it keeps the path once. */
static int note_deep(struct ctm_plan *plan, const struct ctm_fact *fact)
{
	struct ctm_plan_work *work = plan->work;
	struct ctm_finding f = {
		.code = CTM_F_ERR,
		.kind = -1,
		.action = CTM_NO_ACTION,
		.text = ctm_plan_deep,
		.err = fact->err,
	};

	if (!work->deep || work->deep_len != fact->path_len ||
	    memcmp(work->deep, fact->path, fact->path_len) != 0) {
		work->deep = ctm_arena_dup(&plan->arena, fact->path, fact->path_len);
		work->deep_len = fact->path_len;
	}
	f.path = work->deep;
	f.path_len = work->deep_len;
	return f.path ? ctm_plan_add(plan, &f) : -ENOMEM;
}

int ctm_plan_fact(const struct ctm_fact *fact, void *plan)
{
	struct ctm_plan *p = plan;
	int r;
	struct ctm_finding f = {
		.code = CTM_F_ERR,
		.kind = -1,
		.path_len = fact->path_len,
		.action = CTM_NO_ACTION,
		.text = fact->op,
		.err = fact->err,
	};

	switch (fact->kind) {
	case CTM_FACT_INODE:
		r = p->work->judges ? ctm_plan_tell_name(p, fact) : 1;
		r = r == 0 ? ctm_plan_wait(p, fact) : r;
		return r == 0 ? ctm_plan_inode(p, fact) : r < 0 ? r : 0;
	case CTM_FACT_MOUNT:
		return ctm_plan_note(p, CTM_F_MOUNT_BELOW, fact->path, fact->path_len, NULL);
	case CTM_FACT_ERROR:
		if (fact->err == ELOOP) {
			return ctm_plan_note(p, CTM_F_PATH_LINK, fact->path, fact->path_len, NULL);
		}
		if (strcmp(fact->op, CTM_OP_DEEP) == 0) {
			return note_deep(p, fact);
		}
		break;
	}
	f.path = ctm_arena_dup(&p->arena, fact->path, fact->path_len);
	return f.path ? ctm_plan_add(p, &f) : -ENOMEM;
}

bool ctm_plan_wants_names(const struct ctm_plan *plan)
{
	const struct ctm_links *links = &plan->work->links;

	if (plan->policy.raw_volume || ctm_plan_is_whole(&plan->policy)) {
		return false;
	}
	for (size_t i = 0; i < plan->work->waiting.n; i++) {
		ctm_spill_pass(plan->spill);
		if (ctm_fact_has_names(&plan->work->waiting.v[i])) {
			return true;
		}
	}
	for (size_t i = 0; i < links->v.n; i++) {
		ctm_spill_pass(plan->spill);
		if (links->v.v[i].names < links->v.v[i].nlink) {
			return true;
		}
	}
	return false;
}

int ctm_plan_other_name(const struct ctm_fact *fact, void *plan)
{
	return ctm_plan_tell_name(plan, fact);
}
