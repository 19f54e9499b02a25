/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of list.
 */
#ifndef CTM_REPORT_LIST_H
#define CTM_REPORT_LIST_H

#include <stdbool.h>
#include <stdio.h>

#include "session/overview.h"

#define CTM_LIST_COLUMNS 12

struct ctm_list_columns {
	size_t n;
	unsigned char v[CTM_LIST_COLUMNS]; /* indexes of the table of columns */
};

/**
 * "ID,MAP": these columns, in any case; "+FINDINGS": the default ones and these; NULL: the default.
 * CTM_USAGE, with the names that there are, for an unknown one and for one that stands twice.
 */
int ctm_list_choose(const char *spec, struct ctm_list_columns *ret, struct ctm_err *err);

/** Whether a column needs the volumes to be looked at. */
bool ctm_list_looks(const struct ctm_list_columns *columns);

/**
 * A table by libsmartcols, or its JSON: { "containers": [ { "id": "115", ... }, ... ] }, names of
 * columns in lower case, null for what is not known. -ENOMEM, -EIO.
 */
int ctm_list_print(FILE *out, const struct ctm_overviews *all,
		   const struct ctm_list_columns *columns, bool json);

#endif
