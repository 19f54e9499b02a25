/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * undo: takes a repair back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "command.h"
#include "report/difflines.h"
#include "report/json.h"
#include "report/report.h"
#include "syslog_line.h"
#include "term.h"
#include "volumes.h"

struct job {
	const struct options *opts;
	const char *name;
	struct ctm_json *json;
	struct ctm_difflines diff;
	struct ctm_run_info run; /* that is, or would be, taken back */
	FILE *out;               /* where the report goes */
	uint64_t n;              /* changes that the preview has shown */
};

static int fail(const struct job *job, const struct ctm_err *err)
{
	term_error(job->name, err);
	(void)ctm_json_error(job->json, job->name, job->opts->session.volume, err);
	return term_status(err);
}

static int show_entry(const struct ctm_entry *entry, void *arg)
{
	struct job *job = arg;

	job->n += !ctm_entry_is_subvol(entry->kind);
	if (!job->opts->dry_run) {
		return 0;
	}
	if (job->json) {
		return ctm_json_change(job->json, job->name, job->run.name, entry);
	}
	return job->opts->quiet ? 0 : ctm_diff_entry(&job->diff, entry);
}

/* --dry-run, and before the question. */
static int preview(struct job *job, const char *typed)
{
	CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
	struct ctm_err err = { 0 };
	int r = ctm_session_undo_preview(job->name, &job->opts->session, typed, show_entry, job,
					 &job->run, &done, &err);

	if (r == 0 && job->opts->dry_run &&
	    ctm_json_preview(job->json, job->name, job->run.name, &done.run) < 0) {
		r = ctm_err_nomem(&err);
	}
	return r < 0 ? fail(job, &err) : EXIT_CLEAN;
}

static int report(const struct job *job, const struct ctm_done *done)
{
	const struct ctm_report rep = {
		.name = job->name,
		.exam = done->exam,
		.done = done,
		.verbose = job->opts->verbose,
		.color = term_color(job->opts),
	};

	if (job->json) {
		return ctm_json_report(job->json, &rep);
	}
	return job->opts->quiet ? 0 : ctm_report_done(job->out, &rep);
}

static int take_back(const struct job *job, const char *typed)
{
	CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
	struct ctm_err err = { 0 };
	int status;
	int r;

	syslog_begin("undo", job->name);
	r = ctm_session_undo(job->name, &job->opts->session, typed, &done, &err);
	term_progress_end();
	if (r < 0) {
		syslog_end("undo", job->name, "%s", err.msg);
		return fail(job, &err);
	}
	status = ctm_done_partly(&done) ? EXIT_PARTLY : EXIT_CLEAN;
	syslog_end("undo", job->name, "run %s: %" PRIu64 " done, exit %d",
		   done.run.run[0] ? done.run.run : "none", done.run.counts.done, status);
	return report(job, &done) < 0 ? EXIT_FAILED : status;
}

static int undo(struct job *job, const char *typed)
{
	char question[128];
	int status;

	if (job->opts->yes && !job->opts->dry_run) {
		return take_back(job, typed);
	}
	status = preview(job, typed);
	if (status != EXIT_CLEAN || job->opts->dry_run) {
		return status;
	}
	(void)snprintf(question, sizeof(question), "Take run %s back (%" PRIu64 " changes)?",
		       job->run.name, job->n);
	if (!term_ask(question)) {
		fputs("ctmend: nothing was changed\n", stderr);
		return EXIT_REFUSED;
	}
	return take_back(job, job->run.name);
}

/* Everything in from, then closes it. */
static int copy_out(FILE *from)
{
	char chunk[16384];
	size_t n;
	bool bad = fflush(from) != 0;

	rewind(from);
	while (!bad && (n = fread(chunk, 1, sizeof(chunk), from)) > 0) {
		bad = fwrite(chunk, 1, n, stdout) != n;
	}
	bad = bad || ferror(from);
	(void)fclose(from);
	return bad ? -EIO : 0;
}

static int run(const struct options *opts, int argc, char **argv)
{
	struct options one = *opts;
	struct ctm_pin pin = { .set = false };
	struct job job = {
		.opts = &one,
		.name = argv[0],
		.out = stdout,
		.diff = { .color = term_color(opts) },
	};
	int status;

	one.session.pin = &pin;
	if (volumes_all(opts)) {
		fputs("ctmend: a run is of one volume: leave --volume out\n", stderr);
		return EXIT_USAGE;
	}
	if (!opts->yes && !opts->dry_run && (!term_can_ask() || opts->format == FORMAT_JSON)) {
		fputs("ctmend: no terminal to ask on: use --yes\n", stderr);
		return EXIT_USAGE;
	}
	if (opts->dry_run) {
		/* it comes while the lock is held, and a slow reader must not hold that */
		job.out = tmpfile();
		if (!job.out) {
			fprintf(stderr, "ctmend: make a temporary file: %s\n", strerror(errno));
			return EXIT_FAILED;
		}
	}
	job.diff.out = job.out;
	if (opts->format == FORMAT_JSON) {
		job.json = ctm_json_new("undo", job.out);
	}
	status = undo(&job, argc > 1 ? argv[1] : NULL);
	ctm_buf_done(&job.diff.line);
	if (ctm_json_end(job.json) < 0) {
		status = EXIT_FAILED;
	}
	return job.out != stdout && copy_out(job.out) < 0 ? EXIT_FAILED : status;
}

const struct command command_undo = {
	.name = "undo",
	.operands = "TARGET [RUN]",
	.summary = "take a repair back (default: the last one)",
	.details = "Puts back what a repair changed: owners, modes, ACLs, capabilities, removed "
		   "files. What was changed by somebody else since is left and listed (exit status "
		   "4). With --path a part of it; a later undo takes back the rest.",
	.options = OPTS_COMMON | OPT(OPT_DRY_RUN) | OPT(OPT_YES) | OPT(OPT_WAIT) | OPT(OPT_VOLUME) |
		   OPT(OPT_PATH) | OPT(OPT_MAP) | OPT(OPT_CT_CONFIG),
	.min_operands = 1,
	.max_operands = 2,
	.run = run,
};
