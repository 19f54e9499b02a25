/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of repairs on a volume in memory: order, what others changed, calls that fail. */
#include "run/repair.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "run/history.h"
#include "run/undo.h"
#include "stage.h"

#define PLAN    CLEANUP(stage_plan_done) struct ctm_plan
#define OUTCOME CLEANUP(ctm_outcome_done) struct ctm_outcome
#define TEXT    CLEANUP_FREE char
#define HISTORY CLEANUP(ctm_history_done) struct ctm_history

static const char digest[] = STAGE_DIGEST;

Test(repair, twice_does_nothing)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	HISTORY history = { 0 };
	PLAN plan = { 0 };

	stage_damage(s);
	after = stage_repair(s);
	plan = stage_plan(s);
	s->fs.log.len = 0;
	cr_assert_eq(plan.actions.n, 0);
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0);
	cr_assert_eq(s->fs.log.len, 0);
	cr_assert_str_eq(out.run, "");
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 1);
}

static long line_of(const char *log, const char *line)
{
	const char *at = strstr(log, line);

	cr_assert_not_null(at, "'%s' is not in:\n%s", line, log);
	return at - log;
}

Test(repair, order_of_apply)
{
	STAGE(s);
	TEXT *after = NULL;
	const char *log;
	long root;

	stage_damage(s);
	after = stage_repair(s);
	log = s->fs.log.p;
	root = line_of(log, "chown '' ");
	cr_expect_lt(line_of(log, "unlink 'var/lib/dpkg/lock'"), line_of(log, "chown '"));
	cr_expect_lt(line_of(log, "unlink 'var/partial/b"), line_of(log, "mtime 'var/partial'"));
	cr_expect_lt(line_of(log, "mtime 'var/partial'"), line_of(log, "chown '"));
	cr_expect_null(strstr(log + root + 1, "chown"), "the root comes last");
	cr_expect_lt(root, line_of(log, "sync"));
}

/* Between the plan and the repair: what was changed is left and told, the rest is done. */
Test(repair, changed_since_the_plan)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };
	struct fake_node *n;

	stage_damage(s);
	plan = stage_plan(s);
	fake_at(&s->fs, "usr/bin/sudo")->state.mode = S_IFREG | 0755;
	fake_at(&s->fs, "usr/bin/ping")->ino = 999;
	fake_at(&s->fs, "etc/shadow")->gone = true;
	fake_at(&s->fs, "usr/bin/vi")->state.uid.v = STAGE_BASE;
	fake_at(&s->fs, "usr/bin/vi")->state.gid.v = STAGE_BASE;
	n = fake_at(&s->fs, "var/partial/a.deb");
	n->content = fake_bytes(&s->fs, "HALF A PACKAGE", 14);
	fake_at(&s->fs, "var/lib/dpkg/lock")->nlink = 2;
	fake_at(&s->fs, "dev/null")->nlink = 2; /* who knows where the other name is */
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0);
	cr_assert(ctm_outcome_partial(&out));
	cr_expect_eq(out.counts.conflicts, 6);
	cr_expect_eq(out.counts.already, 1);
	cr_expect_eq(out.counts.done, plan.actions.n - 7);
	cr_expect_str_eq(stage_result(&out, "usr/bin/sudo")->what, "changed");
	cr_expect_str_eq(stage_result(&out, "usr/bin/ping")->what, "gone");
	cr_expect_str_eq(stage_result(&out, "etc/shadow")->what, "gone");
	cr_expect_str_eq(stage_result(&out, "var/partial/a.deb")->what, "changed");
	cr_expect_str_eq(stage_result(&out, "var/lib/dpkg/lock")->what, "changed");
	cr_expect_str_eq(stage_result(&out, "dev/null")->what, "changed");
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, 0);
	cr_expect_eq(fake_at(&s->fs, "dev/null")->state.uid.v, 0);
	cr_expect_not_null(fake_at(&s->fs, "var/lib/dpkg/lock"));
}

/* The walk has called it null, and it is a disk. */
Test(repair, another_device)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };

	stage_damage(s);
	plan = stage_plan(s);
	fake_at(&s->fs, "dev/null")->rdev = 0x800;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0);
	cr_expect_eq(out.counts.conflicts, 1);
	cr_expect_str_eq(stage_result(&out, "dev/null")->what, "changed");
	cr_expect_eq(fake_at(&s->fs, "dev/null")->state.uid.v, 0);
}

