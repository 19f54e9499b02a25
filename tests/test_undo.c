/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of taking repairs back, and of taking that back. */
#include "run/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "run/history.h"
#include "stage.h"

#define OUTCOME CLEANUP(ctm_outcome_done) struct ctm_outcome
#define TEXT    CLEANUP_FREE char
#define HISTORY CLEANUP(ctm_history_done) struct ctm_history

Test(undo, repair_undo_redo)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *want = NULL;
	TEXT *after = NULL;
	HISTORY history = { 0 };

	stage_damage(s);
	stage_subvols(s);
	before = fake_listing(&s->fs);
	want = stage_model(s);
	after = stage_repair(s);
	cr_assert_str_eq(after, want);
	stage_undo(s, NULL);
	stage_expect(s, before, "undone");
	stage_undo(s, "2");
	stage_expect(s, after, "redone");
	stage_undo(s, NULL);
	stage_expect(s, before, "the repair counts again, and is undone again");

	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 4);
	cr_expect_eq(history.runs.v[0].status, CTM_RUN_UNDONE);
	cr_expect_str_eq(history.runs.v[0].undone_by, history.runs.v[3].name);
	cr_expect_eq(history.runs.v[0].kind, CTM_RUN_REPAIR);
	cr_expect_eq(history.runs.v[0].removed, 5);
	cr_expect_eq(history.runs.v[0].restored, 0);
	cr_expect_str_eq(history.runs.v[0].user, "tester");
	cr_expect_str_eq(history.runs.v[0].digest, STAGE_DIGEST);
	cr_expect_gt(history.runs.v[0].bytes, 0);
	cr_expect_eq(history.runs.v[1].status, CTM_RUN_UNDONE, "the undo was undone");
	cr_expect_eq(history.runs.v[1].kind, CTM_RUN_UNDO);
	cr_expect_eq(history.runs.v[1].restored, 5);
	cr_expect_str_eq(history.runs.v[1].undoes, history.runs.v[0].name);
	cr_expect_eq(history.runs.v[2].status, CTM_RUN_DONE);
	cr_expect_eq(history.runs.v[2].removed, 5);
	cr_expect_eq(history.runs.v[3].status, CTM_RUN_DONE);
}

/* Who made it writable in the meantime wants it so; who made it read-only does as well. */
Test(undo, a_subvolume_stays_as_somebody_left_it)
{
	STAGE(s);
	TEXT *after = NULL;

	stage_damage(s);
	stage_subvols(s);
	after = stage_repair(s);
	cr_assert(fake_at(&s->fs, "home/snap")->ro_subvol);
	fake_at(&s->fs, "home/snap")->ro_subvol = false;
	stage_undo(s, NULL);
	cr_assert_not(fake_at(&s->fs, "home/snap")->ro_subvol);
	cr_assert(fake_at(&s->fs, "home/snap/inner")->ro_subvol);
	cr_assert_eq(fake_at(&s->fs, "home/snap/sudo")->state.uid.v, 0);
}

Test(undo, random_trees)
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
		want = stage_model(s);
		after = stage_repair(s);
		cr_assert_str_eq(after, want, "round %u", round);
		if (strcmp(before, after) != 0) {
			stage_undo(s, NULL);
			stage_expect(s, before, "undone");
			stage_undo(s, "2");
			stage_expect(s, after, "redone");
		}
	}
}

/* The container ran in between: only what it did not touch goes back, each other entry is told. */
Test(undo, undo_after_changes)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	stage_damage(s);
	after = stage_repair(s);
	fake_at(&s->fs, "usr/bin/sudo")->state.mode = S_IFREG | 0755;
	fake_at(&s->fs, "usr/bin/ping")->gone = true;
	(void)fake_add(&s->fs, "var/lib/dpkg/lock", S_IFREG | 0640, STAGE_BASE, STAGE_BASE);
	fake_at(&s->fs, "var/partial")->mtime.tv_sec = 77777;
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s", err.msg);
	cr_expect_eq(out.counts.conflicts, 3);
	cr_expect_str_eq(stage_result(&out, "usr/bin/sudo")->what, "changed");
	cr_expect_str_eq(stage_result(&out, "usr/bin/ping")->what, "gone");
	cr_expect_str_eq(stage_result(&out, "var/lib/dpkg/lock")->what, "in the way");
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, STAGE_BASE);
	cr_expect_eq(fake_at(&s->fs, "etc/shadow")->state.uid.v, 42);
	cr_expect_not_null(fake_at(&s->fs, "var/partial/a.deb"));
	cr_expect_eq(fake_at(&s->fs, "var/partial")->mtime.tv_sec, 77777, "the container's own");
}

