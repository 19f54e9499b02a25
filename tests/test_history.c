/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what the list of runs says of them. */
#include "run/history.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "cases.h"
#include "stage.h"

#define TEXT    CLEANUP_FREE char
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

/* A record that cannot be read is told of, and hides no other. */
Test(history, damaged_record)
{
	STAGE(s);
	HISTORY history = { 0 };
	TEXT *after = NULL;
	char path[200];
	int fd;

	stage_damage(s);
	after = stage_repair(s);
	stage_undo(s, NULL);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/%s/journal", history.runs.v[0].name);
	ctm_history_done(&history);
	fd = openat(s->dir.fd, path, O_WRONLY);
	cr_assert_eq(pwrite(fd, "X", 1, 40), 1);
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 2);
	cr_assert_eq(history.runs.v[0].status, CTM_RUN_DAMAGED);
	cr_assert_not_null(strstr(history.runs.v[0].problem, "damaged"), "%s",
			   history.runs.v[0].problem);
	cr_assert_eq(history.runs.v[1].status, CTM_RUN_DONE);
}
