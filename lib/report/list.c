/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of list: one row of data for each column.
 */
#include "report/list.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <libsmartcols/libsmartcols.h>

#include "base/cleanup.h"
#include "base/pathname.h"

/* Each appends the cell's text, or nothing for an empty cell. -ENOMEM. */
static int add_text(struct ctm_buf *out, const char *text)
{
	return text ? ctm_path_escape(out, text, strlen(text)) : 0;
}

static int put_id(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->name);
}

static int put_name(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->hostname);
}

static int put_state(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->state);
}

static int put_lock(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->lock);
}

static int put_storage(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->storage);
}

static int put_volume(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->volume);
}

static int put_map(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->map);
}

static int put_managed(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->ha && o->replicated ? "ha, replicated" :
			     o->ha                  ? "ha" :
			     o->replicated          ? "replicated" :
						      NULL);
}

static int put_config(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->config);
}

static int put_findings(const struct ctm_overview *o, struct ctm_buf *out)
{
	return add_text(out, o->findings);
}

static int put_runs(const struct ctm_overview *o, struct ctm_buf *out)
{
	return ctm_buf_addf(out, "%zu", o->runs);
}

static int put_repaired(const struct ctm_overview *o, struct ctm_buf *out)
{
	const time_t time = (time_t)o->last.time;
	char text[32] = "?";
	struct tm tm;

	if (!o->repaired) {
		return o->interrupted ? add_text(out, "interrupted") : 0;
	}
	if (localtime_r(&time, &tm)) {
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	}
	if (o->last.status == CTM_RUN_DONE) {
		return ctm_buf_addf(out, "%s", text);
	}
	return ctm_buf_addf(out, "%s %s", text, ctm_run_status_word(o->last.status));
}

static const struct {
	const char *name;
	int (*put)(const struct ctm_overview *o, struct ctm_buf *out);
	bool standard;
	bool number;
	bool looks;
} columns_all[] = {
	{ "ID", put_id, true, false, false },
	{ "NAME", put_name, true, false, false },
	{ "STATE", put_state, true, false, false },
	{ "LOCK", put_lock, false, false, false },
	{ "STORAGE", put_storage, true, false, false },
	{ "VOLUME", put_volume, false, false, false },
	{ "MAP", put_map, true, false, false },
	{ "MANAGED", put_managed, true, false, false },
	{ "CONFIG", put_config, true, false, false },
	{ "FINDINGS", put_findings, false, false, true },
	{ "RUNS", put_runs, false, true, false },
	{ "REPAIRED", put_repaired, true, false, false },
};
_Static_assert(ARRAY_LEN(columns_all) == CTM_LIST_COLUMNS, "as many as there are");

static int bad_column(const char *name, size_t len, const char *why, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf names = { 0 };
	int r;

	for (size_t i = 0; i < ARRAY_LEN(columns_all); i++) {
		if (ctm_buf_addf(&names, "%s%s", i ? "," : "", columns_all[i].name) < 0) {
			return ctm_err_nomem(err);
		}
	}
	r = ctm_err_set(err, CTM_USAGE, 0, "column '%.*s' %s", len > 40 ? 40 : (int)len, name, why);
	ctm_err_hint(err, "the columns are %s", names.p);
	return r;
}

static int choose_one(const char *name, size_t len, struct ctm_list_columns *ret,
		      struct ctm_err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(columns_all); i++) {
		if (strlen(columns_all[i].name) != len ||
		    strncasecmp(columns_all[i].name, name, len) != 0) {
			continue;
		}
		if (memchr(ret->v, (int)i, ret->n)) {
			return bad_column(name, len, "stands there twice", err);
		}
		ret->v[ret->n++] = (unsigned char)i;
		return 0;
	}
	return bad_column(name, len, "is not known", err);
}

int ctm_list_choose(const char *spec, struct ctm_list_columns *ret, struct ctm_err *err)
{
	struct ctm_list_columns columns = { 0 };
	const char *p = spec;
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(columns_all) && (!spec || spec[0] == '+'); i++) {
		if (columns_all[i].standard) {
			columns.v[columns.n++] = (unsigned char)i;
		}
	}
	if (spec && spec[0] == '+') {
		p++;
	}
	while (p && r == 0) {
		size_t len = strcspn(p, ",");

		r = choose_one(p, len, &columns, err);
		p = p[len] ? p + len + 1 : NULL;
	}
	if (r == 0) {
		*ret = columns;
	}
	return r;
}

bool ctm_list_looks(const struct ctm_list_columns *columns)
{
	for (size_t i = 0; i < columns->n; i++) {
		if (columns_all[columns->v[i]].looks) {
			return true;
		}
	}
	return false;
}

static int add_line(struct libscols_table *table, const struct ctm_overview *o,
		    const struct ctm_list_columns *columns)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < columns->n; i++) {
		CLEANUP(ctm_buf_done) struct ctm_buf cell = { 0 };

		if (columns_all[columns->v[i]].put(o, &cell) < 0 ||
		    (cell.len && scols_line_set_data(line, i, cell.p))) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int add_columns(struct libscols_table *table, const struct ctm_list_columns *columns)
{
	for (size_t i = 0; i < columns->n; i++) {
		bool number = columns_all[columns->v[i]].number;
		struct libscols_column *column = scols_table_new_column(
			table, columns_all[columns->v[i]].name, 0, number ? SCOLS_FL_RIGHT : 0);

		if (!column || (number && scols_column_set_json_type(column, SCOLS_JSON_NUMBER))) {
			return -ENOMEM;
		}
	}
	return 0;
}

int ctm_list_print(FILE *out, const struct ctm_overviews *all,
		   const struct ctm_list_columns *columns, bool json)
{
	struct libscols_table *table = scols_new_table();
	int r = table && !scols_table_set_stream(table, out) ? 0 : -ENOMEM;

	if (r == 0 && json) {
		r = scols_table_set_name(table, "containers") || scols_table_enable_json(table, 1) ?
			    -ENOMEM :
			    0;
	}
	r = r == 0 ? add_columns(table, columns) : r;
	for (size_t i = 0; i < all->v.n && r == 0; i++) {
		r = add_line(table, &all->v.v[i], columns);
	}
	if (r == 0) {
		r = scols_print_table(table);
	}
	scols_unref_table(table);
	return r;
}
