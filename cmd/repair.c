/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * repair and diff: show, ask, repair, verify; diff is repair without the last two.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "command.h"
#include "report/json.h"
#include "report/report.h"
#include "session/snapshot.h"
#include "stop.h"
#include "syslog_line.h"
#include "term.h"
#include "volumes.h"

struct job {
	const struct options *opts;
	const char *name;
	struct ctm_json *json;
	char *snapshot; /* of this target, "" while there is none; CTM_SNAPSHOT_NAME_MAX */
};

static int fail(const struct job *job, const struct ctm_err *err)
{
	volumes_error(job->opts, job->name, err);
	(void)ctm_json_error(job->json, job->name, job->opts->session.volume, err);
	return term_status(err);
}

static struct ctm_report report_of(const struct job *job, const struct ctm_exam *exam,
				   const struct ctm_done *done)
{
	return (struct ctm_report){
		.name = job->name,
		.exam = exam,
		.done = done,
		.snapshot = done && job->snapshot[0] ? job->snapshot : NULL,
		.verbose = job->opts->verbose,
		.color = term_color(job->opts),
	};
}

static int show(const struct job *job, const struct ctm_report *rep,
		int (*text)(FILE *, const struct ctm_report *))
{
	if (job->json) {
		return ctm_json_report(job->json, rep);
	}
	return job->opts->quiet ? 0 : text(stdout, rep);
}

static int diff_one(const struct job *job)
{
	CLEANUP(ctm_exam_freep) struct ctm_exam *exam = NULL;
	struct ctm_err err = { 0 };
	struct ctm_report rep;
	int r = ctm_examine(job->name, &job->opts->session, &exam, &err);

	/* No changes to show is not what it means to know of none. */
	if (r == 0 && exam->target->no_map && !exam->plan) {
		r = ctm_exam_agree(exam, NULL, &err);
	}
	if (r < 0) {
		return fail(job, &err);
	}
	rep = report_of(job, exam, NULL);
	if (show(job, &rep, ctm_report_diff) < 0) {
		(void)ctm_err_nomem(&err);
		return fail(job, &err);
	}
	return exam->plan && ctm_plan_has_work(exam->plan) ? EXIT_WORK : EXIT_CLEAN;
}

/*
 * Shows the summary and asks. 0: agreed, to the plan of *ret_digest; else *ret_status is how it
 * ended.
 */
static int agree(const struct job *job, char ret_digest[static 33], int *ret_status)
{
	CLEANUP(ctm_exam_freep) struct ctm_exam *exam = NULL;
	struct ctm_err err = { 0 };
	struct ctm_report rep;
	char question[96];

	if (ctm_examine(job->name, &job->opts->session, &exam, &err) < 0) {
		*ret_status = fail(job, &err);
		return -1;
	}
	rep = report_of(job, exam, NULL);
	if (ctm_report_text(stdout, &rep) < 0) {
		(void)ctm_err_nomem(&err);
		*ret_status = fail(job, &err);
		return -1;
	}
	(void)fflush(stdout);
	if (ctm_exam_agree(exam, NULL, &err) < 0) {
		*ret_status = fail(job, &err);
		return -1;
	}
	if (!exam->plan || (!exam->plan->actions.n && !exam->dirty && !exam->unfinished[0])) {
		*ret_status = exam->plan && ctm_plan_has_work(exam->plan) ? EXIT_PARTLY :
									    EXIT_CLEAN;
		return -1;
	}
	memcpy(ret_digest, exam->digest, sizeof(exam->digest));
	if (!exam->plan->actions.n) {
		return 0; /* who brings the journal in asks again if there is something then */
	}
	(void)snprintf(question, sizeof(question), "Make %s %zu change%s?",
		       exam->plan->actions.n == 1 ? "this" : "these", exam->plan->actions.n,
		       exam->plan->actions.n == 1 ? "" : "s");
	if (!term_ask(question)) {
		fputs("ctmend: nothing was changed\n", stderr);
		*ret_status = EXIT_REFUSED;
		return -1;
	}
	return 0;
}

static int finish(const struct job *job, const struct ctm_done *done)
{
	struct ctm_report rep = report_of(job, done->exam, done);
	int status = ctm_done_partly(done) ? EXIT_PARTLY : EXIT_CLEAN;

	syslog_end("repair", job->name, "run %s: %" PRIu64 " done, %" PRIu64 " left, exit %d",
		   done->run.run[0] ? done->run.run : "none", done->run.counts.done,
		   done->run.counts.conflicts + done->run.counts.failed, status);
	if (show(job, &rep, ctm_report_done) < 0) {
		struct ctm_err err = { 0 };

		(void)ctm_err_nomem(&err);
		return fail(job, &err);
	}
	return status;
}

/* A repair that came to nothing, or half way, leaves the snapshot: it is the admin's to keep. */
static void tell_snapshot(const struct job *job)
{
	if (job->snapshot[0]) {
		term_say("%s: the snapshot %s was taken before; remove it with: "
			 "pct delsnapshot %s %s",
			 job->name, job->snapshot, job->name, job->snapshot);
	}
}

