/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of records that are not finished: no room to write them, killed at any call, gone on with,
 * taken back.
 */
#include "run/recording.h"

#include <errno.h>
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
#include "run/privileged.h"
#include "run/rest.h"
#include "run/undo.h"
#include "stage.h"

#define PLAN    CLEANUP(stage_plan_done) struct ctm_plan
#define OUTCOME CLEANUP(ctm_outcome_done) struct ctm_outcome
#define TEXT    CLEANUP_FREE char
#define HISTORY CLEANUP(ctm_history_done) struct ctm_history

static const char digest[] = STAGE_DIGEST;

/* The record cannot be written: nothing has changed, and nothing is left of it. */
Test(recording, no_room_for_the_record)
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
		stage_expect(s, before, "no room");
		cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
		cr_assert_eq(history.runs.n, 0);
		cr_assert_eq(s->fs.open, 0);
	}
}

/*
 * The volume cannot be synced at the end: the run has none, and nothing else starts before it does.
 */
Test(recording, an_interrupted_run_comes_first)
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
		after = stage_repair(other);
		calls = other->fs.calls; /* the last one is the sync */
	}
	stage_damage(s);
	want = stage_model(s);
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
	stage_expect(s, want, "resumed");
	cr_assert_eq(ctm_history_unfinished(s->state, "rootfs", name, &err), 0);
}

/*
 * One life of a volume: a run that is killed at a call, then the way on or the way back. In a
 * process of its own, because what a killed process leaves behind in memory nobody frees. Its exit
 * status: 0 all is well, 1 it is not, 2 the run came to its end before that call.
 */
struct life {
	unsigned int at;
	bool torn;
	bool undo_first; /* what is killed is the undo of a repair */
	bool back;
	unsigned int seed; /* 0: stage_damage() */
	bool no_handles;
	bool rewrite; /* in between, all that is the container's then */
};

static int check(struct stage *s, const char *want, const struct life *life, const char *what)
{
	char name[CTM_RUN_NAME_MAX];
	TEXT *now = fake_listing(&s->fs);

	if (ctm_history_unfinished(s->state, "rootfs", name, NULL) != 0) {
		(void)fprintf(stderr, "killed at call %u: %s, but %s is not over\n", life->at, what,
			      name);
		return 1;
	}
	if (strcmp(now, want) == 0) {
		return 0;
	}
	(void)fprintf(stderr, "killed at call %u%s%s%s, seed %u: %s\n%s\nwanted:\n%s\n", life->at,
		      life->torn ? ", torn" : "", life->undo_first ? ", undo" : "",
		      life->back ? ", back" : "", life->seed, what, now, want);
	return 1;
}

static int count_entry(const struct ctm_entry *entry, void *arg)
{
	uint64_t *n = arg;

	(void)entry;
	(*n)++;
	return 0;
}

/* How much a resume will count as done: what it changes and what is marked. -1: an error. */
static int64_t count_rest(struct stage *s, const char *name)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };
	CLEANUP_CLOSE int dir = -1;
	uint64_t n = 0;

	if (ctm_state_run_open(s->state, name, &dir, NULL) < 0 ||
	    ctm_reader_open(dir, &reader, NULL) < 0 ||
	    ctm_run_rest(&fake_ops, &s->fs, reader, count_entry, &n, &out, NULL) < 0 ||
	    ctm_outcome_partial(&out)) {
		return -1;
	}
	for (uint64_t i = 0; i < ctm_reader_seal(reader)->entries; i++) {
		n += ctm_reader_is_done(reader, i);
	}
	return (int64_t)n;
}

