/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report for programs, read back by jansson. */
#include "report/json.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* It is written piece by piece, in the form that jansson gives to a whole. */
static void check_form(const json_t *root, const char *text)
{
	char *whole = json_dumps(root, JSON_INDENT(1) | JSON_PRESERVE_ORDER);

	cr_assert_not_null(whole);
	cr_expect_eq(strlen(text), strlen(whole) + 1);
	cr_expect_eq(memcmp(text, whole, strlen(whole)), 0, "%s", text);
	cr_expect_eq(text[strlen(text) - 1], '\n');
	free(whole);
}

/* The document of one report. */
static json_t *document(const struct ctm_report *rep, const struct ctm_err *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct ctm_json *json = ctm_json_new("check", out);
	json_t *root;

	cr_assert(json && out);
	cr_assert_eq(err ? ctm_json_error(json, rep->name, "mp0", err) : ctm_json_report(json, rep),
		     0);
	cr_assert_eq(ctm_json_end(json), 0);
	fclose(out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert_not_null(root, "%s", text);
	check_form(root, text);
	free(text);
	return root;
}

static const json_t *target_of(const json_t *root)
{
	cr_assert_eq(json_integer_value(json_object_get(root, "schema")), CTM_JSON_SCHEMA);
	cr_assert_eq(json_array_size(json_object_get(root, "targets")), 1);
	return json_array_get(json_object_get(root, "targets"), 0);
}

static const json_t *action_of(const json_t *target, const char *path)
{
	const json_t *actions = json_object_get(target, "actions");

	for (size_t i = 0; i < json_array_size(actions); i++) {
		const json_t *one = json_array_get(actions, i);

		if (strcmp(json_string_value(json_object_get(one, "path")), path) == 0) {
			return one;
		}
	}
	return NULL;
}

Test(json, damaged)
{
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	json_t *root = document(&rep, NULL);
	const json_t *target = target_of(root);
	const json_t *action;
	const json_t *after;

	cr_assert_str_eq(json_string_value(json_object_get(target, "target")), "115");
	cr_assert_str_eq(json_string_value(json_array_get(json_object_get(target, "idmap"), 0)),
			 "u 0 100000 65536");
	cr_assert(json_is_false(json_object_get(target, "clean")));
	cr_assert_str_eq(json_string_value(json_object_get(target, "digest")), exam->digest);
	cr_assert_eq(json_array_size(json_object_get(target, "actions")), exam->plan->actions.n);
	cr_assert_eq(json_array_size(json_object_get(target, "findings")), exam->plan->findings.n);

	action = action_of(target, "/usr/bin/arping");
	cr_assert_not_null(action);
	cr_assert_str_eq(json_string_value(json_object_get(action, "action")), "set");
	cr_assert_null(json_object_get(action, "path_raw"), "escaping changed nothing");
	after = json_object_get(action, "after");
	cr_assert_str_eq(json_string_value(json_object_get(after, "mode")), "4755");
	cr_assert_eq(json_integer_value(json_object_get(after, "uid")), 100000);
	cr_assert_str_eq(json_string_value(json_object_get(json_object_get(after, "cap"), "text")),
			 "cap_net_raw=ep [rootid=100000]");

	action = action_of(target, "/srv/new\\nline");
	cr_assert_not_null(action);
	/* printf '/srv/new\nline' | base64 */
	cr_assert_str_eq(json_string_value(json_object_get(action, "path_raw")), "L3Nydi9uZXcKbGluZ"
										 "Q==");

	action = action_of(target, "/var/lib/dpkg/lock");
	cr_assert_str_eq(json_string_value(json_object_get(action, "action")), "remove");
	cr_assert_eq(strlen(json_string_value(json_object_get(action, "sha256"))), 64);
	json_decref(root);
	ctm_exam_free(exam);
}

static const json_t *group_of(const json_t *target, const char *code)
{
	const json_t *groups = json_object_get(target, "groups");
	size_t i;
	json_t *one;

	json_array_foreach(groups, i, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "code")), code) == 0) {
			return one;
		}
	}
	cr_assert(false, "no group %s", code);
	return NULL;
}

