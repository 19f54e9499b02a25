/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time that passes. */
#include "base/clock.h"

#include <time.h>

int64_t ctm_clock_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