/* A second repair that could do nothing does not stand in the way of the first one's undo. */
Test(undo, a_run_that_changed_nothing)
{
	STAGE(s);
	struct ctm_plan plan;
	OUTCOME first = { 0 };
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	stage_damage(s);
	plan = stage_plan(s);
	cr_assert_eq(ctm_repair(&s->run, &plan, STAGE_DIGEST, &first, &err), 0, "%s", err.msg);
	stage_plan_done(&plan);
	fake_at(&s->fs, "usr/bin/vi")->state.uid.v = 0;
	plan = stage_plan(s);
	fake_at(&s->fs, "usr/bin/vi")->attr = CTM_ATTR_IMMUTABLE;
	cr_assert_eq(ctm_repair(&s->run, &plan, STAGE_DIGEST, &out, &err), 0, "%s", err.msg);
	stage_plan_done(&plan);
	cr_assert_str_neq(out.run, first.run);
	cr_assert_eq(out.counts.done, 0);
	cr_assert_eq(out.counts.failed, 1);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	cr_assert_str_eq(info.name, first.run);
	cr_assert_eq(ctm_undo_choose(&s->run, out.run, &info, &err), 0);
	cr_assert_str_eq(info.name, out.run, "it can be named");
}

static void undo_part(struct stage *s, const char *path, uint64_t *ret_done)
{
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	s->run.paths = &path;
	s->run.n_paths = 1;
	s->run.part = "a part";
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s", err.msg);
	cr_assert_not(ctm_outcome_partial(&out));
	s->run.paths = NULL;
	s->run.n_paths = 0;
	s->run.part = NULL;
	*ret_done = out.counts.done;
}

static enum ctm_run_status status_of_first(struct stage *s, size_t runs)
{
	HISTORY history = { 0 };

	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, runs);
	return history.runs.v[0].status;
}

Test(undo, a_part_and_then_the_rest)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *after = NULL;
	uint64_t done;

	stage_damage(s);
	before = fake_listing(&s->fs);
	after = stage_repair(s);
	undo_part(s, "var/partial", &done);
	cr_expect_eq(done, 2, "two files came back, their directory was right");
	cr_expect_not(fake_at(&s->fs, "var/partial/a.deb")->gone);
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, STAGE_BASE);
	cr_expect_eq(status_of_first(s, 2), CTM_RUN_PARTLY_UNDONE);
	undo_part(s, "usr/bi", &done);
	cr_expect_eq(done, 0, "a name is no beginning of another");
	cr_expect_eq(status_of_first(s, 2), CTM_RUN_PARTLY_UNDONE);
	stage_undo(s, NULL);
	stage_expect(s, before, "the rest");
	cr_expect_eq(status_of_first(s, 3), CTM_RUN_UNDONE);
	stage_undo(s, "3");
	stage_undo(s, "2");
	stage_expect(s, after, "both parts again");
	cr_expect_eq(status_of_first(s, 5), CTM_RUN_DONE);
}

/* When nothing is left of it, undo goes on to the run before all the same. */
Test(undo, all_parts)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *after = NULL;
	struct ctm_run_info info;
	uint64_t done;

	stage_damage(s);
	before = fake_listing(&s->fs);
	after = stage_repair(s);
	undo_part(s, "", &done);
	stage_expect(s, before, "the part is the whole");
	cr_expect_eq(status_of_first(s, 2), CTM_RUN_PARTLY_UNDONE);
	stage_undo(s, NULL);
	cr_expect_eq(status_of_first(s, 3), CTM_RUN_UNDONE);
	cr_expect_eq(ctm_undo_choose(&s->run, NULL, &info, NULL), -EPERM);
}

/* An undo of which something failed is tried again by the same command. */
Test(undo, tried_again)
{
	STAGE(s);
	TEXT *before = NULL;
	OUTCOME out = { 0 };
	OUTCOME again = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };
	char run[CTM_RUN_NAME_MAX];

	stage_damage(s);
	before = fake_listing(&s->fs);
	free(stage_repair(s));
	fake_at(&s->fs, "usr/bin/vi")->attr = CTM_ATTR_IMMUTABLE;
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	memcpy(run, info.name, sizeof(run));
	cr_assert_eq(ctm_undo(&s->run, run, &out, &err), 0, "%s", err.msg);
	cr_assert_eq(out.counts.failed, 1);
	fake_at(&s->fs, "usr/bin/vi")->attr = 0;
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0, "%s", err.msg);
	cr_assert_str_eq(info.name, run);
	cr_assert_eq(ctm_undo(&s->run, run, &again, &err), 0, "%s", err.msg);
	cr_assert_not(ctm_outcome_partial(&again));
	stage_expect(s, before, "tried again");
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), -EPERM, "it is undone now");
}

