/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the time of a hook is shared out: who starts a container waits for it.
 *
 *	0 ........ 1/2 ........ 3/4 ...... 7/8 ...... all
 *	   nothing   the volume   the work    what has   the hook has
 *	   is        is made      is asked    not ended  returned, but for an
 *	   changed   writable no  to end      is killed  image or device that is
 *	   yet       later                               not let go (session/hook.h)
 *
 * So a write that has been begun has a quarter for itself, and a quarter to end: to sync and to
 * unmount.
 */
#ifndef CTM_SESSION_DEADLINE_H
#define CTM_SESSION_DEADLINE_H

#include <stdint.h>

/** All in milliseconds; moments are those of base/clock.h. */
struct ctm_deadline {
	int64_t begin;
	int64_t total;
};

/** Begins now. */
struct ctm_deadline ctm_deadline_start(unsigned int seconds);

/** The last moment for the volume to be made writable. */
int64_t ctm_deadline_write(const struct ctm_deadline *d);
/** When the work is asked to end. */
int64_t ctm_deadline_stop(const struct ctm_deadline *d);
/** When the work is asked to end that is likely to be too slow again (session/hooknote.h). */
int64_t ctm_deadline_stop_early(const struct ctm_deadline *d);
/** How long what was asked to end gets for it. */
int64_t ctm_deadline_grace(const struct ctm_deadline *d);

/**
 * How many of the wanted seconds a lock may be waited for from now on, so that there is time for
 * work behind it.
 */
unsigned int ctm_deadline_wait(const struct ctm_deadline *d, int64_t now, unsigned int wanted);

#endif
