/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of whole runs on a volume in memory: repair, undo, redo, and every way to be interrupted. */
#include "run/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "run/history.h"
#include "run/undo.h"
#include "stage.h"

#define PLAN    CLEANUP(stage_plan_done) struct ctm_plan
#define OUTCOME CLEANUP(ctm_outcome_done) struct ctm_outcome
#define TEXT    CLEANUP_FREE char
#define HISTORY CLEANUP(ctm_history_done) struct ctm_history

static const char digest[] = "00112233445566778899aabbccddeeff";

/* Repairs what is wrong now; the volume after it. */
static char *repair(struct stage *s)
{
	PLAN plan = stage_plan(s);
	OUTCOME out = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, &err), 0, "%s", err.msg);
	cr_assert_not(ctm_outcome_partial(&out));
	cr_assert_eq(out.counts.done, plan.actions.n);
	return fake_listing(&s->fs);
}

static void undo(struct stage *s, const char *typed)
{
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_undo_choose(&s->run, typed, &info, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s", err.msg);
	cr_assert_not(ctm_outcome_partial(&out), "%s: %s", out.results.v[0].path,
		      out.results.v[0].what);
	cr_assert_eq(s->fs.open, 0);
}

static void expect_listing(struct stage *s, const char *want, const char *when)
{
	TEXT *now = fake_listing(&s->fs);

	cr_assert_str_eq(now, want, "%s:\n%s\nwanted:\n%s", when, now, want);
}

/* The listing that a repair should end in, computed beside it. */
static char *model(struct stage *s)
{
	PLAN plan = stage_plan(s);
	struct fakefs copy = s->fs;
	char *listing;

	/* Nodes are plain; only the array is copied. */
	copy.nodes.v = calloc(copy.nodes.n, sizeof(*copy.nodes.v));
	memcpy(copy.nodes.v, s->fs.nodes.v, copy.nodes.n * sizeof(*copy.nodes.v));
	for (size_t i = 0; i < plan.actions.n; i++) {
		struct fake_node *n = fake_at(&copy, plan.actions.v[i].path);

		if (plan.actions.v[i].kind == CTM_ACT_REMOVE) {
			n->gone = true;
		} else {
			n->state = plan.actions.v[i].after;
		}
	}
	listing = fake_listing(&copy);
	free(copy.nodes.v);
	return listing;
}

Test(repair, repair_undo_redo)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *want = NULL;
	TEXT *after = NULL;
	HISTORY history = { 0 };

	stage_damage(s);
	before = fake_listing(&s->fs);
	want = model(s);
	after = repair(s);
	cr_assert_str_eq(after, want);
	undo(s, NULL);
	expect_listing(s, before, "undone");
	undo(s, "2");
	expect_listing(s, after, "redone");
	undo(s, NULL);
	expect_listing(s, before, "the repair counts again, and is undone again");

	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 4);
	cr_expect_eq(history.runs.v[0].status, CTM_RUN_UNDONE);
	cr_expect_str_eq(history.runs.v[0].undone_by, history.runs.v[3].name);
	cr_expect_eq(history.runs.v[0].kind, CTM_RUN_REPAIR);
	cr_expect_eq(history.runs.v[0].removed, 3);
	cr_expect_eq(history.runs.v[0].restored, 0);
	cr_expect_str_eq(history.runs.v[0].user, "tester");
	cr_expect_str_eq(history.runs.v[0].digest, digest);
	cr_expect_gt(history.runs.v[0].bytes, 0);
	cr_expect_eq(history.runs.v[1].status, CTM_RUN_UNDONE, "the undo was undone");
	cr_expect_eq(history.runs.v[1].kind, CTM_RUN_UNDO);
	cr_expect_eq(history.runs.v[1].restored, 3);
	cr_expect_str_eq(history.runs.v[1].undoes, history.runs.v[0].name);
	cr_expect_eq(history.runs.v[2].status, CTM_RUN_DONE);
	cr_expect_eq(history.runs.v[2].removed, 3);
	cr_expect_eq(history.runs.v[3].status, CTM_RUN_DONE);
}

