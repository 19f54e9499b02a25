/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/stopsignals.h"

#include "cases.h"

static bool is_blocked(int sig)
{
	sigset_t now;

	cr_assert_eq(sigprocmask(SIG_SETMASK, NULL, &now), 0);
	return sigismember(&now, sig) == 1;
}

static const int rows[] = { SIGTSTP, SIGTTIN, SIGTTOU };
CASES(stopsignals, held_and_released, rows)
{
	struct ctm_stopsignals stop = { 0 };
	struct ctm_stopsignals second = { 0 };

	cr_assert(!is_blocked(rows[*i]));
	ctm_stopsignals_release(&stop);
	ctm_stopsignals_hold(&stop);
	ctm_stopsignals_hold(&stop);
	cr_assert(is_blocked(rows[*i]));
	cr_assert(!is_blocked(SIGINT) && !is_blocked(SIGTERM), "others end it as usual");
	ctm_stopsignals_hold(&second);
	ctm_stopsignals_release(&second);
	cr_assert(is_blocked(rows[*i]), "one within the other");
	ctm_stopsignals_release(&stop);
	cr_assert(!is_blocked(rows[*i]));
}

Test(stopsignals, one_that_was_blocked_stays_so)
{
	struct ctm_stopsignals stop = { 0 };
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTSTP);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	ctm_stopsignals_hold(&stop);
	ctm_stopsignals_release(&stop);
	cr_assert(is_blocked(SIGTSTP));
}