Test(repair, plan_that_refuses)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };
	TEXT *before = NULL;
	struct ctm_err err = { 0 };

	stage_damage(s);
	before = fake_listing(&s->fs);
	plan = stage_plan(s);
	plan.refuse_held = true;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
	plan.refuse_held = false;
	plan.refuse_tree = true;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, &err), -EPERM);
	stage_expect(s, before, "refused");
}

/*
 * A call fails, once: that entry is told, all others are done. Where it is the reading of a
 * privileged file for the record, that is done as well: its content is known by the ctime then.
 */
Test(repair, one_call_fails)
{
	unsigned int unread = 0;

	for (unsigned int at = 1; at < 400; at++) {
		STAGE(s);
		PLAN plan = { 0 };
		OUTCOME out = { 0 };
		struct ctm_err err = { 0 };
		int r;

		stage_damage(s);
		plan = stage_plan(s);
		s->fs.fail_at = at;
		s->fs.fail_with = EIO;
		r = ctm_repair(&s->run, &plan, digest, &out, &err);
		cr_assert_eq(s->fs.open, 0, "call %u", at);
		if (s->fs.calls < at) {
			cr_assert_gt(at, 130);
			cr_assert_eq(unread, 5, "%u files with set-id bits or a capability",
				     unread);
			return;
		}
		unread += r == 0 && out.counts.failed == 0;
		cr_assert(r < 0 || out.counts.failed == 1 || out.counts.done == plan.actions.n,
			  "call %u: %s", at, err.msg);
		cr_assert(r < 0 || out.counts.done + 1 >= plan.actions.n, "call %u", at);
	}
}

/* The fault is over: what was left unfinished goes on, and a new plan does the rest. */
static void mend(struct stage *s, const char *want, const char *when)
{
	PLAN plan = { 0 };
	OUTCOME first = { 0 };
	OUTCOME then = { 0 };
	struct ctm_err err = { 0 };
	char name[CTM_RUN_NAME_MAX];
	int r = ctm_history_unfinished(s->state, "rootfs", name, &err);

	cr_assert_geq(r, 0, "%s: %s", when, err.msg);
	if (r > 0) {
		cr_assert_eq(ctm_repair_resume(&s->run, name, &first, &err), 0, "%s: %s", when,
			     err.msg);
		cr_assert_not(ctm_outcome_partial(&first), "%s: %s: %s", when,
			      first.results.n ? first.results.v[0].path : "",
			      first.results.n ? first.results.v[0].what : "");
	}
	plan = stage_plan(s);
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &then, &err), 0, "%s: %s", when, err.msg);
	stage_expect(s, want, when);
}

/* Everything that was done is taken back, run by run. */
static void undo_all(struct stage *s, const char *want, const char *when)
{
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	while (ctm_undo_choose(&s->run, NULL, &info, &err) == 0) {
		cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s: %s", when, err.msg);
		cr_assert_not(ctm_outcome_partial(&out), "%s: %s", when,
			      out.results.n ? out.results.v[0].what : "");
		ctm_outcome_done(&out);
	}
	stage_expect(s, want, when);
}

/* A repair with this fault, then without it the way on or the way back. */
static bool fails_and_mends(unsigned int at, const char *op, bool back)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };
	TEXT *before = NULL;
	TEXT *after = NULL;
	char when[80];

	(void)snprintf(when, sizeof(when), "call %u, %s, %s", at, op ? op : "all",
		       back ? "back" : "on");
	stage_damage(s);
	before = fake_listing(&s->fs);
	after = stage_model(s);
	plan = stage_plan(s);
	s->fs.fail_at = at;
	s->fs.fail_on = true;
	s->fs.fail_op = op;
	s->fs.fail_with = EIO;
	(void)ctm_repair(&s->run, &plan, digest, &out, NULL);
	if (!op && s->fs.calls < at) {
		return false;
	}
	s->fs.fail_at = 0;
	s->fs.fail_op = NULL;
	if (!back) {
		mend(s, after, when);
	}
	undo_all(s, before, when);
	return true;
}

Test(repair, all_calls_fail_from_one_on)
{
	for (unsigned int at = 1; fails_and_mends(at, NULL, false); at++) {
		cr_assert(fails_and_mends(at, NULL, true));
	}
}

/*
 * Left as changed by somebody else when the run was taken up once, found as recorded and changed
 * when it was taken up again: then it is the run's, and undo takes it back.
 */
