/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check: what is wrong, by cause. Changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "command.h"
#include "report/json.h"
#include "report/report.h"
#include "target/inventory.h"
#include "target/lockwatch.h"
#include "term.h"
#include "volumes.h"

/* One that gave way to somebody who waited for its lock. */
struct again {
	const char *name; /* borrowed */
	char *volume;     /* key; NULL: as on the command line */
};

struct job {
	struct ctm_json *json;
	bool more;  /* a report was printed: a blank line stands between two */
	bool retry; /* what gives way is looked at once more, after the others */
	CTM_VEC(struct again) again;
};

/* 0: it is tried again. */
static int put_off(struct job *job, const struct options *opts, const char *name,
		   struct ctm_err *err)
{
	struct again again = { .name = name };

	if (!job->retry || err->num != CTM_LOCKWATCH_YIELD) {
		return -1;
	}
	again.volume = opts->session.volume ? strdup(opts->session.volume) : NULL;
	if ((opts->session.volume && !again.volume) || ctm_vec_push(&job->again, &again) < 0) {
		free(again.volume);
		return -1;
	}
	ctm_err_hint(err, "it is looked at once more, after the others");
	volumes_error(opts, name, err);
	return 0;
}

static int check_one(const struct options *opts, const char *name, void *arg)
{
	struct job *job = arg;
	struct ctm_json *json = job->json;
	CLEANUP(ctm_exam_freep) struct ctm_exam *exam = NULL;
	struct ctm_err err = { 0 };
	struct ctm_report rep = { .name = name,
				  .verbose = opts->verbose,
				  .color = term_color(opts) };
	int r = ctm_examine(name, &opts->session, &exam, &err);

	term_progress_end();
	if (r < 0 && put_off(job, opts, name, &err) == 0) {
		return EXIT_CLEAN;
	}
	if (job->more && !json && !opts->quiet) {
		putchar('\n');
	}
	job->more = true;
	if (r < 0) {
		volumes_error(opts, name, &err);
		(void)ctm_json_error(json, name, opts->session.volume, &err);
		return term_status(&err);
	}
	rep.exam = exam;
	if (opts->format == FORMAT_JSON) {
		r = ctm_json_report(json, &rep);
	} else if (!opts->quiet) {
		r = ctm_report_text(stdout, &rep);
	}
	if (r < 0) {
		(void)ctm_err_nomem(&err);
		term_error(name, &err);
		return EXIT_FAILED;
	}
	return exam->plan && ctm_plan_has_work(exam->plan) ? EXIT_WORK : EXIT_CLEAN;
}

static int check_names(const struct options *opts, char *const *names, size_t n,
		       struct ctm_json *json)
{
	struct job job = { .json = json, .retry = n > 1 };
	struct options one = *opts;
	int worst = EXIT_CLEAN;

	for (size_t i = 0; i < n; i++) {
		int status = volumes_each(opts, names[i], check_one, &job);

		worst = status > worst ? status : worst;
	}
	job.retry = false;
	for (size_t i = 0; i < job.again.n; i++) {
		int status;

		one.session.volume = job.again.v[i].volume;
		status = check_one(&one, job.again.v[i].name, &job);
		worst = status > worst ? status : worst;
		free(job.again.v[i].volume);
	}
	ctm_vec_done(&job.again);
	return worst;
}

/* One that cannot be looked at stops none of the others. */
static int check_all(const struct options *opts, struct ctm_json *json)
{
	CLEANUP(ctm_inventory_done) struct ctm_inventory inventory = { 0 };
	struct ctm_err err = { 0 };
	int missing = EXIT_CLEAN;
	int worst;

	if (ctm_inventory_read(&opts->session.host, &inventory, &err) < 0) {
		term_error("--all", &err);
		return term_status(&err);
	}
	if (inventory.missing.code != CTM_OK) {
		term_error("--all", &inventory.missing);
		missing = term_status(&inventory.missing);
	}
	if (!inventory.names.n) {
		fputs("ctmend: there is no container on this host\n", stderr);
	}
	worst = check_names(opts, inventory.names.v, inventory.names.n, json);
	return missing > worst ? missing : worst;
}

static int run(const struct options *opts, int argc, char **argv)
{
	struct ctm_json *json;
	int status;

	if (opts->all ? argc > 0 : argc == 0) {
		fputs(opts->all ? "ctmend: --all and a TARGET do not go together\n" :
				  "ctmend: usage: ctmend check [OPTION]... TARGET... | --all\n",
		      stderr);
		return EXIT_USAGE;
	}
	json = opts->format == FORMAT_JSON ? ctm_json_new("check", stdout) : NULL;
	status = opts->all ? check_all(opts, json) : check_names(opts, argv, (size_t)argc, json);
	return ctm_json_end(json) < 0 ? EXIT_FAILED : status;
}

const struct command command_check = {
	.name = "check",
	.operands = "TARGET... | --all",
	.summary = "what is wrong, grouped by cause",
	.details = "Looks at the root file system of each TARGET, read-only, and says which "
		   "owners, ACL entries and capabilities do not belong to the container's id map, "
		   "and which package-manager locks and caches are stale. Exit status: 0 clean, 1 "
		   "work found. --all looks at every container of this host.",
	.options = OPTS_COMMON | OPTS_SELECT | OPT(OPT_ALL),
	.min_operands = 0,
	.max_operands = -1,
	.run = run,
};
