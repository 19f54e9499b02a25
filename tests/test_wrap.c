/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running text, broken at blanks. */
#include "report/wrap.h"

#include <stdlib.h>

#include "cases.h"

static const struct {
	const char *name;
	const char *indent;
	const char *lead;
	size_t width;
	const char *text;
	const char *want;
} rows[] = {
	{ "fits", "  ", "", 20, "one two", "  one two\n" },
	{ "fits to the column", "", "", 7, "one two", "one two\n" },
	{ "one column short", "", "", 6, "one two", "one\ntwo\n" },
	{ "a lead counts", "  ", "next: ", 14, "one two", "  next: one\n  two\n" },
	{ "a word wider than the line", "", "", 4, "a longword b", "a\nlongword\nb\n" },
	{ "blanks fold", "", "", 20, "a   b ", "a b\n" },
	{ "nothing", "  ", "", 20, "", "  \n" },
};

CASES(wrap, text, rows)
{
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	cr_assert_not_null(out);
	ctm_wrap(out, rows[*i].indent, rows[*i].lead, rows[*i].width, rows[*i].text);
	fclose(out);
	cr_assert_str_eq(got, rows[*i].want, "%s: got '%s'", rows[*i].name, got);
	free(got);
}
