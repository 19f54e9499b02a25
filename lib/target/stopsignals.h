/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ctrl-Z while a lock is held that others wait for.
 *
 * Who may call ctmend by sudo can stop it from the terminal, and a stopped process keeps its locks.
 * SIGTSTP, SIGTTIN and SIGTTOU are blocked meanwhile; one that came takes effect afterwards, as
 * usual. (SIGSTOP cannot be blocked, and is not to be had from a terminal.)
 */
#ifndef CTM_TARGET_STOPSIGNALS_H
#define CTM_TARGET_STOPSIGNALS_H

#include <signal.h>
#include <stdbool.h>

/** Zero-initialise. For the thread that holds the lock. */
struct ctm_stopsignals {
	bool held;
	sigset_t before;
};

/** Does nothing when they are held already. */
void ctm_stopsignals_hold(struct ctm_stopsignals *stop);
/** As it was before; does nothing when they are not held. Call it when the lock is given back. */
void ctm_stopsignals_release(struct ctm_stopsignals *stop);

#endif
