/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inspect: what only the file system knows of the files a plan would remove. */
#include "run/inspect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/pathname.h"
#include "rules/rules.h"
#include "run/archive.h"
#include "run/confirm.h"
#include "run/contentsum.h"
#include "target/lockholder.h"

/*
 * A page of content, and one for its headers and few attributes: a lock that counts by being there
 * can be made anew at each start of the container, and each time a hook saves it.
 */
#define LOCK_ROOM (2 * (uint64_t)CTM_RULES_LOCK_MAX)

struct inspecting {
	const struct ctm_ops *ops;
	void *fs;
	struct ctm_plan *plan;
	uint64_t left;    /* of the budget */
	int64_t until_ms; /* when to look no longer for who has a file open; 0: no limit */
};

/* Notes pkg.held once for each file. */
static int note_held(struct ctm_plan *plan, const char *path, size_t len,
		     const struct ctm_lockholder *holder)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r;

	plan->refuse_held = true;
	if (holder->pid > 0) {
		r = ctm_buf_addf(&text, "held by %s (pid %d, %s)", holder->name, holder->pid,
				 holder->how);
	} else {
		r = ctm_buf_addf(&text, "held by a process that /proc does not show (%s)",
				 holder->how);
	}
	return r < 0 ? r : ctm_plan_note(plan, CTM_F_PKG_HELD, path, len, text.p);
}

static int ask_opener(const struct inspecting *x, int fd, bool *ret_held,
		      struct ctm_lockholder *ret)
{
	const int64_t left = x->until_ms ? x->until_ms - ctm_clock_ms() : 0;

	if (x->until_ms && left <= 0) {
		return -ETIME;
	}
	return ctm_lockholder_opener(fd, (unsigned int)left, ret_held, ret);
}

/*
 * Who has a lock on it; of one that is a lock by being there, also who has it open. -ETIME: that
 * was not found out.
 */
static int ask(struct inspecting *x, const struct ctm_rule *rule, int fd, const char *path,
	       size_t len)
{
	struct ctm_lockholder holder;
	bool held = false;
	int r = x->plan->policy.alone ? 0 : ctm_lockholder_find(fd, &held, &holder);

	if (r == 0 && !held && !x->plan->policy.alone && rule->kind == CTM_RULE_PIDLOCK) {
		r = ask_opener(x, fd, &held, &holder);
	}
	return r < 0 || !held ? r : note_held(x->plan, path, len, &holder);
}

