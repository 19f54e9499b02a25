/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Being asked to stop, by a signal.
 */
#ifndef CTM_RUN_STOP_H
#define CTM_RUN_STOP_H

#include <signal.h>

/**
 * Shared with a signal handler. Where nothing is being applied a signal may end the process, which
 * leaves nothing behind; else the run stops behind the inode at hand, is not finished, and says so
 * (struct ctm_outcome).
 */
struct ctm_stop {
	volatile sig_atomic_t applying; /* set while a record is applied to a volume */
	volatile sig_atomic_t asked;    /* set by the handler */
};

#endif
