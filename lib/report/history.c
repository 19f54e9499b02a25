/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of runs as a table.
 */
#include "report/history.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <libsmartcols/libsmartcols.h>

#include "base/cleanup.h"
#include "base/pathname.h"

/* Each appends the cell's text, or nothing for an empty cell. -ENOMEM. */

static int put_run(const struct ctm_run_info *run, struct ctm_buf *out)
{
	return ctm_buf_addf(out, "%s", run->name);
}

static int put_time(const struct ctm_run_info *run, struct ctm_buf *out)
{
	const time_t time = (time_t)run->time;
	char text[32] = "?";
	struct tm tm;

	if (run->time >= 0 && localtime_r(&time, &tm)) {
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	}
	return ctm_buf_addf(out, "%s", text);
}

/* The name behind sudo, and the version, may be any bytes. */
static int put_user(const struct ctm_run_info *run, struct ctm_buf *out)
{
	return ctm_path_escape(out, run->user, strlen(run->user));
}

static int put_version(const struct ctm_run_info *run, struct ctm_buf *out)
{
	return ctm_path_escape(out, run->version, strlen(run->version));
}

static int put_volume(const struct ctm_run_info *run, struct ctm_buf *out)
{
	return ctm_path_escape(out, run->volume, strlen(run->volume));
}

static int put_what(const struct ctm_run_info *run, struct ctm_buf *out)
{
	if (!ctm_run_known(run)) {
		return ctm_text_escape(out, run->problem, strlen(run->problem));
	}
	if (run->kind == CTM_RUN_REPAIR) {
		return ctm_buf_addf(out, "repair%s", run->hook ? " by a hook" : "");
	}
	if (ctm_buf_addf(out, "undo of %s", run->part ? "a part of " : "") < 0) {
		return -ENOMEM;
	}
	return ctm_path_escape(out, run->undoes, strlen(run->undoes));
}

static int put_changes(const struct ctm_run_info *run, struct ctm_buf *out)
{
	return ctm_run_known(run) ? ctm_buf_addf(out, "%" PRIu64, run->set + run->restored) : 0;
}

static int put_removed(const struct ctm_run_info *run, struct ctm_buf *out)
{
	return ctm_run_known(run) ? ctm_buf_addf(out, "%" PRIu64, run->removed) : 0;
}

static int put_size(const struct ctm_run_info *run, struct ctm_buf *out)
{
	static const char units[] = "KMGTPE";
	double size = (double)run->bytes / 1024;
	size_t unit = 0;

	while (size >= 1000 && unit < sizeof(units) - 2) {
		size /= 1024;
		unit++;
	}
	return ctm_buf_addf(out, "%.*f%c", size < 10 && unit > 0, size, units[unit]);
}

static int put_state(const struct ctm_run_info *run, struct ctm_buf *out)
{
	return ctm_buf_addf(out, "%s", ctm_run_status_word(run->status));
}

static const struct {
	const char *name;
	int (*put)(const struct ctm_run_info *run, struct ctm_buf *out);
	bool number;
} columns[] = {
	{ "RUN", put_run, false },        { "TIME", put_time, false },
	{ "USER", put_user, false },      { "VERSION", put_version, false },
	{ "VOLUME", put_volume, false },  { "WHAT", put_what, false },
	{ "CHANGES", put_changes, true }, { "REMOVED", put_removed, true },
	{ "SIZE", put_size, true },       { "STATE", put_state, false },
};

static int add_row(struct libscols_table *table, const char *target, const struct ctm_run_info *run)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	size_t at = 0;

	if (!line) {
		return -ENOMEM;
	}
	if (target && (ctm_path_escape(&name, target, strlen(target)) < 0 ||
		       scols_line_set_data(line, at++, name.p))) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		CLEANUP(ctm_buf_done) struct ctm_buf cell = { 0 };

		if (columns[i].put(run, &cell) < 0 ||
		    (cell.len && scols_line_set_data(line, at + i, cell.p))) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int add_columns(struct libscols_table *table, bool targets)
{
	if (targets && !scols_table_new_column(table, "TARGET", 0, 0)) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		if (!scols_table_new_column(table, columns[i].name, 0,
					    columns[i].number ? SCOLS_FL_RIGHT : 0)) {
			return -ENOMEM;
		}
	}
	return 0;
}

static int add_rows(struct libscols_table *table, const struct ctm_kept_list *list, bool targets)
{
	int r = 0;

	for (size_t i = 0; i < list->v.n; i++) {
		const struct ctm_kept *kept = &list->v.v[i];

		for (size_t k = 0; k < kept->history.runs.n && r == 0; k++) {
			r = add_row(table, targets ? kept->name : NULL, &kept->history.runs.v[k]);
		}
	}
	return r;
}