Test(repair, twice_does_nothing)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	HISTORY history = { 0 };
	PLAN plan = { 0 };

	stage_damage(s);
	after = repair(s);
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
	after = repair(s);
	log = s->fs.log.p;
	root = line_of(log, "chown '' ");
	cr_expect_lt(line_of(log, "unlink 'var/lib/dpkg/lock'"), line_of(log, "chown '"));
	cr_expect_lt(line_of(log, "unlink 'var/partial/b"), line_of(log, "mtime 'var/partial'"));
	cr_expect_lt(line_of(log, "mtime 'var/partial'"), line_of(log, "chown '"));
	cr_expect_null(strstr(log + root + 1, "chown"), "the root comes last");
	cr_expect_lt(root, line_of(log, "sync"));
}

/* --- killed --- */

/*
 * One life of a volume: a run that is killed at a call, then the way on or the way back. In a process of its own,
 * because what a killed process leaves behind in memory nobody frees. Its exit status: 0 all is well, 1 it is
 * not, 2 the run came to its end before that call.
 */
struct life {
	unsigned int at;
	bool torn;
	bool undo_first; /* what is killed is the undo of a repair */
	bool back;
	unsigned int seed; /* 0: stage_damage() */
	bool no_handles;
};

static int check(struct stage *s, const char *want, const struct life *life, const char *what)
{
	TEXT *now = fake_listing(&s->fs);

	if (strcmp(now, want) == 0) {
		return 0;
	}
	(void)fprintf(stderr, "killed at call %u%s%s%s, seed %u: %s\n%s\nwanted:\n%s\n", life->at,
		      life->torn ? ", torn" : "", life->undo_first ? ", undo" : "",
		      life->back ? ", back" : "", life->seed, what, now, want);
	return 1;
}

/* The newest unfinished run goes on, then everything is as listed. */
static int go_on(struct stage *s, const char *want, const struct life *life)
{
	struct ctm_outcome out = { 0 };
	struct ctm_err err = { 0 };
	char name[CTM_RUN_NAME_MAX];

	if (ctm_history_unfinished(s->state, "rootfs", name, &err) != 1 ||
	    ctm_repair_resume(&s->run, name, &out, &err) < 0 || ctm_outcome_partial(&out)) {
		(void)fprintf(stderr, "call %u: %s %s\n", life->at, err.msg,
			      out.results.n ? out.results.v[0].what : "");
		return 1;
	}
	return check(s, want, life, "resumed");
}

static int take_back(struct stage *s, const char *want, const struct life *life)
{
	struct ctm_outcome out = { 0 };
	struct ctm_err err = { 0 };
	struct ctm_run_info info;

	if (ctm_undo_choose(&s->run, NULL, &info, &err) < 0 ||
	    ctm_undo(&s->run, info.name, &out, &err) < 0 || ctm_outcome_partial(&out)) {
		(void)fprintf(stderr, "call %u: %s %s\n", life->at, err.msg,
			      out.results.n ? out.results.v[0].what : "");
		return 1;
	}
	return check(s, want, life, "taken back");
}

static int live(struct stage *s, const struct life *life)
{
	struct ctm_outcome out = { 0 };
	struct ctm_history history = { 0 };
	struct ctm_run_info info;
	struct ctm_plan plan;
	unsigned int seed = life->seed;
	char *before;
	char *after;
	jmp_buf die;
	size_t runs;

	if (seed != 0) {
		stage_random(s, &seed, 25);
	} else {
		stage_damage(s);
	}
	s->fs.no_handles = life->no_handles;
	before = fake_listing(&s->fs);
	plan = stage_plan(s);
	after = model(s);
	if (life->undo_first && (ctm_repair(&s->run, &plan, digest, &out, NULL) < 0 ||
				 ctm_undo_choose(&s->run, NULL, &info, NULL) < 0)) {
		return 1;
	}
	runs = life->undo_first ? 1 : 0;
	s->fs.fail_at = s->fs.calls + life->at;
	s->fs.torn_chown = life->torn;
	s->fs.die = &die;
	if (setjmp(die) == 0) {
		(void)(life->undo_first ? ctm_undo(&s->run, info.name, &out, NULL) :
					  ctm_repair(&s->run, &plan, digest, &out, NULL));
		return 2;
	}
	s->fs.die = NULL;
	stage_restart(s);
	if (ctm_history_read(s->state, &history, NULL) < 0) {
		return 1;
	}
	if (history.runs.n == runs) { /* nothing was sealed: nothing has changed */
		return check(s, life->undo_first ? after : before, life, "not sealed");
	}
	if (life->undo_first) {
		return go_on(s, before, life);
	}
	return life->back ? take_back(s, before, life) : go_on(s, after, life);
}