/* The record says under which name the snapshot is kept. */
static int repair_recorded(const struct job *job, const char *digest, struct ctm_done *done,
			   struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf words = { 0 };
	struct ctm_session_opts session = job->opts->session;

	if (!job->snapshot[0]) {
		return ctm_session_repair(job->name, &session, digest, done, err);
	}
	if (ctm_buf_addf(&words, "%s%s--snapshot=%s", session.words ? session.words : "",
			 session.words && session.words[0] ? " " : "", job->snapshot) < 0) {
		return ctm_err_nomem(err);
	}
	session.words = words.p;
	return ctm_session_repair(job->name, &session, digest, done, err);
}

static int repair_now(const struct job *job, const char *digest, struct ctm_done *done,
		      struct ctm_err *err)
{
	int r = 0;

	if (job->opts->snapshot && !job->snapshot[0]) {
		r = ctm_session_snapshot(job->name, &job->opts->session, digest, job->snapshot,
					 err);
	}
	return r < 0 ? r : repair_recorded(job, digest, done, err);
}

static int repair_agreed(const struct job *job, const char *digest, bool ask_again)
{
	char agreed[33];

	for (;;) {
		CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
		struct ctm_err err = { 0 };
		int status = EXIT_CLEAN;
		int r;

		syslog_begin("repair", job->name);
		r = repair_now(job, digest, &done, &err);
		term_progress_end();
		if (r == 0) {
			return finish(job, &done);
		}
		syslog_end("repair", job->name, "%s", err.msg);
		if (r != -ESTALE || !ask_again) {
			status = fail(job, &err);
			tell_snapshot(job);
			return status;
		}
		fputs("ctmend: the volume has changed since; this is the plan now:\n", stderr);
		if (agree(job, agreed, &status) < 0) {
			tell_snapshot(job);
			return status;
		}
		digest = agreed;
		ask_again = false;
	}
}

static int repair_one(const struct job *job)
{
	char digest[33] = "";
	int status = EXIT_CLEAN;

	if (job->opts->approve) {
		return repair_agreed(job, job->opts->approve, false);
	}
	if (job->opts->yes) {
		return repair_agreed(job, NULL, false);
	}
	if (agree(job, digest, &status) < 0) {
		return status;
	}
	return repair_agreed(job, digest, true);
}

struct verb {
	int (*one)(const struct job *);
	struct ctm_json *json;
	/* One has all volumes of a target; taken before the first that is changed. */
	char snapshot[CTM_SNAPSHOT_NAME_MAX];
};

static int run_volume(const struct options *opts, const char *name, void *arg)
{
	struct verb *verb = arg;
	const struct job job = {
		.opts = opts,
		.name = name,
		.json = verb->json,
		.snapshot = verb->snapshot,
	};

	return verb->one(&job);
}

static int run_targets(const struct options *opts, const char *word, int (*one)(const struct job *),
		       int argc, char **argv)
{
	struct verb verb = { .one = one,
			     .json = opts->format == FORMAT_JSON ? ctm_json_new(word, stdout) :
								   NULL };
	int worst = EXIT_CLEAN;
	int i;

	for (i = 0; i < argc && !stop_asked(); i++) {
		int status;

		verb.snapshot[0] = '\0';
		status = volumes_each(opts, argv[i], run_volume, &verb);
		worst = status > worst ? status : worst;
	}
	worst = term_stopped("target", (size_t)(argc - i), worst);
	return ctm_json_end(verb.json) < 0 ? EXIT_FAILED : worst;
}

static int run_diff(const struct options *opts, int argc, char **argv)
{
	return run_targets(opts, "diff", diff_one, argc, argv);
}

static int run_repair(const struct options *opts, int argc, char **argv)
{
	if (opts->dry_run) {
		return run_targets(opts, "diff", diff_one, argc, argv);
	}
	if (!opts->yes && !opts->approve && (!term_can_ask() || opts->format == FORMAT_JSON)) {
		fputs("ctmend: no terminal to ask on: use --yes, or --approve with a digest\n",
		      stderr);
		return EXIT_USAGE;
	}
	if (opts->approve && argc > 1) {
		fputs("ctmend: --approve is for one target\n", stderr);
		return EXIT_USAGE;
	}
	return run_targets(opts, "repair", repair_one, argc, argv);
}

const struct command command_diff = {
	.name = "diff",
	.operands = "TARGET",
	.summary = "every change that repair would make, as a diff",
	.details = "Looks at TARGET read-only and prints the exact change as a diff of one-line "
		   "inode descriptions, ending with the plan's digest for 'repair --approve'. Exit "
		   "status: 0 clean, 1 work found.",
	.options = OPTS_COMMON | OPTS_SELECT,
	.min_operands = 1,
	.max_operands = 1,
	.run = run_diff,
};

const struct command command_repair = {
	.name = "repair",
	.operands = "TARGET...",
	.summary = "show the summary, ask, repair, verify",
	.details = "Repairs each TARGET: stale locks and caches first, then owners, modes, ACLs "
		   "and capabilities. What was there before is recorded first; 'ctmend undo' takes "
		   "it back. Exit status: 0 done or nothing to do, 3 refused, 4 something is left.",
	.options = OPTS_COMMON | OPTS_SELECT | OPT(OPT_DRY_RUN) | OPT(OPT_YES) | OPT(OPT_APPROVE) |
		   OPT(OPT_SNAPSHOT),
	.min_operands = 1,
	.max_operands = -1,
	.run = run_repair,
};
