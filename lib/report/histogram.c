/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Views of a histogram of ids.
 */
#include "report/histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "plan/histogram.h"

static const struct {
	const char *name;
	bool right;
} columns[] = {
	{ "KIND", false }, { "IDS", false },   { "FIRST", true },
	{ "LAST", true },  { "BEFORE", true }, { "AFTER", true },
};

static const char *const kinds[] = { [CTM_UID] = "uid", [CTM_GID] = "gid" };

static int set_number(struct libscols_line *line, size_t column, uint64_t number)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, number);
	return scols_line_set_data(line, column, text);
}

static int add_row(struct libscols_table *table, const struct ctm_histogram_row *row)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char ids[24];

	if (row->ids == CTM_IDS_BASE) {
		(void)snprintf(ids, sizeof(ids), "base %" PRIu32, row->base);
	} else {
		(void)snprintf(ids, sizeof(ids), "%s", ctm_ids_word(row->ids));
	}
	return !line || scols_line_set_data(line, 0, kinds[row->kind]) ||
			       scols_line_set_data(line, 1, ids) ||
			       set_number(line, 2, row->first) || set_number(line, 3, row->last) ||
			       set_number(line, 4, row->before) || set_number(line, 5, row->after) ?
		       -ENOMEM :
		       0;
}

static int fill(struct libscols_table *table, const struct ctm_histogram *h)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		if (!scols_table_new_column(table, columns[i].name, 0,
					    columns[i].right ? SCOLS_FL_RIGHT : 0)) {
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < h->rows.n && r == 0; i++) {
		r = add_row(table, &h->rows.v[i]);
	}
	return r;
}

int ctm_histogram_text(FILE *out, const struct ctm_plan *plan)
{
	CLEANUP(ctm_histogram_done) struct ctm_histogram h = { 0 };
	struct libscols_table *table;
	int r = ctm_histogram_make(plan, &h);

	if (r < 0 || h.rows.n == 0) {
		return r;
	}
	table = scols_new_table();
	r = table && !scols_table_set_stream(table, out) ? fill(table, &h) : -ENOMEM;
	if (r == 0) {
		fputs("\nInodes by the base of their ids, before a repair and after it:\n", out);
		r = scols_print_table(table) ? -ENOMEM : 0;
	}
	scols_unref_table(table);
	return r;
}

static json_t *row_json(const struct ctm_histogram_row *row)
{
	return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I}", "ids", ctm_ids_word(row->ids), "base",
			 row->ids == CTM_IDS_BASE ? json_integer((json_int_t)row->base) :
						    json_null(),
			 "first", (json_int_t)row->first, "last", (json_int_t)row->last, "before",
			 (json_int_t)row->before, "after", (json_int_t)row->after);
}

json_t *ctm_histogram_json(const struct ctm_plan *plan)
{
	CLEANUP(ctm_histogram_done) struct ctm_histogram h = { 0 };
	json_t *lists[] = { [CTM_UID] = json_array(), [CTM_GID] = json_array() };
	int r = ctm_histogram_make(plan, &h);

	for (size_t i = 0; i < h.rows.n && r == 0; i++) {
		r = json_array_append_new(lists[h.rows.v[i].kind], row_json(&h.rows.v[i]));
	}
	if (r) {
		json_decref(lists[CTM_UID]);
		json_decref(lists[CTM_GID]);
		return NULL;
	}
	return json_pack("{s:o, s:o}", "uid", lists[CTM_UID], "gid", lists[CTM_GID]);
}