/* Whether there was still a call to be killed at. */
static bool outlive(const struct life *life)
{
	STAGE(s);
	int status;
	pid_t pid;

	(void)fflush(NULL);
	ctm_state_free(s->state); /* else its lock would live in both */
	s->state = NULL;
	pid = fork();
	if (pid == 0) {
		stage_restart(s);
		_exit(live(s, life));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "call %u: signal %d", life->at, WTERMSIG(status));
	cr_assert_neq(WEXITSTATUS(status), 1, "call %u, see above", life->at);
	return WEXITSTATUS(status) == 0;
}

static const struct {
	const char *name;
	struct life life;
	unsigned int calls; /* at least as many */
} deaths[] = {
	{ "goes on", { .torn = false }, 130 },
	{ "goes on, torn", { .torn = true }, 130 },
	{ "back", { .back = true }, 130 },
	{ "back, torn", { .back = true, .torn = true }, 130 },
	{ "undo goes on", { .undo_first = true, .torn = true }, 100 },
	{ "without handles", { .no_handles = true, .torn = true }, 130 },
};

CASES(repair, killed_at_every_call, deaths)
{
	struct life life = deaths[*i].life;

	for (life.at = 1; outlive(&life); life.at++) {
	}
	cr_assert_geq(life.at, deaths[*i].calls, "%s: %u calls", deaths[*i].name, life.at);
}

Test(repair, killed_at_random)
{
	for (unsigned int seed = 1; seed <= 100; seed++) {
		struct life life = {
			.at = 1 + seed * 7919 % 300,
			.torn = seed & 1,
			.back = seed & 2,
			.undo_first = seed % 5 == 0,
			.seed = seed,
		};

		(void)outlive(&life);
	}
}

/* --- random trees --- */

Test(repair, random_trees)
{
	for (unsigned int round = 1; round <= 60; round++) {
		STAGE(s);
		TEXT *before = NULL;
		TEXT *want = NULL;
		TEXT *after = NULL;
		unsigned int seed = round;

		stage_random(s, &seed, round);
		s->fs.no_handles = round % 4 == 0;
		before = fake_listing(&s->fs);
		want = model(s);
		after = repair(s);
		cr_assert_str_eq(after, want, "round %u", round);
		if (strcmp(before, after) != 0) {
			undo(s, NULL);
			expect_listing(s, before, "undone");
			undo(s, "2");
			expect_listing(s, after, "redone");
		}
	}
}

/* --- what others did --- */

static const struct ctm_result *result_at(const struct ctm_outcome *out, const char *path)
{
	for (size_t i = 0; i < out->results.n; i++) {
		if (strcmp(out->results.v[i].path, path) == 0) {
			return &out->results.v[i];
		}
	}
	return NULL;
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
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0);
	cr_assert(ctm_outcome_partial(&out));
	cr_expect_eq(out.counts.conflicts, 5);
	cr_expect_eq(out.counts.already, 1);
	cr_expect_eq(out.counts.done, plan.actions.n - 6);
	cr_expect_str_eq(result_at(&out, "usr/bin/sudo")->what, "changed");
	cr_expect_str_eq(result_at(&out, "usr/bin/ping")->what, "gone");
	cr_expect_str_eq(result_at(&out, "etc/shadow")->what, "gone");
	cr_expect_str_eq(result_at(&out, "var/partial/a.deb")->what, "changed");
	cr_expect_str_eq(result_at(&out, "var/lib/dpkg/lock")->what, "changed");
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, 0);
	cr_expect_not_null(fake_at(&s->fs, "var/lib/dpkg/lock"));
}

