/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines, blanks and limits of configuration files.
 */
#include "config/lines.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

static struct ctm_bytes bytes(const char *text)
{
	return (struct ctm_bytes){ text, strlen(text) };
}

static const struct {
	const char *name;
	const char *text;
	size_t n;
	const char *last;
} splits[] = {
	{ "nothing", "", 0, NULL },
	{ "no newline at the end", "a\nb", 2, "b" },
	{ "newline at the end", "a\nb\n", 2, "b" },
	{ "empty lines", "\n\n", 2, "" },
	{ "carriage returns stay", "a\r\nb\r\n", 2, "b\r" },
};
CASES(lines, split, splits)
{
	struct ctm_lines lines = { .text = bytes(splits[*i].text) };
	struct ctm_bytes line = { 0 };
	size_t n = 0;

	while (ctm_lines_next(&lines, &line)) {
		cr_assert_eq(lines.no, ++n, "%s", splits[*i].name);
	}
	cr_assert_eq(n, splits[*i].n, "%s: %zu lines", splits[*i].name, n);
	cr_assert(n == 0 || ctm_bytes_is(line, splits[*i].last), "%s", splits[*i].name);
}

static const struct {
	const char *name;
	size_t len;
	char fill;
	size_t at;
	char odd;
	int r;
} limits[] = {
	{ "empty", 0, 'x', SIZE_MAX, 0, 0 },
	{ "as large as may be", CTM_CONFIG_MAX, 'x', SIZE_MAX, 0, 0 },
	{ "a byte too large", CTM_CONFIG_MAX + 1, 'x', SIZE_MAX, 0, -EFBIG },
	{ "a NUL", 100, 'x', 50, '\0', -EPERM },
	{ "a NUL at the end", 100, 'x', 99, '\0', -EPERM },
	{ "as many lines as may be", CTM_CONFIG_LINES_MAX, '\n', SIZE_MAX, 0, 0 },
	{ "a line too many", CTM_CONFIG_LINES_MAX + 1, '\n', SIZE_MAX, 0, -EFBIG },
};
CASES(lines, check, limits)
{
	char *text = malloc(limits[*i].len + 1);
	struct ctm_err err = { 0 };
	int r;

	cr_assert_not_null(text);
	memset(text, limits[*i].fill, limits[*i].len);
	if (limits[*i].at != SIZE_MAX) {
		text[limits[*i].at] = limits[*i].odd;
	}
	r = ctm_lines_check((struct ctm_bytes){ text, limits[*i].len }, &err);
	cr_assert_eq(r, limits[*i].r, "%s: %d, %s", limits[*i].name, r, err.msg);
	cr_assert_eq(err.code, r < 0 ? CTM_REFUSED : CTM_OK, "%s", limits[*i].name);
	free(text);
}

static const struct {
	const char *in, *front, *back, *both;
} trims[] = {
	{ "", "", "", "" },
	{ " \t\r\n\v\f ", "", "", "" },
	{ " a b ", "a b ", " a b", "a b" },
	{ "a", "a", "a", "a" },
	{ "\xc2\xa0", "\xc2\xa0", "\xc2\xa0", "\xc2\xa0" },
};
CASES(lines, trim, trims)
{
	cr_assert(ctm_bytes_is(ctm_trim_front(bytes(trims[*i].in)), trims[*i].front));
	cr_assert(ctm_bytes_is(ctm_trim_back(bytes(trims[*i].in)), trims[*i].back));
	cr_assert(ctm_bytes_is(ctm_trim(bytes(trims[*i].in)), trims[*i].both));
}

static const struct {
	const char *in;
	int want;
} words[] = {
	{ "1", 1 },   { "on", 1 },     { "YES", 1 },   { "True", 1 },  { "0", 0 },
	{ "off", 0 }, { "nO", 0 },     { "FALSE", 0 }, { "", -1 },     { "2", -1 },
	{ "01", -1 }, { "maybe", -1 }, { "1 ", -1 },   { "yess", -1 },
};
CASES(lines, bool_word, words)
{
	cr_assert_eq(ctm_bool_word(bytes(words[*i].in)), words[*i].want, "'%s'", words[*i].in);
}

Test(lines, warnings_keep_their_line)
{
	struct ctm_config_warnings warnings = { 0 };
	struct ctm_arena arena = { 0 };

	cr_assert_eq(ctm_config_warn(&warnings, &arena, 7, "unable to parse: %s", "x"), 0);
	cr_assert_eq(ctm_config_warn(&warnings, &arena, 9, "again"), 0);
	cr_assert_eq(warnings.n, 2);
	cr_assert_eq(warnings.v[0].line, 7);
	cr_assert_str_eq(warnings.v[0].text, "unable to parse: x");
	cr_assert_str_eq(warnings.v[1].text, "again");
	ctm_vec_done(&warnings);
	ctm_arena_done(&arena);
}