/* What is in the way of others is said with what to do about it. */
static int put_damaged(FILE *out, const struct ctm_kept_list *list)
{
	for (size_t i = 0; i < list->v.n; i++) {
		const struct ctm_kept *kept = &list->v.v[i];

		for (size_t k = 0; k < kept->history.runs.n; k++) {
			CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
			const struct ctm_run_info *run = &kept->history.runs.v[k];
			const bool newer = run->status == CTM_RUN_NEWER;

			if (ctm_run_known(run)) {
				continue;
			}
			if (ctm_path_escape(&name, kept->name, strlen(kept->name)) < 0) {
				return -ENOMEM;
			}
			fprintf(out, "next: %s %s%s: ctmend history --set-aside %s %s\n",
				newer ? "use the ctmend that made" : "put the files of", run->name,
				newer ? ", or a newer one, or move it aside" :
					" back from a backup, or move them aside",
				name.p, run->name);
		}
	}
	return 0;
}

static int put_aside(FILE *out, const struct ctm_kept_list *list)
{
	for (size_t i = 0; i < list->v.n; i++) {
		const struct ctm_kept *kept = &list->v.v[i];
		CLEANUP(ctm_buf_done) struct ctm_buf line = { 0 };
		int r = kept->aside.names.n ?
				ctm_path_escape(&line, kept->name, strlen(kept->name)) :
				0;

		for (size_t k = 0; k < kept->aside.names.n && r == 0; k++) {
			const char *name = kept->aside.names.v[k];

			r = ctm_buf_addf(&line, "%s", k ? ", " : ": moved aside: ");
			r = r < 0 ? r : ctm_path_escape(&line, name, strlen(name));
		}
		if (r < 0) {
			return r;
		}
		if (line.len) {
			fprintf(out, "note: %s, in %s/set-aside\n", line.p, kept->path);
		}
	}
	return 0;
}

int ctm_report_history(FILE *out, const struct ctm_kept_list *list, bool targets)
{
	struct libscols_table *table;
	size_t n = 0;
	int r;

	for (size_t i = 0; i < list->v.n; i++) {
		n += list->v.v[i].history.runs.n;
	}
	if (n == 0) {
		fprintf(out, "no repair%s is recorded on this host\n", targets ? "" : " of it");
		return put_aside(out, list);
	}
	table = scols_new_table();
	/* cells are escaped already, as everywhere */
	r = table && !scols_table_set_stream(table, out) &&
			    !scols_table_enable_noencoding(table, 1) ?
		    0 :
		    -ENOMEM;
	r = r == 0 ? add_columns(table, targets) : r;
	r = r == 0 ? add_rows(table, list, targets) : r;
	if (r == 0) {
		r = scols_print_table(table);
	}
	scols_unref_table(table);
	if (r == 0) {
		fputs("note: a record stays on the host that made it, under the name by which the "
		      "repair was called: a container's, or a path\n",
		      out);
		r = put_damaged(out, list);
	}
	return r < 0 ? r : put_aside(out, list);
}

int ctm_report_set_aside(FILE *out, const char *target, const char *run, const char *path)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf to = { 0 };

	if (ctm_path_escape(&name, target, strlen(target)) < 0 ||
	    ctm_path_escape(&to, path, strlen(path)) < 0) {
		return -ENOMEM;
	}
	fprintf(out, "%s: the record of run %s is now in %s\n", name.p, run, to.p);
	fprintf(out,
		"note: ctmend can neither finish this run nor take it back any more; what it has "
		"changed stays. If it was interrupted, an inode that it was changing just then may "
		"lack setuid, setgid or a capability\n"
		"next: ctmend check %s\n",
		name.p);
	return 0;
}

int ctm_report_forgotten(FILE *out, const char *target, const struct ctm_run_info *run, bool dry)
{
	CLEANUP(ctm_buf_done) struct ctm_buf line = { 0 };

	if (ctm_path_escape(&line, target, strlen(target)) < 0 ||
	    ctm_buf_addf(&line, ": %s%s, ", dry ? "would remove " : "removed ", run->name) < 0 ||
	    put_what(run, &line) < 0 ||
	    ctm_buf_addf(&line, ", %s, ", ctm_run_status_word(run->status)) < 0 ||
	    put_size(run, &line) < 0) {
		return -ENOMEM;
	}
	fprintf(out, "%s\n", line.p);
	return 0;
}
