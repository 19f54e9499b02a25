/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Table tests for Criterion.
 *
 * A parameterised Criterion test runs in a worker process that gets a copy of its parameter;
 * pointers in the parameter do not survive that. CASES hands over the index of the row, and the
 * body looks the row up:
 *
 *	static const struct { const char *name; int in, want; } rows[] = {
 *		{ "zero", 0, 0 },
 *		{ "one", 1, 2 },
 *	};
 *	CASES(doubling, table, rows)
 *	{
 *		cr_assert_eq(twice(rows[*i].in), rows[*i].want, "%s", rows[*i].name);
 *	}
 *
 * Each row is a test of its own in a process of its own. Criterion prints the name of the test but
 * not the row, so every message starts with the row's name.
 */
#ifndef CTM_TESTS_CASES_H
#define CTM_TESTS_CASES_H

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stddef.h>

#define CASES_MAX 4096

/*
 * The parameters 0, 1, ..., n - 1. Criterion copies them, so one array serves all tables of a
 * program.
 */
static inline struct criterion_test_params cases_upto(size_t n)
{
	static size_t row[CASES_MAX];

	cr_assert_leq(n, CASES_MAX, "a table has at most %d rows", CASES_MAX);
	for (size_t i = 0; i < n; i++) {
		row[i] = i;
	}
	return cr_make_param_array(size_t, row, n);
}

/*
 * Run the body that follows once for each row of the array `rows`; in the body `*i` is the row's
 * index.
 */
#define CASES(suite, name, rows)                                     \
	ParameterizedTestParameters(suite, name)                     \
	{                                                            \
		return cases_upto(sizeof(rows) / sizeof((rows)[0])); \
	}                                                            \
	ParameterizedTest(const size_t *i, suite, name)

#endif
