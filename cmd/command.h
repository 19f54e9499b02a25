/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command of ctmend: a row of data and one function.
 *
 * To add one: cmd/NAME.c with a struct command, a line in commands.c, a section in
 * man/ctmend.8, a golden test in tests/cli/.
 */
#ifndef CTM_CMD_COMMAND_H
#define CTM_CMD_COMMAND_H

#include <stddef.h>

#include "exit.h"
#include "options.h"

struct command {
	const char *name;
	const char *operands;       /* "TARGET..." for the usage line */
	const char *summary;        /* one line, no full stop */
	const char *details;        /* a paragraph for --help */
	unsigned long long options; /* OPT() bits */
	int min_operands;
	int max_operands; /* -1: any number */
	int (*run)(const struct options *opts, int argc,
		   char **argv); /* returns an enum exit_status */
};

extern const struct command command_check;
extern const struct command command_diff;
extern const struct command command_explain;
extern const struct command command_history;
extern const struct command command_hook;
extern const struct command command_list;
extern const struct command command_map;
extern const struct command command_repair;
extern const struct command command_undo;

extern const struct command *const commands[];
extern const size_t commands_n;

#endif