/* The newest unfinished run goes on as foretold, then everything is as listed. */
static int go_on(struct stage *s, const char *want, const struct life *life)
{
	struct ctm_outcome out = { 0 };
	struct ctm_err err = { 0 };
	char name[CTM_RUN_NAME_MAX] = "";
	int64_t foretold = -1;

	if (ctm_history_unfinished(s->state, "rootfs", name, &err) == 1) {
		foretold = count_rest(s, name);
	}
	if (foretold < 0 || ctm_repair_resume(&s->run, name, &out, &err) < 0 ||
	    ctm_outcome_partial(&out)) {
		(void)fprintf(stderr, "call %u: %s %s\n", life->at, err.msg,
			      out.results.n ? out.results.v[0].what : "");
		return 1;
	}
	if (out.counts.done != (uint64_t)foretold) {
		(void)fprintf(stderr, "call %u: %lld foretold, %llu done\n", life->at,
			      (long long)foretold, (unsigned long long)out.counts.done);
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

static const char rewritten[] = "the container's";

static void rewrite(struct stage *s)
{
	for (size_t i = 0; i < s->fs.nodes.n; i++) {
		struct fake_node *n = &s->fs.nodes.v[i];

		if (n->state.uid.v >= STAGE_BASE) {
			n->content = fake_bytes(&s->fs, rewritten, sizeof(rewritten) - 1);
			n->ctime.tv_nsec++;
		}
	}
}

/* The run is finished or taken back: nothing that the container wrote lends the host's power. */
static int end_rewritten(struct stage *s, const struct life *life)
{
	struct ctm_outcome out = { 0 };
	struct ctm_err err = { 0 };
	struct ctm_run_info info;
	char name[CTM_RUN_NAME_MAX] = "";
	int r = ctm_history_unfinished(s->state, "rootfs", name, &err);

	rewrite(s);
	if (r == 1 && !life->back) {
		r = ctm_repair_resume(&s->run, name, &out, &err);
	} else if (r >= 0) {
		r = ctm_undo_choose(&s->run, NULL, &info, &err);
		r = r < 0 ? r : ctm_undo(&s->run, info.name, &out, &err);
	}
	if (r < 0) {
		(void)fprintf(stderr, "call %u: %s\n", life->at, err.msg);
		return 1;
	}
	for (size_t i = 0; i < s->fs.nodes.n; i++) {
		const struct fake_node *n = &s->fs.nodes.v[i];

		if (!n->gone && ctm_privileged(&n->state) &&
		    (n->state.uid.v < STAGE_BASE || n->state.gid.v < STAGE_BASE) &&
		    n->content.len == sizeof(rewritten) - 1 &&
		    memcmp(n->content.p, rewritten, n->content.len) == 0) {
			(void)fprintf(stderr, "call %u: %s is %u:%u %o\n", life->at, n->path,
				      n->state.uid.v, n->state.gid.v, n->state.mode);
			return 1;
		}
	}
	return 0;
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
		stage_subvols(s);
	}
	s->fs.no_handles = life->no_handles;
	if (life->rewrite) {
		fake_at(&s->fs, "usr/bin/ping")->holes = 65 << 20;
	}
	before = fake_listing(&s->fs);
	plan = stage_plan(s);
	after = stage_model(s);
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
	if (life->rewrite) {
		return end_rewritten(s, life);
	}
	if (life->undo_first) { /* the same command again finishes it, and so does a resume */
		return life->back ? take_back(s, before, life) : go_on(s, before, life);
	}
	if (life->back) {
		return take_back(s, before, life);
	}
	/* What was finished from its record can be taken back, whichever process did it. */
	return go_on(s, after, life) == 0 ? take_back(s, before, life) : 1;
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
	{ "undo again", { .undo_first = true, .back = true }, 100 },
	{ "without handles", { .no_handles = true, .torn = true }, 130 },
	{ "rewritten, taken back", { .rewrite = true, .back = true }, 130 },
	{ "rewritten, goes on", { .rewrite = true }, 130 },
	{ "rewritten, undo goes on", { .rewrite = true, .undo_first = true }, 100 },
};

CASES(recording, killed_at_every_call, deaths)
{
	struct life life = deaths[*i].life;

	for (life.at = 1; outlive(&life); life.at++) {
	}
	cr_assert_geq(life.at, deaths[*i].calls, "%s: %u calls", deaths[*i].name, life.at);
}

Test(recording, killed_at_random)
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
