/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One table of options: the parser, --help and the completion words all come from it.
 */
#ifndef CTM_CMD_OPTIONS_H
#define CTM_CMD_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"
#include "run/retain.h"
#include "session/session.h"

enum opt_id {
	OPT_ALL,
	OPT_APPROVE,
	OPT_CLEAN,
	OPT_COLOR,
	OPT_CONVERT,
	OPT_CT_CONFIG,
	OPT_DRY_RUN,
	OPT_FIX,
	OPT_FLATTEN,
	OPT_FORMAT,
	OPT_FROM_MAP,
	OPT_HELP,
	OPT_JOBS,
	OPT_JSON,
	OPT_KEEP_DAYS,
	OPT_KEEP_RUNS,
	OPT_MAP,
	OPT_MAX_TIME,
	OPT_OUTPUT,
	OPT_PATH,
	OPT_PRUNE,
	OPT_QUIET,
	OPT_SCOPE,
	OPT_SET_ASIDE,
	OPT_SNAPSHOT,
	OPT_STRICT,
	OPT_SYSROOT,
	OPT_VERBOSE,
	OPT_VERSION,
	OPT_VOLUME,
	OPT_WAIT,
	OPT_YES,
	OPT_N
};

/** One bit of a command's option set. */
#define OPT(id) (1ULL << (id))

/** Options that every command takes. */
#define OPTS_COMMON                                                                          \
	(OPT(OPT_COLOR) | OPT(OPT_FORMAT) | OPT(OPT_HELP) | OPT(OPT_JSON) | OPT(OPT_QUIET) | \
	 OPT(OPT_SYSROOT) | OPT(OPT_VERBOSE) | OPT(OPT_VERSION))
/** Options that choose what to look at and how. */
#define OPTS_SELECT                                                                              \
	(OPT(OPT_SCOPE) | OPT(OPT_PATH) | OPT(OPT_CLEAN) | OPT(OPT_CONVERT) | OPT(OPT_FIX) |     \
	 OPT(OPT_FROM_MAP) | OPT(OPT_FLATTEN) | OPT(OPT_VOLUME) | OPT(OPT_JOBS) | OPT(OPT_MAP) | \
	 OPT(OPT_CT_CONFIG) | OPT(OPT_WAIT))

enum opt_format { FORMAT_TEXT, FORMAT_JSON };
enum opt_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/** The command line, read. Strings point into argv; free the rest with options_done(). */
struct options {
	struct ctm_session_opts session;
	CTM_VEC(const char *) path_list; /* normalised --path values; owned */
	struct ctm_buf words;            /* the options of OPTS_SELECT as given, for the record */
	enum opt_format format;
	enum opt_color color;
	const char *columns; /* --output, or NULL */
	bool all;
	bool quiet;
	bool verbose;
	bool yes;
	bool dry_run;
	bool snapshot;
	bool prune;
	bool strict;           /* hook: its status is what was found */
	unsigned int max_time; /* hook: seconds */
	bool keep_given;       /* --keep-days or --keep-runs */
	bool set_aside;
	struct ctm_retention keep;
	bool help;
	bool version;
	const char *approve; /* 32 lower-case hex digits, or NULL */
};

void options_init(struct options *opts);
void options_done(struct options *opts);

/**
 * Reads the options of set. stop_at_command: stops before the first word that is no option.
 * Returns the index of the first operand, or -1 after a message on stderr (exit status 2).
 */
int options_parse(struct options *opts, unsigned long long set, bool stop_at_command, int argc,
		  char **argv);

/** The options of set for --help, one per line, in the table's order. */
void options_help(FILE *out, unsigned long long set);
/** The options of set, one per line as "--long" and "-s", for completion and for the tests. */
void options_words(FILE *out, unsigned long long set);

#endif
