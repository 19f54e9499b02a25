/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers of share/pve-storage.pl, and what only looks like one.
 */
#include "storage/pveanswer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

#define TEXT(s)                    \
	{                          \
		(s), sizeof(s) - 1 \
	}
#define ANSWER(middle) TEXT("ctmend-pve 1\n" middle "end\n")

static const struct {
	const char *name;
	struct ctm_bytes text;
	const char *path;
	const char *format;
	bool base;
	bool active;
} good[] = {
	{ "inactive", ANSWER("path /dev/pve/vm-1-disk-0\nformat raw\nbase 0\nactive 0\n"),
	  "/dev/pve/vm-1-disk-0", "raw", false, false },
	{ "active", ANSWER("path /dev/pve/vm-1-disk-0\nformat raw\nbase 0\nactive 1\n"),
	  "/dev/pve/vm-1-disk-0", "raw", false, true },
	{ "base volume", ANSWER("path /a/b c\nformat subvol\nbase 1\nactive 0\n"), "/a/b c",
	  "subvol", true, false },
	{ "no path", ANSWER("path \nformat raw\nbase 0\nactive 0\n"), NULL, "raw", false, false },
	{ "dots in a name", ANSWER("path /a/..b/c..\nformat raw\nbase 0\nactive 0\n"), "/a/..b/c..",
	  "raw", false, false },
	{ "blank behind the path", ANSWER("path /a \nformat raw\nbase 0\nactive 0\n"), "/a ", "raw",
	  false, false },
};
CASES(pveanswer, good, good)
{
	CLEANUP(ctm_pve_answer_done) struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_pve_answer_parse(good[*i].text, &answer, &err), 0, "%s: %s", good[*i].name,
		     err.msg);
	cr_assert_eq(answer.path == NULL, good[*i].path == NULL, "%s", good[*i].name);
	cr_assert(!answer.path || strcmp(answer.path, good[*i].path) == 0, "%s: '%s'",
		  good[*i].name, answer.path);
	cr_assert_str_eq(answer.format, good[*i].format, "%s", good[*i].name);
	cr_assert_eq(answer.base, good[*i].base, "%s", good[*i].name);
	cr_assert_eq(answer.active, good[*i].active, "%s", good[*i].name);
}

