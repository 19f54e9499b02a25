/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain: what a finding means, why it matters, what to do.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "plan/finding.h"

static const char *severity_text(enum ctm_severity severity)
{
	switch (severity) {
	case CTM_INFO:
		return "information; it does not change the exit status";
	case CTM_CHOICE:
		return "needs a decision; repair leaves it as it is";
	case CTM_FAULT:
		return "a fault; repair cures it";
	}
	return "";
}

static int run(const struct options *opts, int argc, char **argv)
{
	(void)opts;
	(void)argc;
	for (int i = 0; i < CTM_F_N; i++) {
		const struct ctm_finding_info *info = ctm_finding_info((enum ctm_finding_code)i);

		/* "err" stands for err.EACCES and its like. */
		if (strcmp(argv[0], info->code) != 0 &&
		    !(i == CTM_F_ERR && strncmp(argv[0], "err.", strlen("err.")) == 0)) {
			continue;
		}
		printf("%s: %s\n\n%s\n\nSeverity: %s.\n", argv[0], info->title, info->why,
		       severity_text(info->severity));
		if (info->next) {
			printf("Next: %s\n", info->next);
		}
		return EXIT_CLEAN;
	}
	fprintf(stderr, "ctmend: no finding has the code '%s'; the codes are:\n", argv[0]);
	for (int i = 0; i < CTM_F_N; i++) {
		fprintf(stderr, "  %s\n", ctm_finding_info((enum ctm_finding_code)i)->code);
	}
	return EXIT_USAGE;
}

const struct command command_explain = {
	.name = "explain",
	.operands = "CODE",
	.summary = "what a finding means, why it matters, how it comes about",
	.details = "Explains a code that check or diff printed, such as own.host.",
	.options = OPTS_COMMON & ~(OPT(OPT_FORMAT) | OPT(OPT_JSON)),
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
