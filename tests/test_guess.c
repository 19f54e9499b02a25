/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which map a histogram looks like. */
#include "plan/guess.h"

#include <errno.h>
#include <string.h>

#include "cases.h"

#define IDS(...)                     \
	.v = (struct ctm_id_count[]) \
	{                            \
		__VA_ARGS__          \
	}

static const struct {
	const char *name;
	struct ctm_id_histogram ids[2];
	int r;
	const char *want;
} rows[] = {
	{ "the default map",
	  { { IDS({ 100000, 900 }, { 100033, 50 }, { 165534, 1 }), .n = 3 },
	    { IDS({ 100000, 951 }), .n = 1 } },
	  0,
	  "0:100000:65536" },
	{ "another base, a few strays",
	  { { IDS({ 0, 3 }, { 325124096, 90 }, { 325124129, 9 }), .n = 3 },
	    { IDS({ 325124096, 102 }), .n = 1 } },
	  0,
	  "0:325124096:65536" },
	{ "uid and gid on different bases",
	  { { IDS({ 165536, 10 }), .n = 1 }, { IDS({ 100000, 10 }), .n = 1 } },
	  0,
	  "u:0:165536:65536,g:0:100000:65536" },
	{ "never shifted",
	  { { IDS({ 0, 70 }, { 33, 80 }), .n = 2 }, { IDS({ 0, 150 }), .n = 1 } },
	  0,
	  "0:0:65536" },
	{ "two bases, half and half",
	  { { IDS({ 100000, 50 }, { 200000, 50 }), .n = 2 }, { IDS({ 100000, 100 }), .n = 1 } },
	  -ENODATA,
	  NULL },
	{ "too many distinct ids to tell",
	  { { IDS({ 100000, 50 }), .n = 1, .other = 500 }, { IDS({ 100000, 550 }), .n = 1 } },
	  -ENODATA,
	  NULL },
	{ "nothing there", { { .n = 0 }, { .n = 0 } }, -ENODATA, NULL },
};

CASES(guess, map, rows)
{
	struct ctm_buf out = { 0 };
	int r = ctm_guess_map(rows[*i].ids, &out);

	cr_assert_eq(r, rows[*i].r, "%s: returned %d", rows[*i].name, r);
	cr_assert(r < 0 || strcmp(out.p, rows[*i].want) == 0, "%s: got %s", rows[*i].name,
		  out.p ? out.p : "(none)");
	ctm_buf_done(&out);
}
