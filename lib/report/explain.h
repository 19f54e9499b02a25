/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of codes for people, for programs and for the manual: three views of plan/page.h.
 */
#ifndef CTM_REPORT_EXPLAIN_H
#define CTM_REPORT_EXPLAIN_H

#include <stdio.h>

#include "plan/page.h"

/** One page. code: as it was asked for, which may say more than the page's own (err.EFBIG). */
void ctm_explain_text(FILE *out, const char *code, const struct ctm_page *page);
/** All codes, with one line each. */
void ctm_explain_list(FILE *out);
/** One page, or with code NULL all of them, as a document like that of reports. -ENOMEM, -EIO. */
int ctm_explain_json(FILE *out, const char *code, const struct ctm_page *page);
/** The list of all pages as mdoc(7), for ctmend-findings(7). */
void ctm_explain_mdoc(FILE *out);

/** The list of all causes, likewise. */
void ctm_explain_causes_mdoc(FILE *out);

#endif