static int count_entries(const struct ctm_entry *entry, void *arg)
{
	unsigned int *n = arg;

	cr_assert_neq(entry->ref.path, NULL);
	(*n)++;
	return 0;
}

Test(undo, showing_an_undo_changes_nothing)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	unsigned int n = 0;

	stage_damage(s);
	after = stage_repair(s);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, NULL), 0);
	cr_assert_eq(ctm_undo_plan(&s->run, info.name, count_entries, &n, &out, NULL), 0);
	cr_assert_eq(n, info.set + info.removed);
	stage_expect(s, after, "shown");
}

Test(undo, nothing_to_undo)
{
	STAGE(s);
	TEXT *after = NULL;
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
	stage_damage(s);
	after = stage_repair(s);
	stage_undo(s, NULL);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), -EPERM);
	cr_assert_eq(ctm_undo_choose(&s->run, "9", &info, &err), -ENOENT);
	s->run.volume = "mp0";
	cr_assert_eq(ctm_undo_choose(&s->run, "1", &info, &err), -EPERM, "another volume's run");
	s->run.volume = NULL;
	cr_assert_eq(ctm_undo_choose(&s->run, "1", &info, &err), 0, "of any volume");
	cr_assert_str_eq(info.volume, "rootfs");
}

/* --- content of privileged files -------------------------------------------------------------- */

static void undo_leaves(struct stage *s, const char *typed, uint64_t left)
{
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_undo_choose(&s->run, typed, &info, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s", err.msg);
	cr_expect_eq(out.counts.conflicts, left);
	for (size_t i = 0; i < out.results.n; i++) {
		cr_expect_str_eq(out.results.v[i].what, "changed", "%s", out.results.v[i].path);
	}
	cr_assert_eq(s->fs.open, 0);
}

static void write_to(struct stage *s, const char *path, const char *content)
{
	fake_at(&s->fs, path)->content = fake_bytes(&s->fs, content, strlen(content));
}

/* Owner, mode and capability as the repair left them: the container's root can see to that. */
Test(undo, a_rewritten_program_is_left)
{
	static const char *const paths[] = { "usr/bin/sudo", "usr/bin/wall", "usr/bin/ping" };
	STAGE(s);
	TEXT *after = NULL;

	stage_damage(s);
	after = stage_repair(s);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		write_to(s, paths[i], "the container's");
	}
	write_to(s, "etc/shadow", "the container's, too");
	undo_leaves(s, NULL, ARRAY_LEN(paths));
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		cr_expect_geq(fake_at(&s->fs, paths[i])->state.uid.v, STAGE_BASE, "%s", paths[i]);
	}
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.mode, S_IFREG | 04755);
	cr_expect_eq(fake_at(&s->fs, "etc/shadow")->state.uid.v, 42, "lends nobody power");
}

Test(undo, a_program_rewritten_between_undo_and_redo_is_left)
{
	STAGE(s);
	TEXT *after = NULL;

	stage_damage(s);
	after = stage_repair(s);
	stage_undo(s, NULL);
	write_to(s, "usr/bin/sudo", "another");
	undo_leaves(s, "2", 1);
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, 0);
	write_to(s, "usr/bin/sudo", "");
	stage_undo(s, NULL);
}

/* What was not read is known by its ctime: through undo and redo. */
Test(undo, a_large_program_goes_back_and_forth)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *after = NULL;

	stage_damage(s);
	fake_at(&s->fs, "usr/bin/sudo")->holes = 65 << 20;
	before = fake_listing(&s->fs);
	after = stage_repair(s);
	stage_undo(s, NULL);
	stage_expect(s, before, "undone");
	stage_undo(s, "2");
	stage_expect(s, after, "redone");
	stage_undo(s, "3");
	stage_expect(s, before, "undone again");
}

/* whether the repair was undone, and it is the undo that is to be taken back */
static const bool large_moves[] = { false, true };

CASES(undo, a_large_program_that_was_touched_is_left, large_moves)
{
	const bool undone = large_moves[*i];
	STAGE(s);
	TEXT *after = NULL;

	stage_damage(s);
	fake_at(&s->fs, "usr/bin/sudo")->holes = 65 << 20;
	after = stage_repair(s);
	if (undone) {
		stage_undo(s, NULL);
	}
	fake_at(&s->fs, "usr/bin/sudo")->ctime.tv_nsec++;
	undo_leaves(s, undone ? "2" : NULL, 1);
	cr_expect_eq(fake_at(&s->fs, "usr/bin/sudo")->state.uid.v, undone ? 0 : STAGE_BASE);
}

/* --- inodes that a later run removed ---------------------------------------------------------- */

