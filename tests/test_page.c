/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every code has a page, every row of the pages has a code, and all say something. */
#include "plan/page.h"

#include <ctype.h>
#include <string.h>

#include "cases.h"
#include "plan/finding.h"

static const struct ctm_page_table *const tables[] = { &ctm_pages_owner, &ctm_pages_around,
						       &ctm_pages_pkg, &ctm_pages_other };

static bool is_finding(const char *code)
{
	for (int i = 0; i < CTM_F_N; i++) {
		if (strcmp(ctm_finding_info((enum ctm_finding_code)i)->code, code) == 0) {
			return true;
		}
	}
	return false;
}

/* Sentences: the manual puts each on a line of its own. */
static bool sentences(const char *text)
{
	return text && isupper((unsigned char)text[0]) | islower((unsigned char)text[0]) &&
	       text[strlen(text) - 1] == '.' && !strchr(text, '\n') && !strstr(text, "  ");
}

static bool phrase(const char *text)
{
	return text && *text && text[strlen(text) - 1] != '.' && !strchr(text, '\n');
}

Test(page, all_are_whole)
{
	for (size_t i = 0; i < ctm_page_count(); i++) {
		struct ctm_page page;
		size_t looks = 0;

		ctm_page_at(i, &page);
		cr_assert(phrase(page.code), "%zu", i);
		cr_assert(phrase(page.title), "%s: title", page.code);
		cr_assert(sentences(page.severity), "%s: severity", page.code);
		cr_assert(sentences(page.why), "%s: why", page.code);
		cr_assert(sentences(page.how), "%s: how it comes about", page.code);
		cr_assert(sentences(page.repair), "%s: what repair does", page.code);
		cr_assert(!page.next || phrase(page.next), "%s: next", page.code);
		for (; page.look[looks].command; looks++) {
			cr_assert(phrase(page.look[looks].command) &&
					  phrase(page.look[looks].shows),
				  "%s: look", page.code);
		}
		cr_assert(looks > 0 && looks < CTM_PAGE_LOOKS, "%s: looks", page.code);
	}
}

Test(page, rows_have_codes)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (size_t i = 0; i < tables[t]->n; i++) {
			const struct ctm_page_row *row = &tables[t]->rows[i];

			cr_assert_neq(is_finding(row->code), row->title != NULL, "%s", row->code);
			/* the table is cut in two at the first one */
			cr_assert(!row->title || (tables[t] == &ctm_pages_other && i > 0), "%s",
				  row->code);
		}
	}
}

/* Advice is no trap: no next step resets the owners of all packages, or of a whole tree. */
Test(page, advice_is_for_single_things)
{
	static const char *const traps[] = { "rpm --setugids", "rpm --setperms", "rpm -a",
					     "chown -R",       "chmod -R",       "setfacl -R",
					     "rm -r" };

	for (size_t i = 0; i < ctm_page_count(); i++) {
		struct ctm_page page;

		ctm_page_at(i, &page);
		for (size_t k = 0; k < sizeof(traps) / sizeof(traps[0]); k++) {
			cr_assert(!page.next || !strstr(page.next, traps[k]), "%s", page.code);
			for (size_t l = 0; page.look[l].command; l++) {
				cr_assert(!strstr(page.look[l].command, traps[k]), "%s", page.code);
			}
		}
	}
}

static const struct {
	const char *code;
	const char *want; /* code of the page; NULL: none */
} rows[] = {
	{ "own.host", "own.host" },
	{ "err", "err" },
	{ "err.EPERM", "err.EPERM" },
	{ "err.EFBIG", "err" },
	{ "err.99999", "err" },
	{ "err.", NULL },
	{ "errand", NULL },
	{ "mount.idmapped", "mount.idmapped" },
	{ "own.nobody", "own.nobody" },
	{ "own", NULL },
	{ "", NULL },
	{ "OWN.HOST", NULL },
};

CASES(page, find, rows)
{
	struct ctm_page page = { .code = "untouched" };
	bool found = ctm_page_find(rows[*i].code, &page);

	cr_assert_eq(found, rows[*i].want != NULL, "'%s'", rows[*i].code);
	cr_assert_str_eq(page.code, found ? rows[*i].want : "untouched");
}
