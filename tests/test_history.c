/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what the list of runs says of them. */
#include "run/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "cases.h"
#include "run/undo.h"
#include "stage.h"

#define TEXT    CLEANUP_FREE char
#define OUTCOME CLEANUP(ctm_outcome_done) struct ctm_outcome
#define HISTORY CLEANUP(ctm_history_done) struct ctm_history

Test(history, none)
{
	STAGE(s);
	HISTORY history = { 0 };
	char name[CTM_RUN_NAME_MAX];

	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 0);
	cr_assert_eq(ctm_history_unfinished(s->state, "rootfs", name, NULL), 0);
}

/* The files' own sizes, from stat(1)'s blocks. */
static uint64_t bytes_of(struct stage *s, const char *run)
{
	uint64_t n = 0;
	static const char *const files[] = { "journal", "removed.tar", "restore.tar" };

	for (size_t i = 0; i < 3; i++) {
		char path[200];
		struct stat st;

		(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/%s/%s", run, files[i]);
		if (fstatat(s->dir.fd, path, &st, 0) == 0) {
			n += (uint64_t)st.st_blocks * 512;
		}
	}
	return n;
}

Test(history, what_a_run_was)
{
	STAGE(s);
	HISTORY history = { 0 };
	TEXT *after = NULL;
	const struct ctm_run_info *info;

	stage_damage(s);
	after = stage_repair(s);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 1);
	info = &history.runs.v[0];
	cr_expect_eq(info->status, CTM_RUN_DONE);
	cr_expect_eq(info->kind, CTM_RUN_REPAIR);
	cr_expect_str_eq(info->user, "tester");
	cr_expect_str_eq(info->volume, "rootfs");
	cr_expect_str_eq(info->digest, STAGE_DIGEST);
	cr_expect_eq(strncmp(info->version, ctm_version, sizeof(info->version) - 1), 0);
	cr_expect_eq(info->removed, 3);
	cr_expect_eq(info->set + info->removed, info->counts.done);
	cr_expect_eq(info->bytes, bytes_of(s, info->name));
	cr_expect_gt(info->bytes, 0);
	cr_expect_str_eq(info->undoes, "");
	cr_expect_gt(info->time, 1600000000);
}

static void change_byte(struct stage *s, const char *run, off_t at, char c)
{
	char path[200];
	int fd;

	(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/%s/journal", run);
	fd = openat(s->dir.fd, path, O_WRONLY);
	cr_assert_eq(pwrite(fd, &c, 1, at), 1);
	cr_assert_eq(close(fd), 0);
}

/* The version is the byte behind "ctmend journal\n". */
Test(history, record_of_a_newer_program)
{
	STAGE(s);
	HISTORY history = { 0 };
	TEXT *after = NULL;
	char name[CTM_RUN_NAME_MAX];
	struct ctm_run_info info;
	struct ctm_err err = { 0 };
	OUTCOME out = { 0 };
	struct ctm_plan plan;

	stage_damage(s);
	after = stage_repair(s);
	stage_undo(s, NULL);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	change_byte(s, history.runs.v[0].name, 15, 9);
	ctm_history_done(&history);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 2);
	cr_expect_eq(history.runs.v[0].status, CTM_RUN_NEWER);
	cr_expect(history.runs.v[0].open);
	cr_expect_not_null(strstr(history.runs.v[0].problem, "format 9"));
	cr_expect_eq(history.runs.v[0].time, ctm_run_time(history.runs.v[0].name));
	cr_expect_eq(history.runs.v[1].status, CTM_RUN_DONE);
	cr_expect_str_eq(history.target, "115");

	/* Nobody knows whether it is finished: nothing is done on top of it, and nothing undone. */
	cr_expect_eq(ctm_history_unfinished(s->state, "rootfs", name, &err), -EPROTONOSUPPORT);
	cr_expect_eq(err.code, CTM_REFUSED);
	plan = stage_plan(s);
	cr_expect_eq(ctm_repair(&s->run, &plan, STAGE_DIGEST, &out, &err), -EPROTONOSUPPORT);
	stage_plan_done(&plan);
	cr_expect_eq(err.code, CTM_REFUSED);
	cr_expect_eq(ctm_undo_choose(&s->run, "1", &info, &err), -EPROTONOSUPPORT);
	cr_expect_eq(err.code, CTM_REFUSED);
}

/* A record that cannot be read is told of, and hides no other. */
Test(history, damaged_record)
{
	STAGE(s);
	HISTORY history = { 0 };
	TEXT *after = NULL;
	char name[CTM_RUN_NAME_MAX];

	stage_damage(s);
	after = stage_repair(s);
	stage_undo(s, NULL);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	change_byte(s, history.runs.v[0].name, 40, 'X');
	ctm_history_done(&history);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 2);
	cr_assert_eq(history.runs.v[0].status, CTM_RUN_DAMAGED);
	cr_assert_not_null(strstr(history.runs.v[0].problem, "damaged"), "%s",
			   history.runs.v[0].problem);
	cr_assert_eq(history.runs.v[1].status, CTM_RUN_DONE);
	cr_assert_not(history.runs.v[0].open, "its last bytes say that it ended");
	cr_assert_eq(ctm_history_unfinished(s->state, "rootfs", name, NULL), 0);
}
