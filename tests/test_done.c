/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report after a repair or an undo. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report.h"

static char *text_after(struct ctm_done *done)
{
	struct ctm_report rep = { .name = "115", .exam = done->exam, .done = done };

	return text_of(ctm_report_done, &rep);
}

Test(done, all_was_done)
{
	struct ctm_done done = { .exam = damaged_exam() };
	struct ctm_exam *now = clean_exam();
	char *text;

	strcpy(done.run.run, "0001-20261130T120000Z");
	done.run.counts.done = 5;
	done.left = TAKE_PTR(now->plan);
	text = text_after(&done);
	cr_assert_str_eq(text, "run 0001-20261130T120000Z: 5 changes made\n"
			       "verified: every id belongs to the container's map\n"
			       "'ctmend undo 115' takes it back\n");
	cr_assert_not(ctm_done_partly(&done));
	free(text);
	ctm_exam_free(now);
	ctm_done_free(&done);
}

Test(done, a_snapshot_says_how_to_go_back_to_it)
{
	struct ctm_done done = { .exam = damaged_exam() };
	struct ctm_report rep = {
		.name = "115",
		.exam = done.exam,
		.done = &done,
		.snapshot = "ctmend_20261130T120000Z",
	};
	char *text;

	strcpy(done.run.run, "0001-20261130T120000Z");
	text = text_of(ctm_report_done, &rep);
	cr_assert_not_null(strstr(text, "'pct rollback 115 ctmend_20261130T120000Z'"), "%s", text);
	cr_assert_not_null(strstr(text, "'pct delsnapshot 115 ctmend_20261130T120000Z'"), "%s",
			   text);
	free(text);
	ctm_done_free(&done);
}

Test(done, of_several_volumes_says_which_and_which_run)
{
	struct ctm_done done = { .exam = damaged_exam() };
	struct ctm_volume host = { .key = strdup("mp0"), .id = strdup("/srv"), .host = true };
	struct ctm_volume own = { .key = strdup("mp1"), .id = strdup("tank:115/two") };
	struct ctm_target *target = done.exam->target;
	char *text;

	strcpy(done.run.run, "0007-20261130T120000Z");
	done.run.counts.done = 1;
	cr_assert_eq(ctm_vec_push(&target->volumes, &host), 0);
	done.exam->volume = &target->volumes.v[0];
	text = text_after(&done);
	cr_assert_str_eq(text, "run 0007-20261130T120000Z: 1 change made\n"
			       "'ctmend undo 115' takes it back\n");
	free(text);
	cr_assert_eq(ctm_vec_push(&target->volumes, &own), 0);
	done.exam->volume = &target->volumes.v[0];
	text = text_after(&done);
	cr_assert_str_eq(text, "rootfs tank:115/vm-115-disk-0.raw\n"
			       "run 0007-20261130T120000Z: 1 change made\n"
			       "'ctmend undo 115 0007-20261130T120000Z' takes it back\n");
	free(text);
	ctm_done_free(&done);
}

Test(done, what_was_left_is_named)
{
	struct ctm_done done = { .exam = damaged_exam() };
	struct ctm_exam *now = damaged_exam();
	struct ctm_result conflict = {
		.kind = CTM_RESULT_CONFLICT,
		.path = "etc/a\tb",
		.path_len = 7,
		.what = "owner changed",
		.n = 1,
	};
	struct ctm_result failed = {
		.kind = CTM_RESULT_FAILED,
		.path = "etc/c",
		.path_len = 5,
		.what = "chown",
		.err = EPERM,
		.n = 1,
	};
	char *text;

	strcpy(done.run.run, "0001-20261130T120000Z");
	done.run.counts.done = 1;
	cr_assert_eq(ctm_outcome_add(&done.run, &conflict), 0);
	cr_assert_eq(ctm_outcome_add(&done.run, &failed), 0);
	done.left = TAKE_PTR(now->plan);
	text = text_after(&done);
	cr_assert_not_null(strstr(text, "1 change made, 2 left\n"), "%s", text);
	cr_assert_not_null(strstr(text, "  /etc/a\\tb: left alone: owner changed\n"), "%s", text);
	cr_assert_not_null(strstr(text, "  /etc/c: chown: Operation not permitted\n"), "%s", text);
	cr_assert_not_null(strstr(text, "left: own.beyond 1: "), "%s", text);
	cr_assert_null(strstr(text, "verified"), "%s", text);
	cr_assert(ctm_done_partly(&done));
	free(text);
	ctm_exam_free(now);
	ctm_done_free(&done);
}

Test(done, nothing_to_do)
{
	struct ctm_done done = { .exam = clean_exam() };
	char *text = text_after(&done);

	cr_assert_str_eq(text, "nothing to repair\n");
	cr_assert_not(ctm_done_partly(&done));
	free(text);
	ctm_done_free(&done);
}

Test(done, an_undo_names_the_run_it_took_back_and_itself)
{
	struct ctm_done done = { .exam = clean_exam() };
	char *text;

	ctm_plan_free(TAKE_PTR(done.exam->plan));
	strcpy(done.run.run, "0002-20261130T120000Z");
	strcpy(done.run.undoes, "0001-20261130T110000Z");
	done.run.counts.done = 3;
	text = text_after(&done);
	cr_assert_str_eq(
		text,
		"run 0002-20261130T120000Z, takes back 0001-20261130T110000Z: 3 changes made\n"
		"'ctmend undo 115 0002-20261130T120000Z' takes it back\n");
	free(text);
	ctm_done_free(&done);
}
