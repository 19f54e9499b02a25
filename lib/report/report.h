/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports: one model (what a session found and did), several views of it.
 *
 * The library writes to the stream it is given and nowhere else. Everything a person reads has its
 * names escaped (base/pathname.h).
 */
#ifndef CTM_REPORT_REPORT_H
#define CTM_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "session/session.h"

struct ctm_report {
	const char *name; /* the target as the user named it */
	const struct ctm_exam *exam;
	const struct ctm_done *done; /* after a repair or an undo, else NULL */
	const char *snapshot;        /* taken before the repair, or NULL */
	bool verbose;                /* every entry instead of examples */
	bool color;                  /* text and diff */
};

/** check: what is wrong, grouped by cause, and what to do next. 0, or -ENOMEM. */
int ctm_report_text(FILE *out, const struct ctm_report *rep);
/** The findings of a plan alone, grouped as in ctm_report_text(). 0, or -ENOMEM. */
int ctm_report_causes(FILE *out, const struct ctm_plan *plan, bool verbose, bool color);
/** After a repair or an undo: what was done, what failed, what is left. 0, or -ENOMEM. */
int ctm_report_done(FILE *out, const struct ctm_report *rep);
/**
 * The plan as a unified diff of one-line inode descriptions, with its digest at the end. 0, or
 * -ENOMEM.
 */
int ctm_report_diff(FILE *out, const struct ctm_report *rep);

#endif
