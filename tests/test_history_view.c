/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of how runs and their records are shown. */
#include "report/history.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "stage.h"

#define TEXT CLEANUP_FREE char
#define KEPT CLEANUP(ctm_kept_list_done) struct ctm_kept_list

/* Somebody's idea of a name. */
#define HOSTILE "eve\xff\033[2J\xe2\x80\xae"

struct sink {
	FILE *out;
	char *text;
	size_t len;
};

static void sink_open(struct sink *s)
{
	*s = (struct sink){ 0 };
	s->out = open_memstream(&s->text, &s->len);
	cr_assert_not_null(s->out);
}

static char *sink_close(struct sink *s)
{
	cr_assert_eq(fclose(s->out), 0);
	return s->text;
}

static void kept_of(struct stage *s, struct ctm_kept_list *list)
{
	struct ctm_kept kept = { .dir = strdup("115"), .name = strdup("115") };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_history_read(s->state, &kept.history, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_vec_push(&list->v, &kept), 0);
}

/* The record of the run of this number; the caller frees it. */
static void view_of(struct stage *s, const char *typed, struct ctm_run_view *ret)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	CLEANUP_CLOSE int dir = -1;
	char run[CTM_RUN_NAME_MAX];
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_state_find(s->state, typed, run, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_history_read(s->state, &history, &err), 0);
	for (size_t i = 0; i < history.runs.n; i++) {
		if (strcmp(history.runs.v[i].name, run) == 0) {
			ret->info = history.runs.v[i];
		}
	}
	cr_assert_eq(ctm_state_run_open(s->state, run, &dir, &err), 0);
	cr_assert_eq(ctm_reader_open(dir, &ret->reader, &err), 0, "%s", err.msg);
}

static size_t lines_with(const char *text, const char *begin)
{
	size_t n = 0;

	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		n += strncmp(p, begin, strlen(begin)) == 0;
	}
	return n;
}

