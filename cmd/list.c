/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list: every container of this host in one table.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "command.h"
#include "report/list.h"
#include "term.h"

static int worse(int status, int other)
{
	return status > other ? status : other;
}

/* What is wrong with single containers is said beside the table, which has a row for them too. */
static int say_errors(const struct ctm_overviews *all)
{
	int status = EXIT_CLEAN;

	if (all->missing.code != CTM_OK) {
		term_error("list", &all->missing);
		status = term_status(&all->missing);
	}
	if (all->records.code != CTM_OK) {
		term_error("list", &all->records);
		status = worse(status, term_status(&all->records));
	}
	for (size_t i = 0; i < all->v.n; i++) {
		const struct ctm_overview *one = &all->v.v[i];

		if (one->err.code != CTM_OK) {
			term_error(one->name, &one->err);
			status = worse(status, term_status(&one->err));
		}
		if (one->work) {
			status = worse(status, EXIT_WORK);
		}
	}
	return status;
}

static int run(const struct options *opts, int argc, char **argv)
{
	CLEANUP(ctm_overviews_done) struct ctm_overviews all = { 0 };
	struct ctm_list_columns columns = { 0 };
	struct ctm_err err = { 0 };
	bool json = opts->format == FORMAT_JSON;
	int r = ctm_list_choose(opts->columns, &columns, &err);

	(void)argc;
	(void)argv;
	if (r == 0) {
		r = ctm_session_overviews(&opts->session, ctm_list_looks(&columns), &all, &err);
	}
	term_progress_end();
	if (r < 0) {
		term_error("list", &err);
		return term_status(&err);
	}
	if (!json && !all.v.n) {
		fputs("ctmend: there is no container on this host\n", stderr);
	} else if (json || !opts->quiet) {
		r = ctm_list_print(stdout, &all, &columns, json);
	}
	return worse(r < 0 ? EXIT_FAILED : EXIT_CLEAN, say_errors(&all));
}

const struct command command_list = {
	.name = "list",
	.operands = "",
	.summary = "every container of this host in one table",
	.details =
		"Lists the containers of this node and plain LXC ones: state, storage, id map, "
		"what the configuration alone shows to be wrong, the last repair, and whether "
		"the HA manager or replication has its hands on them. Volumes are looked at only "
		"for the column FINDINGS. Exit status: the worst of all containers.",
	.options = OPTS_COMMON | OPT(OPT_OUTPUT) | OPT(OPT_JOBS) | OPT(OPT_WAIT),
	.min_operands = 0,
	.max_operands = 0,
	.run = run,
};
