/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * undo: takes a repair back.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "command.h"
#include "report/inodeline.h"
#include "report/json.h"
#include "report/report.h"
#include "syslog_line.h"
#include "term.h"

/* Prints an entry of the preview as a diff does; an undo's before is what stands there now. */
static int print_entry(const struct ctm_entry *entry, void *arg)
{
	const struct ctm_inode_state *sides[] = {
		entry->kind == CTM_ENTRY_RESTORE ? NULL : &entry->before,
		entry->kind == CTM_ENTRY_REMOVE ? NULL : &entry->after,
	};

	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		CLEANUP(ctm_buf_done) struct ctm_buf line = { 0 };

		if (!sides[i]) {
			continue;
		}
		if (ctm_inode_line(&line, entry->ref.path, entry->ref.path_len, sides[i]) < 0) {
			return -ENOMEM;
		}
		printf("%c%s\n", i == 0 ? '-' : '+', line.p);
	}
	return 0;
}

static int count_entry(const struct ctm_entry *entry, void *arg)
{
	uint64_t *n = arg;

	(void)entry;
	(*n)++;
	return 0;
}

/* --dry-run, and before the question. *ret_run: the run that would be taken back. */
static int preview(const struct options *opts, char **argv, const char *typed,
		   struct ctm_run_info *ret_run, uint64_t *ret_n)
{
	CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
	struct ctm_err err = { 0 };
	int r = ctm_session_undo_preview(argv[0], &opts->session, typed,
					 opts->dry_run ? print_entry : count_entry, ret_n, ret_run,
					 &done, &err);

	if (r < 0) {
		term_error(argv[0], &err);
		return term_status(&err);
	}
	return EXIT_CLEAN;
}

static int report(const struct options *opts, const char *name, const struct ctm_done *done)
{
	struct ctm_json *json = opts->format == FORMAT_JSON ? ctm_json_new("undo") : NULL;
	struct ctm_report rep = {
		.name = name,
		.exam = done->exam,
		.done = done,
		.verbose = opts->verbose,
		.color = term_color(opts),
	};
	int r = json ? ctm_json_report(json, &rep) : 0;

	if (json && r < 0) {
		ctm_json_free(json);
		return r;
	}
	if (json) {
		return ctm_json_print(json, stdout);
	}
	return opts->quiet ? 0 : ctm_report_done(stdout, &rep);
}

static int take_back(const struct options *opts, const char *name, const char *typed)
{
	CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
	struct ctm_err err = { 0 };
	int status;
	int r;

	syslog_begin("undo", name);
	r = ctm_session_undo(name, &opts->session, typed, &done, &err);
	term_progress_end();
	if (r < 0) {
		syslog_end("undo", name, "%s", err.msg);
		term_error(name, &err);
		return term_status(&err);
	}
	status = ctm_done_partly(&done) ? EXIT_PARTLY : EXIT_CLEAN;
	syslog_end("undo", name, "run %s: %" PRIu64 " done, exit %d",
		   done.run.run[0] ? done.run.run : "none", done.run.counts.done, status);
	return report(opts, name, &done) < 0 ? EXIT_FAILED : status;
}

static int run(const struct options *opts, int argc, char **argv)
{
	const char *typed = argc > 1 ? argv[1] : NULL;
	struct ctm_run_info info = { 0 };
	char question[128];
	uint64_t n = 0;
	int status;

	if (opts->yes && !opts->dry_run) {
		return take_back(opts, argv[0], typed);
	}
	if (!opts->dry_run && !term_can_ask()) {
		fputs("ctmend: no terminal to ask on: use --yes\n", stderr);
		return EXIT_USAGE;
	}
	status = preview(opts, argv, typed, &info, &n);
	if (status != EXIT_CLEAN || opts->dry_run) {
		return status;
	}
	(void)snprintf(question, sizeof(question), "Take run %s back (%" PRIu64 " changes)?",
		       info.name, n);
	if (!term_ask(question)) {
		fputs("ctmend: nothing was changed\n", stderr);
		return EXIT_REFUSED;
	}
	return take_back(opts, argv[0], info.name);
}

const struct command command_undo = {
	.name = "undo",
	.operands = "TARGET [RUN]",
	.summary = "take a repair back (default: the last one)",
	.details = "Puts back what a repair changed: owners, modes, ACLs, capabilities, removed "
		   "files. What was changed by somebody else since is left and listed (exit status "
		   "4).",
	.options = OPTS_COMMON | OPT(OPT_DRY_RUN) | OPT(OPT_YES) | OPT(OPT_WAIT) | OPT(OPT_VOLUME) |
		   OPT(OPT_MAP) | OPT(OPT_CT_CONFIG),
	.min_operands = 1,
	.max_operands = 2,
	.run = run,
};
