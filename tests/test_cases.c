/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CASES hands every row's index to a test of its own: each is seen, in range, and names its row. */
#include "cases.h"

static const struct {
	const char *name;
	size_t index;
} rows[] = {
	{ "first", 0 },
	{ "second", 1 },
	{ "last", 2 },
};

CASES(cases, rows_by_index, rows)
{
	cr_assert_lt(*i, sizeof(rows) / sizeof(rows[0]), "index %zu is behind the table", *i);
	cr_assert_eq(*i, rows[*i].index, "%s: got the index %zu", rows[*i].name, *i);
}

Test(cases, as_many_as_rows)
{
	struct criterion_test_params got = cases_upto(3);
	const size_t *index = got.params;

	cr_assert_eq(got.length, 3);
	cr_assert_eq(got.size, sizeof(size_t));
	cr_assert_eq(index[0], 0);
	cr_assert_eq(index[2], 2);
}
