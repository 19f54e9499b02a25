/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages as text, JSON and mdoc. The pages themselves: test_page.c and tests/cli/012-findings.sh. */
#include "report/explain.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct ctm_page_look looks[] = {
	{ "grep -n '^\\[' FILE", "where it stands" },
	{ "lsattr -d PATH", "the flags" },
	{ NULL, NULL },
};

static const struct ctm_page page = {
	.code = "err",
	.title = "a \"title\"",
	.severity = "Information; nothing more.",
	.why = "The first sentence ends here. .dots and 'quotes' may come first, --options too.",
	.how = "It happens.",
	.repair = "Nothing.",
	.next = "look at it",
	.look = looks,
};

static char *written(FILE *out, char **text)
{
	cr_assert_eq(fclose(out), 0);
	cr_assert_not_null(*text);
	return *text;
}

static void has(const char *text, const char *part)
{
	cr_assert_not_null(strstr(text, part), "'%s' is not in:\n%s", part, text);
}

Test(explain, text)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ctm_explain_text(out, "err.EFBIG", &page);
	written(out, &text);
	cr_assert_eq(strncmp(text, "err.EFBIG: a \"title\"\n    The first", 34), 0, "%s", text);
	has(text, "\n\nHow it comes about\n    It happens.\n");
	has(text, "\n\nWhat repair does\n    Nothing.\n    Information; nothing more.\n");
	has(text, "\n\nTo look further\n    grep -n '^\\[' FILE\n        where it stands\n");
	has(text, "\n\nNext\n    look at it\n");
	free(text);
}

Test(explain, json)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *root;
	json_t *one;

	cr_assert_eq(ctm_explain_json(out, "err.\xff", &page), 0);
	root = json_loads(written(out, &text), 0, NULL);
	cr_assert_not_null(root);
	one = json_array_get(json_object_get(root, "pages"), 0);
	cr_assert_str_eq(json_string_value(json_object_get(one, "code")), "err.\\xff");
	cr_assert_str_eq(json_string_value(json_object_get(one, "why")), page.why);
	cr_assert_eq(json_array_size(json_object_get(one, "look")), 2);
	cr_assert_eq(json_array_size(json_object_get(root, "pages")), 1);
	json_decref(root);
	free(text);
}

/* A line that begins with a dot or a quote would be a request. */
Test(explain, mdoc_has_no_requests_but_its_own)
{
	static const char *const own[] = { ".Bl", ".It", ".El", ".Pp", ".Em" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	size_t items = 0;

	ctm_explain_mdoc(out);
	written(out, &text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		bool known = line[0] != '.' && line[0] != '\'';

		for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
			known |= strncmp(line, own[i], 3) == 0 &&
				 (line[3] == ' ' || line[3] == '\0');
		}
		cr_assert(known, "%s", line);
		cr_assert_leq(strlen(line), 100, "%s", line);
		items += strncmp(line, ".It Li ", 7) == 0 && line[7] != '"';
	}
	cr_assert_eq(items, ctm_page_count());
	free(text);
}
