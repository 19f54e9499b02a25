/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Debug lines: whole category names, off by default, safe to print. */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

static char got[4096];
static int lines;
static char words[] = "arg";
static char none[] = "";

static void keep(const char *cat, const char *line, void *arg)
{
	lines++;
	(void)snprintf(got, sizeof(got), "%s %s %s", cat, line, (const char *)arg);
	errno = EXDEV;
}

static const struct {
	const char *name;
	const char *categories;
	const char *ask;
	bool want;
} rows[] = {
	{ "none", NULL, "walk", false },
	{ "empty", "", "walk", false },
	{ "one", "walk", "walk", true },
	{ "first", "walk,attach", "walk", true },
	{ "last", "walk,attach", "attach", true },
	{ "middle", "a,walk,b", "walk", true },
	{ "other", "attach", "walk", false },
	{ "all", "all", "walk", true },
	{ "all among others", "attach,all", "walk", true },
	{ "part of a longer name", "sidewalk,walker", "walk", false },
	{ "longer name first", "walker,walk", "walk", true },
	{ "all as a part", "allx", "walk", false },
};

CASES(log, on, rows)
{
	ctm_log_set(keep, NULL, rows[*i].categories);
	cr_assert_eq(ctm_log_on(rows[*i].ask), rows[*i].want, "%s", rows[*i].name);
}

Test(log, default_drops)
{
	cr_assert(!ctm_log_on("walk"));
	ctm_log("walk", "nobody listens");
	CTM_DEBUG("walk", "nobody listens");
	cr_assert_eq(lines, 0);
}

static int touched;
static int touch(void)
{
	return ++touched;
}

Test(log, lines_arrive)
{
	ctm_log_set(keep, words, "walk");
	errno = ENOENT;
	CTM_DEBUG("walk", "entry %d", touch());
	cr_assert_str_eq(got, "walk entry 1 arg");
	cr_assert_eq(errno, ENOENT, "a debug line changed errno to %d", errno);
	CTM_DEBUG("attach", "entry %d", touch());
	cr_assert_eq(lines, 1);
	cr_assert_eq(touched, 1, "arguments of a line that is off are not computed");
	ctm_log_set(NULL, NULL, "all");
	CTM_DEBUG("walk", "entry %d", touch());
	cr_assert_eq(lines, 1);
}

Test(log, control_bytes_do_not_pass)
{
	ctm_log_set(keep, none, "all");
	ctm_log("x", "a\nb\x1b[31mc\x7f"
		     "d\xc3\xa4");
	cr_assert_str_eq(got, "x a?b?[31mc?d\xc3\xa4 ");
}

Test(log, long_lines_end)
{
	char text[3000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ctm_log_set(keep, none, text);
	ctm_log_set(keep, none, "all");
	ctm_log("x", "%s", text);
	cr_assert_eq(strlen(got), strlen("x ") + 1023 + strlen(" "));
}