/* The actions stand in the order of their paths, and none shares its path with another. */
static bool is_removal(const struct ctm_plan *plan, const char *path)
{
	size_t low = 0;
	size_t high = plan->actions.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct ctm_action *a = &plan->actions.v[mid];
		int cmp = ctm_path_cmp(a->path, a->path_len, path, strlen(path));

		if (cmp == 0) {
			return a->kind == CTM_ACT_REMOVE;
		}
		if (cmp < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return false;
}

static bool is_asked(const struct ctm_rule *row)
{
	return (ctm_rule_is_lock(row) || row->kind == CTM_RULE_DATABASE) && !strchr(row->at, '*');
}

/*
 * A lock with a right owner is nobody's finding, but a process may hold it: a package manager that
 * runs in a chroot right now. What is not there, or is no plain file, nobody can hold.
 */
static int ask_row(struct inspecting *x, const struct ctm_rule *row)
{
	const struct ctm_ref ref = { .path = row->at, .path_len = strlen(row->at) };
	CLEANUP_CLOSE int fd = -1;
	int r;

	if (!is_asked(row) || is_removal(x->plan, row->at)) {
		return 0;
	}
	r = x->ops->content(x->fs, &ref, &fd);
	return r < 0 ? 0 : ask(x, row, fd, ref.path, ref.path_len);
}

static int ask_rows(struct inspecting *x)
{
	const bool *on = x->plan->policy.rules_on;
	int r = 0;

	for (size_t i = 0; on && r == 0 && i < ctm_rules_n; i++) {
		for (size_t k = 0; on[i] && r == 0 && k < ctm_rules_all[i]->n; k++) {
			r = ask_row(x, &ctm_rules_all[i]->rows[k]);
		}
	}
	return r;
}

/* It cannot be saved as it was seen, so it is not removed. */
static int keep(struct inspecting *x, size_t action, int error)
{
	int r = ctm_plan_keep_file(x->plan, action, CTM_F_ERR, "not removed: it cannot be saved");

	if (r == 0) {
		x->plan->findings.v[x->plan->findings.n - 1].err = error;
	}
	return r;
}

static bool is_lock(const struct ctm_action *a)
{
	return a->rule && ctm_rule_is_lock(a->rule);
}

static int keep_large(struct inspecting *x, size_t action)
{
	const struct ctm_action *a = &x->plan->actions.v[action];
	char text[128];

	if (a->size > CTM_ARCHIVE_LENGTH_MAX) {
		(void)snprintf(text, sizeof(text), "it is %" PRIu64 " bytes long, holes included",
			       a->size);
	} else if (is_lock(a) && x->left >= LOCK_ROOM) {
		(void)snprintf(text, sizeof(text), "it has more attributes than a lock has");
	} else {
		(void)snprintf(text, sizeof(text),
			       "it takes more than the %" PRIu64 " bytes that are left for it",
			       x->left);
	}
	return ctm_plan_keep_file(x->plan, action, CTM_F_PKG_LARGE, text);
}

/* How much this one may take. */
static uint64_t most_for(const struct inspecting *x, const struct ctm_action *a)
{
	if (a->size > CTM_ARCHIVE_LENGTH_MAX) {
		return 0;
	}
	return is_lock(a) && x->left > LOCK_ROOM ? LOCK_ROOM : x->left;
}

static int look_at(struct inspecting *x, size_t action)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	CLEANUP_CLOSE int fd = -1;
	struct ctm_action *a = &x->plan->actions.v[action];
	struct ctm_entry entry;
	struct ctm_step step = ctm_confirm(x->ops, x->fs, a, &arena, &entry);
	uint64_t room;
	int r;

	if (step.did != CTM_DID_CHANGE) {
		return keep(x, action, step.did == CTM_DID_FAIL ? step.err : ESTALE);
	}
	r = x->ops->content(x->fs, &entry.ref, &fd);
	if (r < 0) {
		return keep(x, action, -r);
	}
	r = ask(x, a->rule, fd, a->path, a->path_len);
	if (r == -ETIME) {
		return ctm_plan_keep_file(x->plan, action, CTM_F_ERR,
					  "not removed: whether a process of this host has it open "
					  "was not found out in time");
	}
	if (r < 0) {
		return r == -ENOMEM ? r : keep(x, action, -r);
	}
	r = ctm_archive_room(fd, &entry, most_for(x, a), &room);
	if (r == -EFBIG) {
		return keep_large(x, action);
	}
	if (r == 0) {
		r = ctm_contentsum_of(fd, a->size, a->sha256);
	}
	if (r < 0) {
		return r == -ENOMEM ? r : keep(x, action, -r);
	}
	x->left -= room;
	return 0;
}

int ctm_inspect(const struct ctm_ops *ops, void *fs, struct ctm_plan *plan, uint64_t budget,
		struct ctm_err *err)
{
	struct inspecting x = {
		.ops = ops,
		.fs = fs,
		.plan = plan,
		.left = budget,
		.until_ms = plan->policy.openers_ms ? ctm_clock_ms() + plan->policy.openers_ms : 0,
	};
	int r = ask_rows(&x);

	for (size_t i = 0; r == 0 && i < plan->actions.n; i++) {
		if (plan->actions.v[i].kind == CTM_ACT_REMOVE) {
			r = look_at(&x, i);
		}
		ctm_spill_pass(plan->spill);
	}
	if (r == 0) {
		r = ctm_plan_settle(plan);
	}
	if (r == -ETIME) {
		r = ctm_err_set(err, CTM_REFUSED, ETIME,
				"whether a process of this host has a lock of a package manager "
				"open was not found out in time: very many files are open");
		ctm_err_hint(err, "a repair of the stopped container takes the time that it needs");
		return r;
	}
	return r == -ENOMEM ? ctm_err_nomem(err) :
	       r < 0        ? ctm_err_set(err, CTM_SYS, r, "inspect the files to remove") :
			      0;
}
