/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding the page of a code.
 */
#include "plan/page.h"

#include <string.h>

#include "base/cleanup.h"
#include "plan/finding.h"

static const struct ctm_page_table *const tables[] = {
	&ctm_pages_owner,
	&ctm_pages_around,
	&ctm_pages_pkg,
	&ctm_pages_other,
};

static const struct ctm_page_look no_look[1];

static const char *severity_text(enum ctm_severity severity)
{
	switch (severity) {
	case CTM_INFO:
		return "Information; it does not change the exit status.";
	case CTM_CHOICE:
		return "Needs a decision: exit status 1 of check and diff, 4 of a repair that "
		       "leaves it.";
	case CTM_FAULT:
		return "A fault: exit status 1 of check and diff; repair cures it.";
	}
	return "";
}

static const struct ctm_page_row *find_row(const char *code)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		for (size_t i = 0; i < tables[t]->n; i++) {
			if (strcmp(tables[t]->rows[i].code, code) == 0) {
				return &tables[t]->rows[i];
			}
		}
	}
	return NULL;
}

static void of_finding(enum ctm_finding_code code, struct ctm_page *ret)
{
	const struct ctm_finding_info *info = ctm_finding_info(code);
	const struct ctm_page_row *row = find_row(info->code);

	*ret = (struct ctm_page){
		.code = info->code,
		.title = info->title,
		.severity = severity_text(info->severity),
		.why = info->why,
		.how = row ? row->how : "",
		.repair = row ? row->repair : "",
		.next = info->next,
		.look = row ? row->look : no_look,
	};
}

static void of_row(const struct ctm_page_row *row, struct ctm_page *ret)
{
	*ret = (struct ctm_page){
		.code = row->code,
		.title = row->title,
		.severity = row->severity,
		.why = row->why,
		.how = row->how,
		.repair = row->repair,
		.next = row->next,
		.look = row->look,
	};
}

/* Rows of a page that is no finding's have a title; they all stand in one table. */
static size_t first_of_its_own(void)
{
	size_t i = 0;

	while (i < ctm_pages_other.n && !ctm_pages_other.rows[i].title) {
		i++;
	}
	return i;
}

size_t ctm_page_count(void)
{
	return CTM_F_N + ctm_pages_other.n - first_of_its_own();
}

void ctm_page_at(size_t i, struct ctm_page *ret)
{
	if (i < CTM_F_N) {
		of_finding((enum ctm_finding_code)i, ret);
	} else {
		of_row(&ctm_pages_other.rows[i - CTM_F_N + first_of_its_own()], ret);
	}
}

bool ctm_page_find(const char *code, struct ctm_page *ret)
{
	const char *general = ctm_finding_info(CTM_F_ERR)->code;
	const size_t len = strlen(general);

	for (size_t i = 0; i < ctm_page_count(); i++) {
		struct ctm_page page;

		ctm_page_at(i, &page);
		if (strcmp(page.code, code) == 0) {
			*ret = page;
			return true;
		}
	}
	if (strncmp(code, general, len) == 0 && code[len] == '.' && code[len + 1]) {
		of_finding(CTM_F_ERR, ret);
		return true;
	}
	return false;
}
