/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages: what there is to say of a code at length. "ctmend explain" and ctmend-findings(7) show
 * them, and nothing else is their source.
 *
 * Every finding has one, made of its wording (plan/finding.h) and a row of the tables here. Beside
 * them there are pages for single errors (err.EPERM), and for what is none and looks like one.
 */
#ifndef CTM_PLAN_PAGE_H
#define CTM_PLAN_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#define CTM_PAGE_LOOKS 4

/** A command to look further with, and what it shows; TARGET, PATH ... are to be filled in. */
struct ctm_page_look {
	const char *command;
	const char *shows; /* no full stop */
};

/** Whole sentences, but for the title. Static. */
struct ctm_page {
	const char *code;
	const char *title; /* lower-case start, no full stop */
	const char *severity;
	const char *why;                  /* what it means and why it matters */
	const char *how;                  /* how it comes about */
	const char *repair;               /* what a repair does about it, and with which option */
	const char *next;                 /* what to do, or NULL; no full stop */
	const struct ctm_page_look *look; /* ends with command NULL */
};

/** All pages, in the order of the codes; those of errors and of what is no finding come last. */
size_t ctm_page_count(void);
void ctm_page_at(size_t i, struct ctm_page *ret);

/**
 * The page of a code as it stands in a report. An error without a page of its own ("err.EFBIG") has
 * the general one; ret->code is then "err". False: there is no such code.
 */
bool ctm_page_find(const char *code, struct ctm_page *ret);

/* --- between the files of the pages --- */

struct ctm_page_row {
	const char *code;
	const char *how;
	const char *repair;
	/* of codes that are no finding's; NULL: the finding's */
	const char *title;
	const char *severity;
	const char *why;
	const char *next;
	struct ctm_page_look look[CTM_PAGE_LOOKS];
};

struct ctm_page_table {
	const struct ctm_page_row *rows;
	size_t n;
};

extern const struct ctm_page_table ctm_pages_owner;  /* ids of the tree */
extern const struct ctm_page_table ctm_pages_around; /* configuration, maps, mounts, flags */
extern const struct ctm_page_table ctm_pages_pkg;
extern const struct ctm_page_table ctm_pages_other; /* errors, and what is no finding */

#endif
