/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of ordinary keys, and the form in which PVE keeps them.
 */
#include "config/pctvalue.h"

#include <string.h>

#include "cases.h"
#include "config/lines.h"

static const struct {
	const char *key;
	const char *text;
	const char *want; /* NULL: no value of that key */
} rows[] = {
	{ "unprivileged", "1", "1" },    { "unprivileged", "TRUE", "1" },
	{ "unprivileged", "Off", "0" },  { "unprivileged", "maybe", NULL },
	{ "unprivileged", "01", NULL },  { "memory", "512", "512" },
	{ "memory", "0512", "512" },     { "memory", "000", "0" },
	{ "memory", "-1", NULL },        { "memory", "5G", NULL },
	{ "memory", "", NULL },          { "cpulimit", "2", "2" },
	{ "cpulimit", "0.50", "0.50" },  { "cpulimit", ".5", NULL },
	{ "cpulimit", "1.", NULL },      { "cpulimit", "1.2.3", NULL },
	{ "cpulimit", "1e3", NULL },     { "lock", "any text", "any text" },
	{ "lock", "a\rb", NULL },        { "rootfs", "a:b,size=8G", "a:b,size=8G" },
	{ "rootfs", "a:b,mp=/x", NULL }, { "mp0", "a:b,mp=/x", "a:b,mp=/x" },
	{ "mp0", "a:b", NULL },          { "futurekey", "1", NULL },
};
CASES(pctvalue, check, rows)
{
	struct ctm_bytes key = { rows[*i].key, strlen(rows[*i].key) };
	struct ctm_bytes got = { 0 };
	struct ctm_err err = { 0 };
	int r = ctm_pctvalue_check(key, rows[*i].text, &got, &err);

	cr_assert_eq(r == 0, rows[*i].want != NULL, "%s: %s: %s", rows[*i].key, rows[*i].text,
		     err.msg);
	if (rows[*i].want) {
		cr_assert(ctm_bytes_is(got, rows[*i].want), "%s: %s", rows[*i].key, rows[*i].text);
	} else {
		cr_assert_eq(err.code, CTM_REFUSED, "%s: %s", rows[*i].key, rows[*i].text);
		cr_assert_null(got.p);
	}
}