/* The container ran in between: only what it did not touch goes back, each other entry is told. */
Test(repair, undo_after_changes)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	stage_damage(s);
	after = repair(s);
	fake_at(&s->fs, "usr/bin/sudo")->state.mode = S_IFREG | 0755;
	fake_at(&s->fs, "usr/bin/ping")->gone = true;
	(void)fake_add(&s->fs, "var/lib/dpkg/lock", S_IFREG | 0640, STAGE_BASE, STAGE_BASE);
	fake_at(&s->fs, "var/partial")->mtime.tv_sec = 77777;
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s", err.msg);
	cr_expect_eq(out.counts.conflicts, 3);
	cr_expect_str_eq(result_at(&out, "usr/bin/sudo")->what, "changed");
	cr_expect_str_eq(result_at(&out, "usr/bin/ping")->what, "gone");
	cr_expect_str_eq(result_at(&out, "var/lib/dpkg/lock")->what, "in the way");
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, STAGE_BASE);
	cr_expect_eq(fake_at(&s->fs, "etc/shadow")->state.uid.v, 42);
	cr_expect_not_null(fake_at(&s->fs, "var/partial/a.deb"));
	cr_expect_eq(fake_at(&s->fs, "var/partial")->mtime.tv_sec, 77777, "the container's own");
}

static int count_entries(const struct ctm_entry *entry, void *arg)
{
	unsigned int *n = arg;

	cr_assert_neq(entry->ref.path, NULL);
	(*n)++;
	return 0;
}

Test(repair, showing_an_undo_changes_nothing)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	unsigned int n = 0;

	stage_damage(s);
	after = repair(s);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, NULL), 0);
	cr_assert_eq(ctm_undo_plan(&s->run, info.name, count_entries, &n, &out, NULL), 0);
	cr_assert_eq(n, info.set + info.removed);
	expect_listing(s, after, "shown");
}

/* --- refusals --- */

Test(repair, nothing_to_undo)
{
	STAGE(s);
	TEXT *after = NULL;
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
	stage_damage(s);
	after = repair(s);
	undo(s, NULL);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), -EPERM);
	cr_assert_eq(ctm_undo_choose(&s->run, "9", &info, &err), -ENOENT);
	s->run.volume = "mp0";
	cr_assert_eq(ctm_undo_choose(&s->run, "1", &info, &err), -EPERM, "another volume's run");
}

static const struct {
	const char *name;
	bool map; /* else the volume is another one */
} others[] = {
	{ "another volume", false },
	{ "another map", true },
};

CASES(repair, undo_elsewhere_is_refused, others)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	stage_damage(s);
	after = repair(s);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	if (others[*i].map) {
		const struct ctm_range more = { .ct = 70000, .disk = 300000, .len = 5 };

		cr_assert_eq(ctm_idmap_add(s->map, CTM_UID, more), 0);
	} else {
		s->identity.root_ino = 5;
	}
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), -EPERM, "%s", others[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", others[*i].name);
	expect_listing(s, after, others[*i].name);
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
	expect_listing(s, before, "refused");
}

static void flip(struct stage *s, const char *run, const char *file, off_t at)
{
	CLEANUP_CLOSE int dir = -1;
	CLEANUP_CLOSE int fd = -1;
	unsigned char c;

	cr_assert_eq(ctm_state_run_open(s->state, run, &dir, NULL), 0);
	fd = openat(dir, file, O_RDWR);
	cr_assert_eq(pread(fd, &c, 1, at), 1);
	c ^= 1;
	cr_assert_eq(pwrite(fd, &c, 1, at), 1);
}

static const char *const damaged_files[] = { "journal", "removed.tar" };

