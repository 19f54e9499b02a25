/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Maps as written in a configuration and after --map: what is read, and what is said about the
 * rest.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "id/idmap.h"

static void assert_map(const struct ctm_idmap *map, const char *want, const char *name)
{
	struct ctm_buf got = { 0 };

	cr_assert_eq(ctm_idmap_format(map, &got), 0);
	cr_assert_str_eq(got.p, want, "%s: %s", name, got.p);
	ctm_buf_done(&got);
}

static const struct {
	const char *line;
	const char *want;
} good_lines[] = {
	{ "u 0 100000 65536", "u 0 100000 65536" },
	{ "g 1005 1005 1", "g 1005 1005 1" },
	{ "  u\t0  100000\t \t65536 \r", "u 0 100000 65536" },
	{ "u\r0\r1\r2", "u 0 1 2" },
	{ "u 0 0 4294967295", "u 0 0 4294967295" },
	{ "g 4294967294 4294967294 1", "g 4294967294 4294967294 1" },
};

CASES(mapspec, line, good_lines)
{
	struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_err err = { 0 };
	int r = ctm_idmap_add_line(map, good_lines[*i].line, &err);

	cr_assert_eq(r, 0, "\"%s\": returned %d, %s", good_lines[*i].line, r, err.msg);
	cr_assert_eq(err.code, CTM_OK, "\"%s\"", good_lines[*i].line);
	assert_map(map, good_lines[*i].want, good_lines[*i].line);
	ctm_idmap_free(map);
}

/* Each is offered to the map "u 0 100000 65536". */
static const struct {
	const char *line;
	int want;
	const char *says; /* part of the message */
} bad_lines[] = {
	{ "", -EINVAL, "id map \"\": the type is missing" },
	{ " \t", -EINVAL, "the type is missing" },
	{ "u", -EINVAL, "the first container id is missing" },
	{ "u 1", -EINVAL, "the first disk id is missing" },
	{ "u 1 2", -EINVAL, "the count is missing" },
	{ "u0 1 2", -EINVAL, "the count is missing" },
	{ "u 1 2 3 4", -EINVAL, "\"4\" after the count" },
	{ "u 70000 1 1 # own", -EINVAL, "\"# own\" after the count" },
	{ "U 1 2 3", -EINVAL, "type \"U\" is neither u nor g" },
	{ "b 1 2 3", -EINVAL, "type \"b\" is neither u nor g" },
	{ "ug 1 2 3", -EINVAL, "type \"ug\" is neither u nor g" },
	{ "u -1 2 3", -EINVAL, "first container id \"-1\" is not a decimal number" },
	{ "u 1 +2 3", -EINVAL, "first disk id \"+2\" is not a decimal number" },
	{ "u 1 2 0x3", -EINVAL, "count \"0x3\" is not a decimal number" },
	{ "u 1 2 3,", -EINVAL, "count \"3,\" is not a decimal number" },
	{ "u 1\n2 3 4", -EINVAL, "first container id \"1\\n2\" is not" },
	{ "u 010 2 3", -EINVAL, "first container id \"010\" has a leading zero" },
	{ "u 1 00 3", -EINVAL, "first disk id \"00\" has a leading zero" },
	{ "u 1 2 03", -EINVAL, "count \"03\" has a leading zero" },
	{ "u 4294967296 2 3", -ERANGE, "first container id \"4294967296\" does not fit" },
	{ "u 1 2 18446744073709551617", -ERANGE, "count \"18446744073709551617\" does not fit" },
	{ "u 70000 2 0", -EINVAL, "count 0" },
	{ "u 4294967295 2 1", -ERANGE, "past 4294967294" },
	{ "u 70000 4294967290 6", -ERANGE, "past 4294967294" },
	{ "u 65535 5 2", -EEXIST,
	  "container ids 65535-65536 overlap with the range u 0 100000 65536" },
	{ "u 65536 99999 2", -EEXIST,
	  "disk ids 99999-100000 overlap with the range u 0 100000 65536" },
	{ "u 1 \x1b[2J 3", -EINVAL, "first disk id \"\\x1b[2J\" is not" },
};

CASES(mapspec, refused_line, bad_lines)
{
	struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_err err = { 0 };
	int r;

	cr_assert_eq(ctm_idmap_add_line(map, "u 0 100000 65536", NULL), 0);
	r = ctm_idmap_add_line(map, bad_lines[*i].line, &err);
	cr_assert_eq(r, bad_lines[*i].want, "\"%s\": returned %d", bad_lines[*i].line, r);
	cr_assert_eq(err.code, CTM_REFUSED, "\"%s\": code %d", bad_lines[*i].line, err.code);
	cr_assert(strstr(err.msg, bad_lines[*i].says), "\"%s\": %s", bad_lines[*i].line, err.msg);
	cr_assert_eq(err.hint[0] != '\0', r == -EINVAL, "\"%s\": hint %s", bad_lines[*i].line,
		     err.hint);
	assert_map(map, "u 0 100000 65536", bad_lines[*i].line);
	cr_assert_eq(ctm_idmap_add_line(map, bad_lines[*i].line, NULL), r, "\"%s\" without err",
		     bad_lines[*i].line);
	ctm_idmap_free(map);
}

