/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports of what is recorded: the list of runs, and what one of them changed.
 */
#ifndef CTM_REPORT_HISTORY_H
#define CTM_REPORT_HISTORY_H

#include <stdio.h>

#include "report/json.h"
#include "session/history.h"

/**
 * A table with a row for each run; targets: with a column for the target. Where there is nothing it
 * says so. Below it stand next steps for damaged ones, and what was moved aside. Targets with an
 * error are left out. -ENOMEM.
 */
int ctm_report_history(FILE *out, const struct ctm_kept_list *list, bool targets);
/** What became of a record that was moved aside to path, and what to do next. -ENOMEM. */
int ctm_report_set_aside(FILE *out, const char *target, const char *run, const char *path);
/** One line for a run that goes, or, dry, would go. -ENOMEM. */
int ctm_report_forgotten(FILE *out, const char *target, const struct ctm_run_info *run, bool dry);
/**
 * What the run has changed, or was to change, as a diff with one hunk for each cause, in the form
 * of ctm_report_diff(). verbose: every entry that was left, else some. Errors as of the reader.
 */
int ctm_report_run(FILE *out, const char *target, struct ctm_run_view *view, bool verbose,
		   bool color, struct ctm_err *err);

/*
 * The same for programs. A run has "run", "state" and, unless it cannot be read, "kind" ("repair",
 * "undo"), "time" (seconds since 1970), "user", "version", "volume", "hook", "undoes", "undone_by",
 * "digest", "entries", "removed", "restored", of an ended one "done", "already", "left"; always
 * "bytes", else "problem".
 */
/** Adds a target with "runs" and, of damaged ones moved aside, "set_aside", or its error. */
int ctm_json_history(struct ctm_json *json, const struct ctm_kept *kept);
/** Adds a target with the runs that went, or would go, as "forgotten" and "dry_run". */
int ctm_json_forgotten(struct ctm_json *json, const char *target, bool dry);
/** Adds a target with "set_aside": the "run" that was moved aside, and the "path" it has. */
int ctm_json_set_aside(struct ctm_json *json, const char *target, const char *run,
		       const char *path);
/** One of them; ctm_json_forgotten() adds what was collected. */
int ctm_json_forget(struct ctm_json *json, const struct ctm_run_info *run);
/** Adds a target with one run and its "actions"; one that was left has "failed". */
int ctm_json_run(struct ctm_json *json, const char *target, struct ctm_run_view *view,
		 struct ctm_err *err);

#endif
