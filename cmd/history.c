/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history: the repairs done here, what became of them, what each changed; and how long they are
 * kept.
 */
#include <time.h>

#include "base/cleanup.h"
#include "command.h"
#include "report/history.h"
#include "session/damaged.h"
#include "term.h"

struct job {
	const struct options *opts;
	struct ctm_json *json;
	const char *name; /* of the target at hand, to be pruned */
	int status;
};

static int fail(const struct job *job, const char *name, const struct ctm_err *err)
{
	const char *shown = name ? name : "history";

	term_error(shown, err);
	(void)ctm_json_error(job->json, shown, NULL, err);
	return term_status(err);
}

static int no_memory(const struct job *job)
{
	struct ctm_err err = { 0 };

	(void)ctm_err_nomem(&err);
	return fail(job, NULL, &err);
}

/* One run's diff. */
static int show_run(const struct job *job, const char *name, const char *typed)
{
	CLEANUP(ctm_run_view_done) struct ctm_run_view view = { 0 };
	const struct options *opts = job->opts;
	struct ctm_err err = { 0 };
	int r = ctm_session_run(name, &opts->session, typed, &view, &err);

	if (r == 0 && job->json) {
		r = ctm_json_run(job->json, name, &view, &err);
	} else if (r == 0 && !opts->quiet) {
		r = ctm_report_run(stdout, name, &view, opts->verbose, term_color(opts), &err);
	}
	return r < 0 ? fail(job, name, &err) : EXIT_CLEAN;
}

static void forget(const struct ctm_run_info *run, void *arg)
{
	struct job *job = arg;
	int r = ctm_json_forget(job->json, run);

	if (r == 0 && !job->json && !job->opts->quiet) {
		r = ctm_report_forgotten(stdout, job->name, run, job->opts->dry_run);
	}
	if (r < 0) {
		job->status = EXIT_FAILED;
	}
}

static void prune_dry(struct job *job, struct ctm_history *history)
{
	ctm_retain_mark(history, &job->opts->keep, time(NULL));
	for (size_t i = 0; i < history->runs.n; i++) {
		if (history->runs.v[i].expired) {
			forget(&history->runs.v[i], job);
		}
	}
}

static int prune(struct job *job, struct ctm_kept *kept)
{
	struct ctm_err err = { 0 };
	int r = 0;

	job->name = kept->name;
	job->status = EXIT_CLEAN;
	if (job->opts->dry_run) {
		prune_dry(job, &kept->history);
	} else {
		r = ctm_session_prune(kept, &job->opts->session, &job->opts->keep, forget, job,
				      &err);
	}
	if (ctm_json_forgotten(job->json, kept->name, job->opts->dry_run) < 0) {
		return no_memory(job);
	}
	return r < 0 ? fail(job, kept->name, &err) : job->status;
}

static int one(struct job *job, struct ctm_kept *kept)
{
	if (kept->err.code != CTM_OK) {
		return fail(job, kept->name, &kept->err);
	}
	if (job->opts->prune) {
		return prune(job, kept);
	}
	return ctm_json_history(job->json, kept) < 0 ? no_memory(job) : EXIT_CLEAN;
}

static int show(struct job *job, const char *name)
{
	CLEANUP(ctm_kept_list_done) struct ctm_kept_list list = { 0 };
	const struct options *opts = job->opts;
	struct ctm_err err = { 0 };
	int worst = EXIT_CLEAN;

	if (ctm_session_kept(name, &opts->session, &list, &err) < 0) {
		return fail(job, name, &err);
	}
	/* one whose records cannot be read stops none of the others */
	for (size_t i = 0; i < list.v.n; i++) {
		int status = one(job, &list.v.v[i]);

		worst = status > worst ? status : worst;
	}
	if (opts->prune || job->json || opts->quiet || (name && worst != EXIT_CLEAN)) {
		return worst;
	}
	return ctm_report_history(stdout, &list, !name) < 0 ? no_memory(job) : worst;
}

/* The record keeps its bytes, so nobody is asked. */
static int set_aside(const struct job *job, const char *name, const char *typed)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	char run[CTM_RUN_NAME_MAX];
	struct ctm_err err = { 0 };
	int r = ctm_session_set_aside(name, &job->opts->session, typed, run, &path, &err);

	if (r < 0) {
		return fail(job, name, &err);
	}
	r = ctm_json_set_aside(job->json, name, run, path.p);
	if (r == 0 && !job->json && !job->opts->quiet) {
		r = ctm_report_set_aside(stdout, name, run, path.p);
	}
	return r < 0 ? no_memory(job) : EXIT_CLEAN;
}

static int run(const struct options *opts, int argc, char **argv)
{
	struct job job = { .opts = opts };
	int status;

	if (opts->set_aside && argc != 2) {
		fputs("ctmend: --set-aside needs a TARGET and a RUN\n", stderr);
		return EXIT_USAGE;
	}
	if (opts->prune && argc > 1) {
		fputs("ctmend: --prune goes by age and number: leave the run out\n", stderr);
		return EXIT_USAGE;
	}
	if (opts->dry_run && !opts->prune) {
		fputs("ctmend: --dry-run goes with --prune here: without it nothing is removed\n",
		      stderr);
		return EXIT_USAGE;
	}
	job.json = opts->format == FORMAT_JSON ? ctm_json_new("history", stdout) : NULL;
	status = opts->set_aside ? set_aside(&job, argv[0], argv[1]) :
		 argc > 1        ? show_run(&job, argv[0], argv[1]) :
				   show(&job, argc > 0 ? argv[0] : NULL);
	return ctm_json_end(job.json) < 0 ? EXIT_FAILED : status;
}

const struct command command_history = {
	.name = "history",
	.operands = "[TARGET [RUN]]",
	.summary = "repairs done here, and what became of them",
	.details = "Lists the runs recorded for TARGET, or for all targets, on this host, oldest "
		   "first; with RUN what that run changed, as a diff. 'ctmend undo TARGET RUN' "
		   "takes one back. Records stay on the host that made them. --prune removes what "
		   "need not be kept; --set-aside moves one that cannot be read out of the way.",
	.options = OPTS_COMMON | OPT(OPT_MAP) | OPT(OPT_CT_CONFIG) | OPT(OPT_PRUNE) |
		   OPT(OPT_KEEP_DAYS) | OPT(OPT_KEEP_RUNS) | OPT(OPT_SET_ASIDE) | OPT(OPT_DRY_RUN) |
		   OPT(OPT_WAIT),
	.min_operands = 0,
	.max_operands = 2,
	.run = run,
};
