/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Property strings.
 */
#include "config/propstr.h"

#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

static bool no_x(const char *value)
{
	return !strchr(value, 'x');
}

static const struct ctm_prop_desc with_default[] = {
	{ .name = "volume", .required = true, .default_key = true },
	{ .name = "ro", .boolean = true },
	{ .name = "size", .valid = no_x },
};
static const struct ctm_prop_schema schema = { with_default, ARRAY_LEN(with_default) };
static const struct ctm_prop_schema no_default = { with_default + 1, 2 };

static const struct {
	const char *name;
	const char *text;
	const char *volume, *ro, *size;
	const char *error; /* part of the message; NULL: none */
} rows[] = {
	{ "default key first", "a:b,size=8G", "a:b", NULL, "8G", NULL },
	{ "default key last", "size=8G,a:b", "a:b", NULL, "8G", NULL },
	{ "default key written out", "ro=1,volume=a:b", "a:b", "1", NULL, NULL },
	{ "boolean words", "a,ro=Yes", "a", "1", NULL, NULL },
	{ "boolean words, false", "a,ro=OFF", "a", "0", NULL, NULL },
	{ "empty parts", ",,a, ,\t,ro=0,", "a", "0", NULL, NULL },
	{ "the first = ends the key", "volume=a=b=c", "a=b=c", NULL, NULL, NULL },
	{ "blanks are part of a value", "a, size=8G", NULL, NULL, NULL,
	  "unknown property ' size'" },
	{ "blank behind a value", "a ,size=8G ", "a ", NULL, "8G ", NULL },
	{ "no quoting", "\"a,b\"", NULL, NULL, NULL, "'volume' stands there twice" },
	{ "two defaults", "a,b", NULL, NULL, NULL, "'volume' stands there twice" },
	{ "default and written out", "a,volume=b", NULL, NULL, NULL,
	  "'volume' stands there twice" },
	{ "twice", "a,size=1,size=2", NULL, NULL, NULL, "'size' stands there twice" },
	{ "unknown", "a,future=1", NULL, NULL, NULL, "unknown property 'future'" },
	{ "case counts", "a,Size=1", NULL, NULL, NULL, "unknown property 'Size'" },
	{ "bad boolean", "a,ro=maybe", NULL, NULL, NULL, "'ro' is neither 0 nor 1: 'maybe'" },
	{ "bad value", "a,size=x", NULL, NULL, NULL, "'size' has the bad value 'x'" },
	{ "empty value", "a,size=", NULL, NULL, NULL, "'size=' lacks a key or a value" },
	{ "empty key", "a,=1", NULL, NULL, NULL, "'=1' lacks a key or a value" },
	{ "missing", "ro=1", NULL, NULL, NULL, "'volume' is missing" },
	{ "nothing", "", NULL, NULL, NULL, "'volume' is missing" },
};

static void check(const char *name, const char *what, const char *got, const char *want)
{
	cr_assert((!got && !want) || (got && want && strcmp(got, want) == 0), "%s: %s is '%s'",
		  name, what, got ? got : "(none)");
}

CASES(propstr, parse, rows)
{
	CLEANUP(ctm_propstr_done) struct ctm_propstr ps = { 0 };
	struct ctm_err err = { 0 };
	int r = ctm_propstr_parse(&schema, rows[*i].text, &ps, &err);

	if (rows[*i].error) {
		cr_assert_lt(r, 0, "%s", rows[*i].name);
		cr_assert_eq(err.code, CTM_REFUSED, "%s", rows[*i].name);
		cr_assert_not_null(strstr(err.msg, rows[*i].error), "%s: %s", rows[*i].name,
				   err.msg);
		return;
	}
	cr_assert_eq(r, 0, "%s: %s", rows[*i].name, err.msg);
	check(rows[*i].name, "volume", ctm_propstr_get(&ps, "volume"), rows[*i].volume);
	check(rows[*i].name, "ro", ctm_propstr_get(&ps, "ro"), rows[*i].ro);
	check(rows[*i].name, "size", ctm_propstr_get(&ps, "size"), rows[*i].size);
}

Test(propstr, no_default_key)
{
	CLEANUP(ctm_propstr_done) struct ctm_propstr ps = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_lt(ctm_propstr_parse(&no_default, "a", &ps, &err), 0);
	cr_assert_str_eq(err.msg, "'a' has no key");
}
