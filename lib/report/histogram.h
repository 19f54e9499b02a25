/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Views of a histogram of ids (plan/histogram.h).
 */
#ifndef CTM_REPORT_HISTOGRAM_H
#define CTM_REPORT_HISTOGRAM_H

#include <jansson.h>
#include <stdio.h>

#include "plan/plan.h"

/** A table, with a head; nothing where there is no map to judge by. 0, or -ENOMEM. */
int ctm_histogram_text(FILE *out, const struct ctm_plan *plan);
/** {"uid": [{"ids", "base", "first", "last", "before", "after"}], "gid": [...]}; NULL: -ENOMEM. */
json_t *ctm_histogram_json(const struct ctm_plan *plan);

#endif
