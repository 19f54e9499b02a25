/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of list: columns, cells, JSON. */
#include "report/list.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

static const struct {
	const char *spec;
	const char *want; /* the header that is printed; NULL: refused */
} specs[] = {
	{ NULL, "ID NAME STATE STORAGE MAP MANAGED CONFIG REPAIRED" },
	{ "id", "ID" },
	{ "MAP,id", "MAP ID" },
	{ "+FINDINGS,runs", "ID NAME STATE STORAGE MAP MANAGED CONFIG REPAIRED FINDINGS RUNS" },
	{ "+map", NULL },
	{ "id,id", NULL },
	{ "ids", NULL },
	{ "", NULL },
	{ "id,", NULL },
	{ "+", NULL },
};

/* What is printed, to be freed. */
static char *printed(const struct ctm_overviews *all, const struct ctm_list_columns *columns,
		     bool json)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_not_null(out);
	cr_assert_eq(ctm_list_print(out, all, columns, json), 0);
	cr_assert_eq(fclose(out), 0);
	return text;
}

/* Words of the first line with one blank between them. */
static void header(const char *text, char out[static 256])
{
	size_t n = 0;

	for (const char *p = text; *p && *p != '\n' && n < 255; p++) {
		if (*p != ' ' || (n && out[n - 1] != ' ')) {
			out[n++] = *p;
		}
	}
	while (n && out[n - 1] == ' ') {
		n--;
	}
	out[n] = '\0';
}

CASES(list, columns, specs)
{
	struct ctm_list_columns columns = { 0 };
	struct ctm_overview one = { .name = (char *)"1", .state = "stopped" };
	const struct ctm_overviews all = { .v = { .v = &one, .n = 1, .cap = 1 } };
	struct ctm_err err = { 0 };
	int r = ctm_list_choose(specs[*i].spec, &columns, &err);
	CLEANUP_FREE char *text = NULL;
	char got[256];

	if (!specs[*i].want) {
		cr_assert_lt(r, 0, "row %zu", *i);
		cr_assert_eq(err.code, CTM_USAGE);
		cr_assert_not_null(strstr(err.hint, "ID,NAME,"));
		return;
	}
	cr_assert_eq(r, 0, "row %zu: %s", *i, err.msg);
	text = printed(&all, &columns, false);
	header(text, got);
	cr_assert_str_eq(got, specs[*i].want);
	cr_assert_eq(ctm_list_looks(&columns), strstr(specs[*i].want, "FINDINGS") != NULL);
}

static const struct {
	struct ctm_overview one;
	const char *column;
	const char *want; /* NULL: null */
} cells[] = {
	{ { .name = (char *)"115" }, "id", "115" },
	{ { .name = (char *)"115" }, "name", NULL },
	{ { .hostname = (char *)"we\033[2Jb" }, "name", "we\\x1b[2Jb" },
	{ { .state = "running" }, "state", "running" },
	{ { .ha = true }, "managed", "ha" },
	{ { .replicated = true }, "managed", "replicated" },
	{ { .ha = true, .replicated = true }, "managed", "ha, replicated" },
	{ { .findings = (char *)"own.host 2" }, "findings", "own.host 2" },
	{ { .repaired = true, .last = { .time = 86400, .status = CTM_RUN_DONE } },
	  "repaired",
	  "1970-01-02 00:00" },
	{ { .repaired = true, .last = { .time = 0, .status = CTM_RUN_PARTLY } },
	  "repaired",
	  "1970-01-01 00:00 partly" },
	{ { .repaired = true, .last = { .time = 0, .status = CTM_RUN_INTERRUPTED } },
	  "repaired",
	  "1970-01-01 00:00 interrupted" },
	{ { .interrupted = true }, "repaired", "interrupted" },
	{ { .runs = 3 }, "repaired", NULL },
};

CASES(list, cell, cells)
{
	struct ctm_overview one = cells[*i].one;
	const struct ctm_overviews all = { .v = { .v = &one, .n = 1, .cap = 1 } };
	struct ctm_list_columns columns = { 0 };
	CLEANUP_FREE char *text = NULL;
	const json_t *value;
	json_t *root;

	cr_assert_eq(ctm_list_choose(cells[*i].column, &columns, NULL), 0);
	text = printed(&all, &columns, true);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert_not_null(root, "%s", text);
	value = json_object_get(json_array_get(json_object_get(root, "containers"), 0),
				cells[*i].column);
	cr_assert_not_null(value, "row %zu: %s", *i, text);
	if (cells[*i].want) {
		cr_assert_str_eq(json_string_value(value), cells[*i].want, "row %zu", *i);
	} else {
		cr_assert(json_is_null(value), "row %zu: %s", *i, text);
	}
	json_decref(root);
}

Test(list, numbers_are_numbers)
{
	struct ctm_overview one = { .name = (char *)"1", .runs = 3 };
	const struct ctm_overviews all = { .v = { .v = &one, .n = 1, .cap = 1 } };
	struct ctm_list_columns columns = { 0 };
	CLEANUP_FREE char *text = NULL;

	cr_assert_eq(ctm_list_choose("runs", &columns, NULL), 0);
	text = printed(&all, &columns, true);
	cr_assert_not_null(strstr(text, "\"runs\": 3"), "%s", text);
}
