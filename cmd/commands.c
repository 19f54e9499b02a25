/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands, in the order of the help.
 */
#include "command.h"

#include "base/cleanup.h"

const struct command *const commands[] = {
	&command_check, &command_diff, &command_repair,  &command_undo, &command_history,
	&command_map,   &command_list, &command_explain, &command_hook,
};
const size_t commands_n = ARRAY_LEN(commands);
