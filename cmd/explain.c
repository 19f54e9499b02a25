/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain: what a finding means, why it matters, what to do.
 */
#include <stdio.h>

#include "command.h"
#include "report/explain.h"
#include "term.h"

static int unknown(const char *code)
{
	term_say("no finding has the code '%s'; the codes are:", code);
	for (size_t i = 0; i < ctm_page_count(); i++) {
		struct ctm_page page;

		ctm_page_at(i, &page);
		fprintf(stderr, "  %s\n", page.code);
	}
	return EXIT_USAGE;
}

static int run(const struct options *opts, int argc, char **argv)
{
	const char *code = argc > 0 ? argv[0] : NULL;
	struct ctm_page page = { 0 };

	if (code && !ctm_page_find(code, &page)) {
		return unknown(code);
	}
	if (opts->format == FORMAT_JSON) {
		return ctm_explain_json(stdout, code, &page) < 0 ? EXIT_FAILED : EXIT_CLEAN;
	}
	if (code) {
		ctm_explain_text(stdout, code, &page);
	} else {
		ctm_explain_list(stdout);
	}
	return EXIT_CLEAN;
}

const struct command command_explain = {
	.name = "explain",
	.operands = "[CODE]",
	.summary = "what a finding means, why it matters, how it comes about",
	.details = "Explains a code that check or diff printed, such as own.host: what it means, "
		   "how "
		   "it comes about, what repair does about it, and how to look further. Without "
		   "CODE all codes are listed.",
	.options = OPTS_COMMON,
	.min_operands = 0,
	.max_operands = 1,
	.run = run,
};
