/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time that passes, beside the kernel's own. */
#include "base/clock.h"

#include <time.h>
#include <unistd.h>

#include "cases.h"

/* Against the kernel's own figure, taken before and after. */
Test(clock, is_the_kernels)
{
	struct timespec before, after;
	int64_t now;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &before), 0);
	now = ctm_clock_ms();
	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &after), 0);
	cr_assert_geq(now, before.tv_sec * 1000 + before.tv_nsec / 1000000);
	cr_assert_leq(now, after.tv_sec * 1000 + after.tv_nsec / 1000000);
}

Test(clock, counts_milliseconds)
{
	const int64_t begun = ctm_clock_ms();

	(void)usleep(20000);
	cr_assert_geq(ctm_clock_ms() - begun, 19);
}
