/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of a hook, shared out. */
#include "session/deadline.h"

#include "base/clock.h"
#include "cases.h"

static const struct {
	const char *name;
	int64_t begin, total;
	int64_t early, write, stop;
} times[] = {
	{ "the default", 0, 20000, 5000, 10000, 15000 },
	{ "it begins when it begins", 7000, 20000, 12000, 17000, 22000 },
	{ "one second", 0, 1000, 250, 500, 750 },
	{ "an hour", 0, 3600000, 900000, 1800000, 2700000 },
};

CASES(deadline, moments, times)
{
	const struct ctm_deadline d = { .begin = times[*i].begin, .total = times[*i].total };
	const int64_t end = d.begin + d.total;

	cr_assert_eq(ctm_deadline_stop_early(&d), times[*i].early, "%s", times[*i].name);
	cr_assert_eq(ctm_deadline_write(&d), times[*i].write, "%s", times[*i].name);
	cr_assert_eq(ctm_deadline_stop(&d), times[*i].stop, "%s", times[*i].name);
	cr_assert_gt(ctm_deadline_grace(&d), 0, "%s", times[*i].name);
	cr_assert_lt(ctm_deadline_stop(&d) + ctm_deadline_grace(&d), end, "%s", times[*i].name);
}

static const struct {
	const char *name;
	int64_t now;
	unsigned int wanted;
	unsigned int want;
} waits[] = {
	{ "a quarter is there", 0, 10, 5 },
	{ "less is wanted", 0, 3, 3 },
	{ "none is wanted", 0, 0, 0 },
	{ "some of it is over", 3500, 10, 1 },
	{ "all of it is over", 5000, 10, 0 },
	{ "and more", 100000, 10, 0 },
	{ "the most that can be asked for", 0, 86400, 5 },
};

CASES(deadline, wait, waits)
{
	const struct ctm_deadline d = { .begin = 0, .total = 20000 };

	cr_assert_eq(ctm_deadline_wait(&d, waits[*i].now, waits[*i].wanted), waits[*i].want, "%s",
		     waits[*i].name);
}

Test(deadline, start)
{
	const struct ctm_deadline d = ctm_deadline_start(20);
	const int64_t now = ctm_clock_ms();

	cr_assert_eq(d.total, 20000);
	cr_assert_leq(d.begin, now);
	cr_assert_lt(now - d.begin, 5000);
}
