/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history: the repairs done here, and what became of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <libsmartcols/libsmartcols.h>

#include "base/cleanup.h"
#include "command.h"
#include "report/json.h"
#include "session/history.h"
#include "term.h"

enum {
	COL_RUN,
	COL_TIME,
	COL_USER,
	COL_VOLUME,
	COL_WHAT,
	COL_CHANGES,
	COL_REMOVED,
	COL_STATE,
	COL_N
};

static const char *const headings[COL_N] = { "RUN",  "TIME",    "USER",    "VOLUME",
					     "WHAT", "CHANGES", "REMOVED", "STATE" };

static int add_row(struct libscols_table *table, const struct ctm_run_info *run)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char text[64];
	struct tm tm;
	time_t time = (time_t)run->time;

	if (!line) {
		return -1;
	}
	if (scols_line_set_data(line, COL_RUN, run->name) ||
	    scols_line_set_data(line, COL_STATE, ctm_run_status_word(run->status))) {
		return -1;
	}
	if (!ctm_run_known(run)) {
		return scols_line_set_data(line, COL_WHAT, run->problem);
	}
	if (localtime_r(&time, &tm)) {
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
		(void)scols_line_set_data(line, COL_TIME, text);
	}
	(void)scols_line_set_data(line, COL_USER, run->user);
	(void)scols_line_set_data(line, COL_VOLUME, run->volume);
	(void)snprintf(text, sizeof(text), "%s%s%s", run->undoes[0] ? "undo of " : "repair",
		       run->undoes, "");
	(void)scols_line_set_data(line, COL_WHAT, text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, run->set + run->restored);
	(void)scols_line_set_data(line, COL_CHANGES, text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, run->removed);
	return scols_line_set_data(line, COL_REMOVED, text);
}

static int print(const struct options *opts, const struct ctm_history *history)
{
	struct libscols_table *table = scols_new_table();
	int r = table ? 0 : -1;

	for (int i = 0; i < COL_N && r == 0; i++) {
		bool number = i == COL_CHANGES || i == COL_REMOVED;

		r = scols_table_new_column(table, headings[i], 0, number ? SCOLS_FL_RIGHT : 0) ? 0 :
												 -1;
	}
	if (r == 0 && opts->format == FORMAT_JSON) {
		r = scols_table_set_name(table, "runs") ? -1 : scols_table_enable_json(table, 1);
	}
	for (size_t i = 0; i < history->runs.n && r == 0; i++) {
		r = add_row(table, &history->runs.v[i]);
	}
	if (r == 0 && !opts->quiet) {
		r = scols_print_table(table);
	}
	scols_unref_table(table);
	return r;
}

static int run(const struct options *opts, int argc, char **argv)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	struct ctm_err err = { 0 };

	(void)argc;
	if (ctm_session_history(argv[0], &opts->session, &history, &err) < 0) {
		struct ctm_json *json = opts->format == FORMAT_JSON ? ctm_json_new("history") :
								      NULL;

		term_error(argv[0], &err);
		(void)ctm_json_error(json, argv[0], NULL, &err);
		(void)ctm_json_print(json, stdout);
		return term_status(&err);
	}
	if (!history.runs.n && opts->format == FORMAT_TEXT) {
		if (!opts->quiet) {
			puts("no repair of it is recorded on this host");
		}
		return EXIT_CLEAN;
	}
	return print(opts, &history) ? EXIT_FAILED : EXIT_CLEAN;
}

const struct command command_history = {
	.name = "history",
	.operands = "TARGET",
	.summary = "repairs done here, and what became of them",
	.details = "Lists the runs recorded for TARGET on this host, oldest first. 'ctmend undo "
		   "TARGET RUN' takes one back. Records stay on the host that made them.",
	.options = OPTS_COMMON | OPT(OPT_MAP) | OPT(OPT_CT_CONFIG),
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