Test(json, diagnosis)
{
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	json_t *root = document(&rep, NULL);
	const json_t *diagnosis = json_object_get(target_of(root), "diagnosis");
	const json_t *group;
	const json_t *lines;

	cr_assert_str_eq(json_string_value(json_object_get(diagnosis, "cause")), "unknown");
	cr_assert_str_eq(json_string_value(json_object_get(diagnosis, "text")), "somebody worked "
										"in it as the "
										"host's root: 4 of "
										"8 inodes have the "
										"host's ids");
	cr_assert_not_null(json_object_get(diagnosis, "next"));
	group = group_of(target_of(root), "pkg.lock");
	cr_assert_str_eq(json_string_value(json_object_get(group, "cause")), "package-run");
	group = group_of(target_of(root), "own.beyond");
	cr_assert_str_eq(json_string_value(json_object_get(group, "cause")), "foreign-id");
	cr_assert(json_is_null(json_object_get(group, "evidence")));
	cr_assert_str_eq(json_string_value(json_object_get(group, "note")), "the map can be made "
									    "to hold these ids");
	lines = json_object_get(group, "lines");
	cr_assert_eq(json_array_size(lines), 4);
	cr_assert_str_eq(json_string_value(json_array_get(lines, 0)), "lxc.idmap: u 0 100000 "
								      "1028954285");
	cr_assert_str_eq(json_string_value(json_array_get(lines, 3)), "/etc/subgid: "
								      "root:100000:65536");
	json_decref(root);
	ctm_exam_free(exam);
}

Test(json, clean)
{
	struct ctm_exam *exam = clean_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	json_t *root = document(&rep, NULL);
	const json_t *target = target_of(root);

	cr_assert(json_is_true(json_object_get(target, "clean")));
	cr_assert_eq(json_array_size(json_object_get(target, "actions")), 0);
	cr_assert_eq(json_array_size(json_object_get(target, "groups")), 0);
	cr_assert_str_eq(
		json_string_value(json_object_get(json_object_get(target, "diagnosis"), "cause")),
		"none");
	json_decref(root);
	ctm_exam_free(exam);
}

Test(json, refused)
{
	struct ctm_report rep = { .name = "11\n5" };
	struct ctm_err err = { 0 };
	json_t *root;
	const json_t *error;

	(void)ctm_err_set(&err, CTM_REFUSED, 0, "CT 115 is running");
	ctm_err_hint(&err, "stop it");
	root = document(&rep, &err);
	error = json_object_get(target_of(root), "error");
	cr_assert_str_eq(json_string_value(json_object_get(target_of(root), "target")), "11\\n5");
	cr_assert_str_eq(json_string_value(json_object_get(error, "code")), "refused");
	cr_assert_str_eq(json_string_value(json_object_get(error, "message")), "CT 115 is running");
	cr_assert_str_eq(json_string_value(json_object_get(error, "next")), "stop it");
	cr_assert_str_eq(json_string_value(json_object_get(target_of(root), "key")), "mp0");
	json_decref(root);
}

Test(json, done)
{
	struct ctm_done done = { .exam = damaged_exam() };
	struct ctm_result failed = {
		.kind = CTM_RESULT_FAILED,
		.path = "etc/c",
		.path_len = 5,
		.what = "chown",
		.err = 1,
		.n = 1,
	};
	struct ctm_report rep = { .name = "115", .exam = done.exam, .done = &done };
	json_t *root;
	const json_t *result;

	strcpy(done.run.run, "0001-20261130T120000Z");
	done.run.counts.done = 4;
	cr_assert_eq(ctm_outcome_add(&done.run, &failed), 0);
	root = document(&rep, NULL);
	cr_assert_str_eq(json_string_value(json_object_get(target_of(root), "run")), done.run.run);
	cr_assert_eq(json_integer_value(json_object_get(target_of(root), "done")), 4);
	result = json_array_get(json_object_get(target_of(root), "failed"), 0);
	cr_assert_str_eq(json_string_value(json_object_get(result, "path")), "/etc/c");
	cr_assert_eq(json_integer_value(json_object_get(result, "errno")), 1);
	json_decref(root);
	ctm_done_free(&done);
}