Test(history_view, no_byte_of_a_name_acts_on_a_terminal)
{
	STAGE(s);
	KEPT list = { 0 };
	CLEANUP(ctm_run_view_done) struct ctm_run_view view = { 0 };
	TEXT *after = NULL;
	TEXT *table = NULL;
	TEXT *diff = NULL;
	TEXT *json = NULL;
	struct sink sink;
	struct ctm_json *doc;
	struct ctm_err err = { 0 };

	s->run.user = HOSTILE;
	s->run.options = "--path=" HOSTILE;
	stage_damage(s);
	after = stage_repair(s);
	kept_of(s, &list);
	view_of(s, "1", &view);

	sink_open(&sink);
	cr_assert_eq(ctm_report_history(sink.out, &list, true), 0);
	table = sink_close(&sink);
	sink_open(&sink);
	cr_assert_eq(ctm_report_run(sink.out, "115", &view, false, false, &err), 0, "%s", err.msg);
	diff = sink_close(&sink);
	sink_open(&sink);
	doc = ctm_json_new("history", sink.out);
	cr_assert_eq(ctm_json_history(doc, &list.v.v[0]), 0);
	cr_assert_eq(ctm_json_run(doc, "115", &view, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_json_end(doc), 0);
	json = sink_close(&sink);

	cr_expect_not_null(strstr(table, "eve\\xff\\x1b[2J\\xe2\\x80\\xae"), "%s", table);
	cr_expect_not_null(strstr(diff, "eve\\xff\\x1b[2J\\xe2\\x80\\xae"), "%s", diff);
	cr_expect_null(strchr(table, '\033'));
	cr_expect_null(strchr(diff, '\033'));
	cr_expect_null(strchr(json, '\033'));
	/* jansson reads no document that is not UTF-8 */
	json_decref(json_loads(json, 0, NULL));
	cr_expect_not_null(strstr(json, "eve\\\\xff"), "%s", json);
}

/* Each entry of the record once, in a hunk of its cause; a removed file has no "+". */
Test(history_view, diff_of_a_record)
{
	STAGE(s);
	CLEANUP(ctm_run_view_done) struct ctm_run_view view = { 0 };
	CLEANUP(ctm_run_view_done) struct ctm_run_view undo = { 0 };
	TEXT *after = NULL;
	TEXT *diff = NULL;
	TEXT *back = NULL;
	struct sink sink;
	struct ctm_err err = { 0 };

	stage_damage(s);
	after = stage_repair(s);
	stage_undo(s, NULL);
	view_of(s, "1", &view);
	view_of(s, "2", &undo);
	cr_assert_eq(view.info.removed, 3);
	sink_open(&sink);
	cr_assert_eq(ctm_report_run(sink.out, "115", &view, false, false, &err), 0, "%s", err.msg);
	diff = sink_close(&sink);
	sink_open(&sink);
	cr_assert_eq(ctm_report_run(sink.out, "115", &undo, false, false, &err), 0, "%s", err.msg);
	back = sink_close(&sink);

	/* and one line for each header */
	cr_expect_eq(lines_with(diff, "-"), view.info.set + view.info.removed + 1, "%s", diff);
	cr_expect_eq(lines_with(diff, "+"), view.info.set + 1, "%s", diff);
	cr_expect_eq(lines_with(diff, "@@ own.host: "), 1);
	cr_expect_eq(lines_with(diff, "@@ pkg.partial: "), 1);
	cr_expect_eq(lines_with(diff, "@@"), 2);
	cr_expect_eq(lines_with(diff, "-f 4755        0:0      /usr/bin/sudo\n"), 1, "%s", diff);
	cr_expect_eq(lines_with(diff, "+f 4755   100000:100000 /usr/bin/sudo\n"), 1);
	cr_expect_eq(lines_with(diff, "-f 0640        0:0      /var/lib/dpkg/lock\n"), 1);
	cr_expect_eq(lines_with(diff, "plan " STAGE_DIGEST "  "), 1);

	cr_expect_eq(lines_with(back, "-f 4755   100000:100000 /usr/bin/sudo\n"), 1, "%s", back);
	cr_expect_eq(lines_with(back, "+f 4755        0:0      /usr/bin/sudo\n"), 1);
	cr_expect_eq(lines_with(back, "+f 0640        0:0      /var/lib/dpkg/lock\n"), 1);
	cr_expect_eq(lines_with(back, "-f 0640        0:0      /var/lib/dpkg/lock\n"), 0);
}

/* What the run itself had to leave is said behind the diff. */
Test(history_view, what_was_left)
{
	STAGE(s);
	CLEANUP(ctm_run_view_done) struct ctm_run_view view = { 0 };
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };
	TEXT *diff = NULL;
	struct ctm_plan plan;
	struct sink sink;
	struct ctm_err err = { 0 };

	stage_damage(s);
	plan = stage_plan(s);
	fake_at(&s->fs, "usr/bin/vi")->attr = CTM_ATTR_IMMUTABLE;
	cr_assert_eq(ctm_repair(&s->run, &plan, STAGE_DIGEST, &out, &err), 0, "%s", err.msg);
	stage_plan_done(&plan);
	view_of(s, "1", &view);
	sink_open(&sink);
	cr_assert_eq(ctm_report_run(sink.out, "115", &view, false, false, &err), 0, "%s", err.msg);
	diff = sink_close(&sink);
	cr_expect_eq(lines_with(diff, "note: left: /usr/bin/vi: chown: Operation not permitted\n"),
		     1, "%s", diff);
	cr_expect_eq(lines_with(diff, "note: left: "), 1);
}

Test(history_view, nothing)
{
	KEPT list = { 0 };
	TEXT *table = NULL;
	struct sink sink;

	sink_open(&sink);
	cr_assert_eq(ctm_report_history(sink.out, &list, false), 0);
	table = sink_close(&sink);
	cr_expect_str_eq(table, "no repair of it is recorded on this host\n");
}
