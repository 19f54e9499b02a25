/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block and unblock. */
#include "target/stopsignals.h"

void ctm_stopsignals_hold(struct ctm_stopsignals *stop)
{
	sigset_t set;

	if (stop->held) {
		return;
	}
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTSTP);
	(void)sigaddset(&set, SIGTTIN);
	(void)sigaddset(&set, SIGTTOU);
	stop->held = sigprocmask(SIG_BLOCK, &set, &stop->before) == 0;
}

void ctm_stopsignals_release(struct ctm_stopsignals *stop)
{
	if (stop->held) {
		stop->held = false;
		(void)sigprocmask(SIG_SETMASK, &stop->before, NULL);
	}
}