Test(json, without_a_document_nothing_happens)
{
	cr_assert_eq(ctm_json_report(NULL, NULL), 0);
	cr_assert_eq(ctm_json_error(NULL, NULL, NULL, NULL), 0);
	cr_assert_eq(ctm_json_end(NULL), 0);
}

/* What an undo would do: a path in three kinds of change, and one that would be left. */
Test(json, preview)
{
	const struct ctm_inode_state host = { .mode = 0100644 };
	const struct ctm_inode_state mapped = { .mode = 0100644, .uid = { 100000 } };
	const struct ctm_entry entries[] = {
		{ .kind = CTM_ENTRY_REMOVE, .ref = { .path = "a", .path_len = 1 }, .before = host },
		{ .kind = CTM_ENTRY_SET,
		  .ref = { .path = "b\n", .path_len = 2 },
		  .before = mapped,
		  .after = host },
		{ .kind = CTM_ENTRY_RESTORE, .ref = { .path = "c", .path_len = 1 }, .after = host },
	};
	static const char *const words[] = { "remove", "set", "restore" };
	const struct ctm_result left = {
		.kind = CTM_RESULT_CONFLICT, .path = "d", .path_len = 1, .what = "changed"
	};
	struct ctm_outcome out = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct ctm_json *json = ctm_json_new("undo", f);
	const json_t *target;
	const json_t *actions;
	json_t *root;

	cr_assert_eq(ctm_outcome_add(&out, &left), 0);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(ctm_json_change(json, "115", "0001-20250131T235959Z", &entries[i]), 0);
	}
	cr_assert_eq(ctm_json_preview(json, "115", "0001-20250131T235959Z", &out), 0);
	cr_assert_eq(ctm_json_end(json), 0);
	fclose(f);
	ctm_outcome_done(&out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert_not_null(root, "%s", text);
	check_form(root, text);
	free(text);
	target = target_of(root);
	actions = json_object_get(target, "actions");
	cr_assert_str_eq(json_string_value(json_object_get(target, "run")), "0001-"
									    "20250131T235959Z");
	cr_assert_eq(json_array_size(actions), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *one = json_array_get(actions, i);

		cr_expect_str_eq(json_string_value(json_object_get(one, "action")), words[i]);
		cr_expect_eq(json_object_get(one, "before") == NULL, i == 2, "%s", words[i]);
		cr_expect_eq(json_object_get(one, "after") == NULL, i == 0, "%s", words[i]);
	}
	cr_assert_str_eq(json_string_value(json_object_get(json_array_get(actions, 1), "path_raw")),
			 "L2IK");
	cr_assert_eq(json_array_size(json_object_get(target, "failed")), 1);
	json_decref(root);
	cr_assert_eq(ctm_json_change(NULL, "", "", &entries[0]), 0);
	cr_assert_eq(ctm_json_preview(NULL, "115", "", &out), 0);
}

/* What was begun before an error stays a part of the document. */
Test(json, an_error_ends_a_preview)
{
	const struct ctm_entry entry = { .kind = CTM_ENTRY_SET,
					 .ref = { .path = "a", .path_len = 1 } };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct ctm_json *json = ctm_json_new("undo", f);
	struct ctm_err err = { 0 };
	const json_t *targets;
	json_t *root;

	(void)ctm_err_set(&err, CTM_CORRUPT, 0, "the record is damaged");
	cr_assert_eq(ctm_json_change(json, "115", "0001-20250131T235959Z", &entry), 0);
	cr_assert_eq(ctm_json_error(json, "115", NULL, &err), 0);
	cr_assert_eq(ctm_json_end(json), 0);
	fclose(f);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert_not_null(root, "%s", text);
	check_form(root, text);
	targets = json_object_get(root, "targets");
	cr_assert_eq(json_array_size(targets), 2);
	cr_expect_eq(json_array_size(json_object_get(json_array_get(targets, 0), "actions")), 1);
	cr_expect_not_null(json_object_get(json_array_get(targets, 1), "error"));
	json_decref(root);
	free(text);
}

Test(json, no_target)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	json_t *root;

	cr_assert_eq(ctm_json_end(ctm_json_new("check", f)), 0);
	fclose(f);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert_not_null(root, "%s", text);
	check_form(root, text);
	json_decref(root);
	free(text);
}