static const struct {
	const char *name;
	struct ctm_bytes text;
	const char *error;
} bad[] = {
	{ "nothing", { "", 0 }, "not to be understood" },
	{ "another version", TEXT("ctmend-pve 2\npath /a\nformat raw\nbase 0\nactive 0\nend\n"),
	  "not to be understood" },
	{ "no first line", TEXT("path /a\nformat raw\nbase 0\nactive 0\nend\n"),
	  "not to be understood" },
	{ "something in front",
	  TEXT("\nctmend-pve 1\npath /a\nformat raw\nbase 0\nactive 0\nend\n"),
	  "not to be understood" },
	{ "something behind", TEXT("ctmend-pve 1\npath /a\nformat raw\nbase 0\nactive 0\nend\n\n"),
	  "not to be understood" },
	{ "two answers",
	  TEXT("ctmend-pve 1\npath /a\nformat raw\nbase 0\nactive 0\nend\n"
	       "ctmend-pve 1\npath /b\nformat raw\nbase 0\nactive 0\nend\n"),
	  "not to be understood" },
	{ "cut short", TEXT("ctmend-pve 1\npath /a\nformat raw\nbase 0\nactive 0\nend"),
	  "not to be understood" },
	{ "no end", TEXT("ctmend-pve 1\npath /a\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "a line is missing", ANSWER("path /a\nformat raw\nactive 0\n"), "not to be understood" },
	{ "another order", ANSWER("format raw\npath /a\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "a line twice", ANSWER("path /a\npath /b\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "unknown line", ANSWER("path /a\nformat raw\nbase 0\nactive 0\nmore 1\n"),
	  "not to be understood" },
	{ "a longer key", ANSWER("paths /a\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "no boolean", ANSWER("path /a\nformat raw\nbase 0\nactive yes\n"),
	  "not to be understood" },
	{ "empty boolean", ANSWER("path /a\nformat raw\nbase \nactive 0\n"),
	  "not to be understood" },
	{ "carriage return", ANSWER("path /a\r\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "NUL", ANSWER("path /a\0b\nformat raw\nbase 0\nactive 0\n"), "not to be understood" },
	{ "relative", ANSWER("path a\nformat raw\nbase 0\nactive 0\n"), "not to be understood" },
	{ "librbd", ANSWER("path rbd:p/a\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "the root", ANSWER("path /\nformat raw\nbase 0\nactive 0\n"), "not to be understood" },
	{ "only slashes", ANSWER("path ///\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "climbing", ANSWER("path /dev/../etc\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "climbing at the end", ANSWER("path /dev/..\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "control byte", ANSWER("path /a\033b\nformat raw\nbase 0\nactive 0\n"),
	  "not to be understood" },
	{ "no format", ANSWER("path /a\nformat \nbase 0\nactive 0\n"), "format ''" },
	{ "qcow2", ANSWER("path /a\nformat qcow2\nbase 0\nactive 0\n"), "the format 'qcow2'" },
	{ "format with an escape", ANSWER("path /a\nformat \033[m\nbase 0\nactive 0\n"),
	  "not to be understood" },
};
CASES(pveanswer, bad, bad)
{
	struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_lt(ctm_pve_answer_parse(bad[*i].text, &answer, &err), 0, "%s", bad[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", bad[*i].name);
	cr_assert_not_null(strstr(err.msg, bad[*i].error), "%s: %s", bad[*i].name, err.msg);
	cr_assert(!answer.path && !answer.format, "%s", bad[*i].name);
}

Test(pveanswer, every_beginning_of_an_answer_is_none)
{
	static const char text[] = "ctmend-pve 1\npath /a\nformat raw\nbase 0\nactive 0\nend\n";
	struct ctm_pve_answer answer = { 0 };

	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		/* on the heap, so that a read behind it is seen */
		CLEANUP_FREE char *copy = malloc(len + 1);

		cr_assert_not_null(copy);
		memcpy(copy, text, len);
		cr_assert_lt(ctm_pve_answer_parse((struct ctm_bytes){ copy, len }, &answer, NULL),
			     0, "%zu", len);
	}
}

Test(pveanswer, too_long)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	CLEANUP(ctm_pve_answer_done) struct ctm_pve_answer answer = { 0 };

	for (size_t len = PATH_MAX - 2; len <= PATH_MAX; len++) {
		bool fits = len < PATH_MAX;

		text.len = 0;
		cr_assert_eq(ctm_buf_addf(&text,
					  "ctmend-pve 1\npath /%0*d\nformat raw\nbase 0\n"
					  "active 0\nend\n",
					  (int)len - 1, 0),
			     0);
		cr_assert_eq(ctm_pve_answer_parse((struct ctm_bytes){ text.p, text.len }, &answer,
						  NULL) == 0,
			     fits, "%zu", len);
		ctm_pve_answer_done(&answer);
	}
}

Test(pveanswer, done)
{
	static const struct {
		struct ctm_bytes text;
		bool good;
	} rows[] = {
		{ TEXT("ctmend-pve 1\nend\n"), true },    { TEXT("ctmend-pve 1\nend"), false },
		{ TEXT("ctmend-pve 1\n"), false },        { TEXT(""), false },
		{ TEXT("ctmend-pve 1\nend\n\n"), false }, { ANSWER("path /a\n"), false },
		{ TEXT("ctmend-pve 1\nend\0\n"), false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ctm_err err = { 0 };

		cr_assert_eq(ctm_pve_answer_parse_done(rows[i].text, &err) == 0, rows[i].good,
			     "%zu", i);
		cr_assert_eq(err.code, rows[i].good ? CTM_OK : CTM_REFUSED, "%zu", i);
	}
}
