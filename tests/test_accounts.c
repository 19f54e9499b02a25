/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ids that passwd and group name. */
#include "config/accounts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

static int collect(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg)
{
	return ctm_buf_addf(arg, "%.*s/%c%u ", (int)name.len, (const char *)name.p,
			    kind == CTM_UID ? 'u' : 'g', id.v);
}

enum { P = CTM_ACCOUNTS_PASSWD, G = CTM_ACCOUNTS_GROUP };

static const struct {
	int file;
	const char *text;
	const char *want;
} rows[] = {
	{ P, "", "" },
	{ P, "root:x:0:0:root:/root:/bin/bash\n", "root/u0 root/g0 " },
	{ P, "a:x:70000:4294967295::/:/bin/sh", "a/u70000 a/g4294967295 " },
	{ P, "a:x:1:2\nb:x:3:4::/:\n", "a/u1 a/g2 b/u3 b/g4 " },
	{ P, "a:x:5:y::/:\nb:x::7::/:\n", "a/u5 b/g7 " },
	{ P, "a:x:4294967296:0::/:\n", "a/g0 " },
	{ P, "a:x:99999999999999999999999:-1::/:\n", "" },
	/* NIS entries and what else is no line */
	{ P, "+::::::\n\n#\nnothing\n:x:1:1::/:\na:x:1\n", "" },
	{ G, "users:x:100:alice,bob\nvideo:x:44:\n", "users/g100 video/g44 " },
	{ G, "users:x:100\n", "" },
	{ G, "big:x:65536:\n", "big/g65536 " },
};

CASES(accounts, each, rows)
{
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	const struct ctm_bytes text = { rows[*i].text, strlen(rows[*i].text) };
	int r = ctm_accounts_each((enum ctm_accounts_file)rows[*i].file, text, collect, &got);

	cr_assert_eq(r, 0, "row %zu", *i);
	cr_assert_str_eq(got.p ? got.p : "", rows[*i].want, "row %zu", *i);
}

static int stop(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg)
{
	(void)name;
	(void)kind;
	(void)id;
	return ++*(int *)arg == 2 ? -E2BIG : 0;
}

Test(accounts, the_callback_stops_it)
{
	static const char text[] = "a:x:1:2::/:\nb:x:3:4::/:\n";
	int calls = 0;

	cr_assert_eq(ctm_accounts_each(CTM_ACCOUNTS_PASSWD,
				       (struct ctm_bytes){ text, strlen(text) }, stop, &calls),
		     -E2BIG);
	cr_assert_eq(calls, 2);
}