Test(mapspec, too_many_lines)
{
	struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_err err = { 0 };
	char line[64];

	for (int n = 0; n < CTM_IDMAP_MAX; n++) {
		(void)snprintf(line, sizeof(line), "g %d %d 1", n, 1000 + 2 * n);
		cr_assert_eq(ctm_idmap_add_line(map, line, &err), 0, "%s", err.msg);
	}
	cr_assert_eq(ctm_idmap_add_line(map, "g 5000 5000 1", &err), -E2BIG);
	cr_assert(strstr(err.msg, "more than 340 ranges"), "%s", err.msg);
	ctm_idmap_free(map);
}

Test(mapspec, long_words_are_cut)
{
	struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_err err = { 0 };
	char line[5000];

	memset(line, 'z', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, "u 1 2 ", 6);
	cr_assert_eq(ctm_idmap_add_line(map, line, &err), -EINVAL);
	cr_assert(strstr(err.msg, "zzz...\" is not a decimal number"), "%s", err.msg);
	ctm_idmap_free(map);
}

static const struct {
	const char *spec;
	const char *want;
} good_specs[] = {
	{ "100000", "u 0 100000 65536, g 0 100000 65536" },
	{ "0", "u 0 0 65536, g 0 0 65536" },
	{ "4294901759", "u 0 4294901759 65536, g 0 4294901759 65536" },
	{ "0:100000:65536", "u 0 100000 65536, g 0 100000 65536" },
	{ "0:100000:1000,1000:1000:1",
	  "u 0 100000 1000, u 1000 1000 1, g 0 100000 1000, g 1000 1000 1" },
	{ "u:0:100000:65536,g:0:200000:65536", "u 0 100000 65536, g 0 200000 65536" },
	{ "g:0:1:2,u:0:3:4,g:2:9:1", "u 0 3 4, g 0 1 2, g 2 9 1" },
	{ "u:0:100000:65536", "u 0 100000 65536" },
	{ "0:100000:10,u:10:10:1", "u 0 100000 10, u 10 10 1, g 0 100000 10" },
};

CASES(mapspec, spec, good_specs)
{
	struct ctm_idmap *map = NULL;
	struct ctm_err err = { 0 };
	int r = ctm_idmap_parse_spec(good_specs[*i].spec, &map, &err);

	cr_assert_eq(r, 0, "\"%s\": returned %d, %s", good_specs[*i].spec, r, err.msg);
	assert_map(map, good_specs[*i].want, good_specs[*i].spec);
	ctm_idmap_free(map);
}

static const struct {
	const char *spec;
	int want;
	const char *says;
} bad_specs[] = {
	{ "", -EINVAL, "base is missing" },
	{ "root", -EINVAL, "base \"root\" is not a decimal number" },
	{ " 100000", -EINVAL, "base \" 100000\" is not a decimal number" },
	{ "0100000", -EINVAL, "base \"0100000\" has a leading zero" },
	{ "4294901760", -ERANGE, "past 4294967294" },
	{ "4294967295", -ERANGE, "past 4294967294" },
	{ "4294967296", -ERANGE, "does not fit into 32 bits" },
	{ "100000,200000", -EINVAL, "\"100000\" is not a range" },
	{ "0:100000", -EINVAL, "\"0:100000\" is not a range" },
	{ "u:0:1:2:3", -EINVAL, "\"u:0:1:2:3\" is not a range" },
	{ "0:1:2,", -EINVAL, "\"\" is not a range" },
	{ ",0:1:2", -EINVAL, "\"\" is not a range" },
	{ "0::2", -EINVAL, "first disk id is missing" },
	{ "::", -EINVAL, "first container id is missing" },
	{ "0:1:", -EINVAL, "count is missing" },
	{ ":0:1:2", -EINVAL, "type \"\" is neither u nor g" },
	{ "b:0:1:2", -EINVAL, "type \"b\" is neither u nor g" },
	{ "uid:0:1:2", -EINVAL, "type \"uid\" is neither u nor g" },
	{ "0:1:0", -EINVAL, "count 0" },
	{ "0:1:2,1:9:1", -EEXIST, "container ids 1-1 overlap with the range u 0 1 2" },
	{ "u:0:1:2,g:0:1:2,g:5:2:1", -EEXIST, "disk ids 2-2 overlap with the range g 0 1 2" },
};

CASES(mapspec, refused_spec, bad_specs)
{
	struct ctm_idmap *map = NULL;
	struct ctm_err err = { 0 };
	int r = ctm_idmap_parse_spec(bad_specs[*i].spec, &map, &err);

	cr_assert_eq(r, bad_specs[*i].want, "\"%s\": returned %d", bad_specs[*i].spec, r);
	cr_assert_null(map, "\"%s\": written although refused", bad_specs[*i].spec);
	cr_assert_eq(err.code, CTM_USAGE, "\"%s\": code %d", bad_specs[*i].spec, err.code);
	cr_assert(strstr(err.msg, bad_specs[*i].says), "\"%s\": %s", bad_specs[*i].spec, err.msg);
	cr_assert(strstr(err.msg, "id map \""), "\"%s\": %s", bad_specs[*i].spec, err.msg);
}
