/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include "cases.h"

static const struct {
	const char *text;
	int base;
	uint64_t max;
	int used; /* -1: there is none */
	uint64_t want;
} rows[] = {
	{ "0", 10, UINT64_MAX, 1, 0 },
	{ "42:", 10, UINT64_MAX, 2, 42 },
	{ "007 ", 10, UINT64_MAX, 3, 7 },
	{ "18446744073709551615", 10, UINT64_MAX, 20, UINT64_MAX },
	{ "18446744073709551616", 10, UINT64_MAX, -1, 0 },
	{ "99999999999999999999999", 10, UINT64_MAX, -1, 0 },
	{ "4294967295", 10, UINT32_MAX, 10, UINT32_MAX },
	{ "4294967296", 10, UINT32_MAX, -1, 0 },
	{ "", 10, UINT64_MAX, -1, 0 },
	{ " 1", 10, UINT64_MAX, -1, 0 },
	{ "+1", 10, UINT64_MAX, -1, 0 },
	{ "-1", 10, UINT64_MAX, -1, 0 },
	{ "x", 10, UINT64_MAX, -1, 0 },
	{ "1f", 10, UINT64_MAX, 1, 1 },
	{ "1f:0", 16, UINT64_MAX, 2, 0x1f },
	{ "fE", 16, UINT64_MAX, 2, 0xfe },
	{ "0x10", 16, UINT64_MAX, -1, 0 },
	{ "ffffffffffffffff", 16, UINT64_MAX, 16, UINT64_MAX },
	{ "10000000000000000", 16, UINT64_MAX, -1, 0 },
	{ "<none>", 16, UINT64_MAX, -1, 0 },
};
CASES(number, take, rows)
{
	const char *text = rows[*i].text;
	uint64_t got = 4711;
	bool ok = ctm_number_take(&text, rows[*i].base, rows[*i].max, &got);

	cr_assert_eq(ok, rows[*i].used >= 0, "'%s'", rows[*i].text);
	cr_assert_eq(text - rows[*i].text, ok ? rows[*i].used : 0, "'%s'", rows[*i].text);
	cr_assert_eq(got, ok ? rows[*i].want : 4711, "'%s'", rows[*i].text);
}

Test(number, word)
{
	const char *text = "ino:\t5";

	cr_assert_not(ctm_word_take(&text, "ino:\t5 "));
	cr_assert_str_eq(text, "ino:\t5");
	cr_assert(ctm_word_take(&text, "ino:\t"));
	cr_assert_str_eq(text, "5");
	cr_assert(ctm_word_take(&text, ""));
	cr_assert_str_eq(text, "5");
}