/* Refused as a whole, before anything of the volume changes. */
CASES(repair, undo_of_a_damaged_record, damaged_files)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };
	HISTORY history = { 0 };

	stage_damage(s);
	after = repair(s);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	flip(s, info.name, damaged_files[*i], 600);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), -EBADMSG, "%s", damaged_files[*i]);
	cr_assert_eq(err.code, CTM_CORRUPT, "%s", damaged_files[*i]);
	expect_listing(s, after, damaged_files[*i]);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 1, "nothing is left of the undo");
	cr_assert_eq(history.runs.v[0].status == CTM_RUN_DAMAGED, *i == 0);
}

/* --- full disks and failing calls --- */

/* The record cannot be written: nothing has changed, and nothing is left of it. */
Test(repair, no_room_for_the_record)
{
	for (rlim_t room = 100; room < 3000; room += 97) {
		STAGE(s);
		PLAN plan = { 0 };
		OUTCOME out = { 0 };
		HISTORY history = { 0 };
		TEXT *before = NULL;
		struct ctm_err err = { 0 };
		struct rlimit limit = { .rlim_cur = room, .rlim_max = RLIM_INFINITY };
		int r;

		(void)signal(SIGXFSZ, SIG_IGN);
		stage_damage(s);
		before = fake_listing(&s->fs);
		plan = stage_plan(s);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		r = ctm_repair(&s->run, &plan, digest, &out, &err);
		limit.rlim_cur = RLIM_INFINITY;
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		cr_assert_eq(r, -EFBIG, "%ju bytes: %s", (uintmax_t)room, err.msg);
		cr_assert_not_null(strstr(err.msg, "nothing was changed"), "%s", err.msg);
		expect_listing(s, before, "no room");
		cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
		cr_assert_eq(history.runs.n, 0);
		cr_assert_eq(s->fs.open, 0);
	}
}

/* A call fails, once: that entry is told, all others are done. */
Test(repair, one_call_fails)
{
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
			return;
		}
		cr_assert(r < 0 || out.counts.failed == 1, "call %u: %s", at, err.msg);
		cr_assert(r < 0 || out.counts.done + 1 >= plan.actions.n, "call %u", at);
	}
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
	fake_at(&s->fs, "usr/bin/sudo")->attr = 1;
	plan = stage_plan(s);
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, NULL), 0);
	cr_assert_eq(out.counts.failed, 1);
	cr_assert_eq(out.counts.done, plan.actions.n - 1);
	cr_assert_eq(result_at(&out, "usr/bin/sudo")->err, EPERM);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, NULL), 0);
	cr_assert_eq(info.status, CTM_RUN_PARTLY);
	cr_assert_eq(info.counts.failed, 1);
	undo(s, NULL);
}

/* The volume cannot be synced at the end: the run has none, and nothing else starts before it does. */
Test(repair, an_interrupted_run_comes_first)
{
	STAGE(s);
	PLAN plan = { 0 };
	OUTCOME out = { 0 };
	OUTCOME again = { 0 };
	TEXT *want = NULL;
	struct ctm_err err = { 0 };
	char name[CTM_RUN_NAME_MAX];
	unsigned int calls;

	{
		STAGE(other);
		TEXT *after = NULL;

		stage_damage(other);
		after = repair(other);
		calls = other->fs.calls; /* the last one is the sync */
	}
	stage_damage(s);
	want = model(s);
	plan = stage_plan(s);
	s->fs.fail_at = calls;
	s->fs.fail_with = EIO;
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &out, &err), -EIO);
	cr_assert_not_null(strstr(err.msg, "sync"), "%s", err.msg);
	cr_assert_eq(ctm_repair(&s->run, &plan, digest, &again, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_eq(ctm_history_unfinished(s->state, "rootfs", name, &err), 1);
	cr_assert_str_eq(name, out.run);
	cr_assert_eq(ctm_history_unfinished(s->state, "mp0", name, &err), 0);
	cr_assert_eq(ctm_repair_resume(&s->run, name, &again, &err), 0, "%s", err.msg);
	expect_listing(s, want, "resumed");
	cr_assert_eq(ctm_history_unfinished(s->state, "rootfs", name, &err), 0);
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
	after = repair(s);
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