/* A repair that cures the owner of locks and leftovers, and one that removes them. */
static void two_repairs(struct stage *s, char **ret_before, char **ret_between)
{
	CLEANUP(stage_plan_done) struct ctm_plan plan = { 0 };
	OUTCOME out = { 0 };

	stage_damage(s);
	s->fs.nodes.v[0].state.uid.v = 0;
	*ret_before = fake_listing(&s->fs);
	s->keep = true;
	*ret_between = stage_repair(s);
	s->keep = false;
	plan = stage_plan(s);
	cr_assert_eq(ctm_repair(&s->run, &plan, STAGE_DIGEST, &out, NULL), 0);
	cr_assert_eq(out.counts.done, 3);
}

static const struct {
	const char *name;
	bool no_handles;
} volumes[] = {
	{ "handles", false },
	{ "no handles", true },
};

CASES(undo, both_repairs, volumes)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *between = NULL;
	TEXT *after = NULL;

	s->fs.no_handles = volumes[*i].no_handles;
	two_repairs(s, &before, &between);
	after = fake_listing(&s->fs);
	stage_undo(s, NULL);
	stage_expect(s, between, "the second");
	stage_undo(s, NULL);
	stage_expect(s, before, "both");
	/* by way of inodes that came and went in between */
	stage_undo(s, "4");
	stage_expect(s, between, "the first again");
	stage_undo(s, "3");
	stage_expect(s, after, "both again");
	stage_undo(s, NULL);
	stage_undo(s, NULL);
	stage_expect(s, before, "both undone again");
}

Test(undo, the_first_of_both_repairs_first)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *between = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	two_repairs(s, &before, &between);
	cr_assert_eq(ctm_undo_choose(&s->run, "1", &info, &err), 0);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s", err.msg);
	cr_expect_eq(out.counts.conflicts, 0);
	cr_expect_eq(out.counts.failed, 3);
	cr_assert_eq(strncmp(stage_result(&out, "var/lib/dpkg/lock")->what, "removed by run 0002-",
			     20),
		     0, "%s", stage_result(&out, "var/lib/dpkg/lock")->what);
	stage_undo(s, NULL);
	stage_undo(s, NULL);
	stage_expect(s, before, "the second, then the first");
	cr_expect_eq(ctm_undo_choose(&s->run, NULL, &info, &err), -EPERM);
}

/* Somebody else's file of the same name is not what the record is about. */
Test(undo, a_stranger_is_no_successor)
{
	STAGE(s);
	TEXT *before = NULL;
	TEXT *between = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	two_repairs(s, &before, &between);
	stage_undo(s, NULL);
	fake_at(&s->fs, "var/lib/dpkg/lock")->gone = true;
	(void)fake_add(&s->fs, "var/lib/dpkg/lock", S_IFREG | 0640, STAGE_BASE, STAGE_BASE);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), 0, "%s", err.msg);
	cr_expect_eq(out.counts.conflicts, 1);
	cr_expect_str_eq(stage_result(&out, "var/lib/dpkg/lock")->what, "gone");
	cr_expect_eq(fake_at(&s->fs, "var/lib/dpkg/lock")->state.uid.v, STAGE_BASE);
}

static const struct {
	const char *name;
	bool map; /* else the volume is another one */
} others[] = {
	{ "another volume", false },
	{ "another map", true },
};

CASES(undo, undo_elsewhere_is_refused, others)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };

	stage_damage(s);
	after = stage_repair(s);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	if (others[*i].map) {
		const struct ctm_range more = { .ct = 70000, .disk = 300000, .len = 5 };

		cr_assert_eq(ctm_idmap_add(s->map, CTM_UID, more), 0);
	} else {
		s->identity.root_ino = 5;
	}
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), -EPERM, "%s", others[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", others[*i].name);
	stage_expect(s, after, others[*i].name);
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
CASES(undo, undo_of_a_damaged_record, damaged_files)
{
	STAGE(s);
	TEXT *after = NULL;
	OUTCOME out = { 0 };
	struct ctm_run_info info;
	struct ctm_err err = { 0 };
	HISTORY history = { 0 };

	stage_damage(s);
	after = stage_repair(s);
	cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0);
	flip(s, info.name, damaged_files[*i], 600);
	cr_assert_eq(ctm_undo(&s->run, info.name, &out, &err), -EBADMSG, "%s", damaged_files[*i]);
	cr_assert_eq(err.code, CTM_CORRUPT, "%s", damaged_files[*i]);
	stage_expect(s, after, damaged_files[*i]);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 1, "nothing is left of the undo");
	cr_assert_eq(history.runs.v[0].status == CTM_RUN_DAMAGED, *i == 0);
}
