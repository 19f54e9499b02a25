/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of --fix.
 */
#include "plan/fix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

static const struct {
	const char *text;
	int r;
	unsigned int want;
	const char *bad;
} rows[] = {
	{ "base", 0, CTM_FIX_BASE, NULL },
	{ "hole,twice,base", 0, CTM_FIX_HOLE | CTM_FIX_TWICE | CTM_FIX_BASE, NULL },
	{ "flags,flags", 0, CTM_FIX_FLAGS, NULL },
	{ "device", 0, CTM_FIX_DEVICE, NULL },
	{ "bits,link,overflow,rosubvol", 0,
	  CTM_FIX_BITS | CTM_FIX_LINK | CTM_FIX_OVERFLOW | CTM_FIX_ROSUBVOL, NULL },
	{ "", -EINVAL, 0, "" },
	{ "base,", -EINVAL, 0, "" },
	{ ",base", -EINVAL, 0, "" },
	{ "base,host", -EINVAL, 0, "host" },
	{ "bas", -EINVAL, 0, "bas" },
	{ "bases", -EINVAL, 0, "bases" },
	{ "Base", -EINVAL, 0, "Base" },
	{ "base, hole", -EINVAL, 0, " hole" },
};

CASES(fix, parse, rows)
{
	unsigned int got = 12345;
	const char *bad = NULL;
	size_t len = 0;
	int r = ctm_fix_parse(rows[*i].text, &got, &bad, &len);

	cr_assert_eq(r, rows[*i].r, "'%s': %d", rows[*i].text, r);
	cr_assert_eq(got, r == 0 ? rows[*i].want : 12345, "'%s': %#x", rows[*i].text, got);
	if (r < 0) {
		cr_assert(len == strlen(rows[*i].bad) && memcmp(bad, rows[*i].bad, len) == 0,
			  "'%s': complains of '%.*s'", rows[*i].text, (int)len, bad);
	}
}

/* What the message says that there is, is taken, each name by itself. */
Test(fix, every_name_said_is_a_name)
{
	unsigned int all = 0;
	size_t n = 0;

	for (const char *p = ctm_fix_names(); *p; n++) {
		char name[32];
		size_t len = strcspn(p, ",");
		unsigned int one = 0;
		const char *bad;

		(void)snprintf(name, sizeof(name), "%.*s", (int)len, p);
		cr_assert_eq(ctm_fix_parse(name, &one, &bad, &len), 0, "'%s'", name);
		cr_assert_eq(__builtin_popcount(one), 1);
		all |= one;
		p += strlen(name);
		p += strspn(p, ", ");
	}
	cr_assert_eq(__builtin_popcount(all), (int)n);
	cr_assert_eq(all, 0x1ffu);
}
