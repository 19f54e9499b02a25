/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /etc/subuid grants root. */
#include "config/subid.h"

#include <stdio.h>
#include <string.h>

#include "cases.h"

#define PVE "root:100000:65536\n"

static const struct {
	const char *text;
	uint32_t first;
	uint32_t count;
	bool want;
} rows[] = {
	{ "", 100000, 65536, false },
	{ PVE, 100000, 65536, true },
	{ PVE, 100000, 1, true },
	{ PVE, 165535, 1, true },
	{ PVE, 165535, 2, false },
	{ PVE, 99999, 1, false },
	{ PVE, 1005, 1, false },
	{ PVE "root:1005:1\n", 1005, 1, true },
	{ PVE "root:1005:1", 1005, 1, true },
	{ PVE "root:1005:1\n", 1005, 2, false },
	/* by number, among others, with comments and blanks */
	{ "# mine\nalice:100000:65536\n0:200000:10\n", 200000, 10, true },
	{ "alice:100000:65536\n", 100000, 65536, false },
	{ "  root:5:5  \r\n", 5, 5, true },
	/* several lines together, in any order */
	{ "root:300010:10\nroot:300000:10\n", 300000, 20, true },
	{ "root:300005:15\nroot:300000:10\n", 300000, 20, true },
	{ "root:300011:10\nroot:300000:10\n", 300000, 20, false },
	/* what is no line grants nothing */
	{ "root\nroot:\nroot:1\nroot:1:\nroot:x:1\nroot:1:y\nroot:-1:9\nroots:1:9\n", 1, 1, false },
	{ "root:99999999999999999999:1\nroot:1:99999999999999999999\n", 1, 1, false },
	{ "root:4294967294:1\n", 4294967294, 1, true },
	{ "root:0:4294967295\n", 0, 4294967295, true },
	{ "root:5:0\n", 5, 1, false },
};

CASES(subid, grants, rows)
{
	const struct ctm_bytes text = { rows[*i].text, strlen(rows[*i].text) };

	cr_assert_eq(ctm_subid_grants(text, rows[*i].first, rows[*i].count), rows[*i].want,
		     "row %zu: '%s' %u %u", *i, rows[*i].text, rows[*i].first, rows[*i].count);
}

/* Another owner's lines; missing 0: all is granted. */
static const struct {
	const char *text;
	const char *name;
	uint32_t uid;
	uint32_t first;
	uint32_t count;
	uint32_t missing;
} owners[] = {
	{ "joe:1:2\n", "joe", 1000, 1, 2, 0 },
	{ "joe:1:2\n", "joe", 1000, 1, 3, 3 },
	{ "joe:1:2\n", "joe", 1000, 5, 3, 5 },
	{ "1000:1:2\n", "joe", 1000, 1, 2, 0 },
	{ "1000:1:2\n", NULL, 1000, 1, 2, 0 },
	{ "joe:1:2\n", NULL, 1000, 1, 2, 1 },
	{ "1000:1:2\njoe:3:2\n", "joe", 1000, 1, 4, 0 },
	{ "root:1:9\n0:1:9\n10000:1:9\njoey:1:9\n:1:9\n", "joe", 1000, 1, 1, 1 },
	{ "", "joe", 1000, 7, 1, 7 },
};
CASES(subid, grants_to, owners)
{
	const struct ctm_bytes text = { owners[*i].text, strlen(owners[*i].text) };
	uint32_t missing = 0;
	bool all = ctm_subid_grants_to(text, owners[*i].name, owners[*i].uid, owners[*i].first,
				       owners[*i].count, &missing);

	cr_assert_eq(all, owners[*i].missing == 0, "row %zu", *i);
	cr_assert_eq(missing, owners[*i].missing, "row %zu: %u", *i, missing);
}

static int add_up(uint32_t first, uint32_t count, void *arg)
{
	char *out = arg;

	(void)sprintf(out + strlen(out), "%u+%u ", first, count);
	return first == 7 ? 3 : 0;
}

/* Everybody's lines, in their order; what is none is left out. */
Test(subid, each)
{
	static const char text[] = "# mine\nalice:165536:65536\nroot:100000:65536\n:5:5\nroot:5:0\n"
				   "bob:4294967290:9\nbob:4294967294:1\n0:1:x\n1001:300000:10";
	char got[200] = "";

	cr_assert_eq(ctm_subid_each((struct ctm_bytes){ text, strlen(text) }, add_up, got), 0);
	cr_assert_str_eq(got, "165536+65536 100000+65536 4294967294+1 300000+10 ");
	got[0] = '\0';
	cr_assert_eq(ctm_subid_each((struct ctm_bytes){ "a:7:1\na:8:1\n", 12 }, add_up, got), 3);
	cr_assert_str_eq(got, "7+1 ");
}
