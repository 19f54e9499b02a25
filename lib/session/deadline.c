/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of a hook. */
#include "session/deadline.h"

#include "base/clock.h"

struct ctm_deadline ctm_deadline_start(unsigned int seconds)
{
	return (struct ctm_deadline){ .begin = ctm_clock_ms(), .total = (int64_t)seconds * 1000 };
}

int64_t ctm_deadline_write(const struct ctm_deadline *d)
{
	return d->begin + d->total / 2;
}

int64_t ctm_deadline_stop(const struct ctm_deadline *d)
{
	return d->begin + d->total - d->total / 4;
}

int64_t ctm_deadline_stop_early(const struct ctm_deadline *d)
{
	return d->begin + d->total / 4;
}

int64_t ctm_deadline_grace(const struct ctm_deadline *d)
{
	return d->total / 8;
}

unsigned int ctm_deadline_wait(const struct ctm_deadline *d, int64_t now, unsigned int wanted)
{
	const int64_t left = d->begin + d->total / 4 - now;
	const int64_t most = left > 0 ? left / 1000 : 0;

	return most < (int64_t)wanted ? (unsigned int)most : wanted;
}