Test(repair, a_conflict_that_went_away)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME first = { 0 };
	OUTCOME again = { 0 };
	TEXT *before = NULL;
	TEXT *after = NULL;
	struct ctm_inode_state was;
	char name[CTM_RUN_NAME_MAX];

	stage_damage(s);
	before = fake_listing(&s->fs);
	after = stage_model(s);
	was = fake_at(&s->fs, "usr/bin")->state;
	plan = stage_plan(s);
	s->fs.fail_op = "chmod";
	s->fs.fail_with = EIO;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &first, NULL), 0);
	cr_assert(first.unfinished);
	fake_at(&s->fs, "usr/bin")->state.mode = S_IFDIR | 0700;
	cr_assert_eq(ctm_history_unfinished(s->state, "rootfs", name, NULL), 1);
	cr_assert_eq(ctm_repair_resume(&s->run, name, &again, NULL), 0);
	cr_assert(again.unfinished);
	cr_assert_str_eq(stage_result(&again, "usr/bin")->what, "changed");
	s->fs.fail_op = NULL;
	fake_at(&s->fs, "usr/bin")->state = was;
	mend(s, after, "taken up again");
	undo_all(s, before, "taken back");
}

static const char *const ops[] = { "chown", "chmod", "xattr", "mtime", "unlink" };

CASES(repair, one_kind_of_call_fails, ops)
{
	(void)fails_and_mends(0, ops[*i], false);
	(void)fails_and_mends(0, ops[*i], true);
}

Test(repair, read_only_volume_is_one_result)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };

	stage_damage(s);
	plan = stage_plan(s);
	s->fs.readonly = true;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0);
	cr_assert_eq(out.counts.failed, plan.actions.n);
	cr_assert_eq(out.results.n, 1);
	cr_assert_eq(out.results.v[0].err, EROFS);
	cr_assert_eq(out.results.v[0].n, plan.actions.n);
}

Test(repair, immutable_is_told_and_the_rest_is_done)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };
	struct ctm_run_info info;

	stage_damage(s);
	plan = stage_plan(s);
	/* Not when it was planned, so nobody has agreed to lift it. */
	fake_at(&s->fs, "usr/bin/sudo")->attr = CTM_ATTR_IMMUTABLE;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0);
	cr_assert_eq(out.counts.failed, 1);
	cr_assert_eq(out.counts.done, plan.actions.n - 1);
	cr_assert_eq(stage_result(&out, "usr/bin/sudo")->err, EPERM);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, NULL), 0);
	cr_assert_eq(info.status, CTM_RUN_PARTLY);
	cr_assert_eq(info.counts.failed, 1);
	stage_undo(s, NULL);
}

static void count_progress(uint64_t done, uint64_t total, void *arg)
{
	cr_assert_leq(done, total);
	*(uint64_t *)arg = done;
}

Test(repair, progress_reaches_the_end)
{
	STAGE(s);
	TEXT *after = NULL;
	uint64_t last = 0;

	stage_damage(s);
	s->run.progress = count_progress;
	s->run.progress_arg = &last;
	after = stage_repair(s);
	cr_assert_gt(last, 10);
}

Test(repair, user)
{
	char user[64];

	cr_assert_eq(setenv("SUDO_USER", "alice", 1), 0);
	ctm_run_user(user);
	cr_assert_str_eq(user, "alice");
	cr_assert_eq(unsetenv("SUDO_USER"), 0);
	ctm_run_user(user);
	cr_assert_str_neq(user, "");
}

/* One that cannot be made writable keeps its entries as they are, and they are told. */
static const struct {
	const char *name;
	bool received; /* since the plan was made */
	const char *fail_op;
	const char *what;
} subvols[] = {
	{ "received", true, NULL, "made by btrfs receive, left" },
	{ "being sent", false, "subvol", "make writable" },
};

CASES(repair, a_subvolume_that_stays_read_only, subvols)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };

	stage_damage(s);
	stage_subvols(s);
	plan = stage_plan(s);
	fake_at(&s->fs, "home/snap")->received = subvols[*i].received;
	s->fs.fail_op = subvols[*i].fail_op;
	s->fs.fail_with = EPERM;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0, "%s", subvols[*i].name);
	cr_assert_str_eq(stage_result(&out, "home/snap")->what, subvols[*i].what);
	cr_assert(fake_at(&s->fs, "home/snap")->ro_subvol);
	cr_assert_eq(fake_at(&s->fs, "home/snap/sudo")->state.uid.v, 0);
	cr_assert_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, STAGE_BASE);
	cr_assert_eq(fake_at(&s->fs, "home/snap/inner/sudo")->state.uid.v,
		     subvols[*i].fail_op ? 0 : STAGE_BASE, "%s", subvols[*i].name);
	cr_assert(fake_at(&s->fs, "home/snap/inner")->ro_subvol);
}
