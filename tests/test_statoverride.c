/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of dpkg's statoverride database.
 */
#include "config/statoverride.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

#define NAME CTM_ID_INVALID

static const struct {
	const char *line;
	bool good;
	uint32_t uid;
	uint32_t gid;
	bool exact;
	uint32_t mode;
	const char *path;
} rows[] = {
	/* as dpkg-statoverride of Debian 12 writes them */
	{ "root root 4755 /usr/bin/tool", true, 0, 0, true, 04755, "/usr/bin/tool" },
	{ "#0 #42 2755 /usr/sbin/x", true, 0, 42, true, 02755, "/usr/sbin/x" },
	{ "root crontab 2755 /usr/bin/crontab", true, 0, NAME, false, 02755, "/usr/bin/crontab" },
	{ "root shadow 2755 /usr/bin/chage", true, 0, 42, false, 02755, "/usr/bin/chage" },
	{ "root tty 2755 /usr/bin/wall", true, 0, 5, false, 02755, "/usr/bin/wall" },
	{ "daemon root 6755 /usr/bin/at", true, NAME, 0, false, 06755, "/usr/bin/at" },
	{ "shadow root 4755 /a", true, NAME, 0, false, 04755, "/a" }, /* no user */
	{ "root root 644 /a b  c", true, 0, 0, true, 0644, "/a b  c" },
	{ "root root 0 /a", true, 0, 0, true, 0, "/a" },
	{ "root root 7777 /a", true, 0, 0, true, 07777, "/a" },
	{ "root root 0004755 /a", true, 0, 0, true, 04755, "/a" },
	{ "#4294967294 root 755 /a", true, 4294967294U, 0, true, 0755, "/a" },
	{ "root root 4755 /../../etc/shadow", true, 0, 0, true, 04755, "/../../etc/shadow" },
	{ "#4294967295 root 755 /a", false, 0, 0, false, 0, NULL },
	{ "#4294967296 root 755 /a", false, 0, 0, false, 0, NULL },
	{ "# root 755 /a", false, 0, 0, false, 0, NULL },
	{ "#-1 root 755 /a", false, 0, 0, false, 0, NULL },
	{ "#0x0 root 755 /a", false, 0, 0, false, 0, NULL },
	{ "root root 10000 /a", false, 0, 0, false, 0, NULL },
	{ "root root 37777777777777777777777 /a", false, 0, 0, false, 0, NULL },
	{ "root root 4785 /a", false, 0, 0, false, 0, NULL },
	{ "root root u+s /a", false, 0, 0, false, 0, NULL },
	{ "root root -1 /a", false, 0, 0, false, 0, NULL },
	{ "root root 4755 usr/bin/su", false, 0, 0, false, 0, NULL },
	{ "root root 4755 /", false, 0, 0, false, 0, NULL },
	{ "root root 4755 ", false, 0, 0, false, 0, NULL },
	{ "root root 4755", false, 0, 0, false, 0, NULL },
	{ "root root", false, 0, 0, false, 0, NULL },
	{ " root root 4755 /a", false, 0, 0, false, 0, NULL },
	{ "root  root 4755 /a", false, 0, 0, false, 0, NULL },
	{ "root\troot\t4755\t/a", false, 0, 0, false, 0, NULL },
	{ "", false, 0, 0, false, 0, NULL },
};

struct seen {
	struct ctm_statoverride last;
	size_t n;
	int stop;
};

static int take(const struct ctm_statoverride *line, void *arg)
{
	struct seen *seen = arg;

	seen->last = *line;
	seen->n++;
	return seen->stop;
}

CASES(statoverride, lines, rows)
{
	size_t len = strlen(rows[*i].line);
	/* exactly as long as it is: whoever reads beyond it is caught */
	CLEANUP_FREE char *text = malloc(len + 1);

	for (int eol = 0; eol < 2; eol++) {
		struct seen seen = { .n = 0 };

		memcpy(text, rows[*i].line, len);
		text[len] = '\n';
		cr_assert_eq(ctm_statoverride_each((struct ctm_bytes){ text, len + (size_t)eol },
						   take, &seen),
			     0);
		cr_assert_eq(seen.n, rows[*i].good, "'%s'", rows[*i].line);
		if (!rows[*i].good) {
			continue;
		}
		cr_assert_eq(seen.last.uid.v, rows[*i].uid, "'%s'", rows[*i].line);
		cr_assert_eq(seen.last.gid.v, rows[*i].gid, "'%s'", rows[*i].line);
		cr_assert_eq(seen.last.exact, rows[*i].exact, "'%s'", rows[*i].line);
		cr_assert_eq(seen.last.mode, rows[*i].mode, "'%s'", rows[*i].line);
		cr_assert_eq(seen.last.path.len, strlen(rows[*i].path), "'%s'", rows[*i].line);
		cr_assert(memcmp(seen.last.path.p, rows[*i].path, seen.last.path.len) == 0);
	}
}

Test(statoverride, a_file)
{
	static const char text[] = "root root 4755 /a\n\nnonsense\n#1000 #1000 644 /b\n"
				   "root root 4755 /c";
	struct seen seen = { .n = 0 };

	cr_assert_eq(ctm_statoverride_each((struct ctm_bytes){ text, sizeof(text) - 1 }, take,
					   &seen),
		     0);
	cr_assert_eq(seen.n, 3);
	cr_assert_eq(seen.last.path.len, 2);
	seen = (struct seen){ .stop = 7 };
	cr_assert_eq(ctm_statoverride_each((struct ctm_bytes){ text, sizeof(text) - 1 }, take,
					   &seen),
		     7);
	cr_assert_eq(seen.n, 1, "stopped");
	seen.n = 0;
	cr_assert_eq(ctm_statoverride_each((struct ctm_bytes){ text, 0 }, take, &seen), 0);
	cr_assert_eq(seen.n, 0);
}
