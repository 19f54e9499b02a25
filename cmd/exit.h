/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exit status: interface, named once (ctmend(8), EXIT STATUS).
 */
#ifndef CTM_CMD_EXIT_H
#define CTM_CMD_EXIT_H

enum exit_status {
	EXIT_CLEAN = 0,   /* clean, or done */
	EXIT_WORK = 1,    /* check or diff found work */
	EXIT_USAGE = 2,   /* the command line makes no sense */
	EXIT_REFUSED = 3, /* nothing was changed, on purpose */
	EXIT_PARTLY = 4,  /* done in part, see the report */
	EXIT_FAILED = 5,  /* it failed */
};

#endif
