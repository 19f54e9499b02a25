/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Look into the table of locks now and then. */
#include "target/lockwatch.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "target/procs.h"

#define STEP_MS 500
/* The kernel makes the table up for each reader; a long one may take this part of our time. */
#define SHARE 10
/* pct waits for 10 s in all, and 3 of them pass before we give way. */
#define STEP_MOST_MS 2000

void ctm_lockwatch_begin(struct ctm_lockwatch *watch, int fd)
{
	*watch = (struct ctm_lockwatch){ .on = false };
	watch->on = ctm_locktable_of(fd, &watch->file) == 0;
	if (!watch->on) {
		CTM_DEBUG("guard", "who waits for the lock cannot be seen");
	}
}

void ctm_lockwatch_end(struct ctm_lockwatch *watch)
{
	watch->on = false;
}

static int yield_to(pid_t pid, struct ctm_err *err)
{
	char name[CTM_PROC_NAME];

	ctm_procs_name(pid, name);
	(void)ctm_err_set(err, CTM_SYS, 0, "process %d (%s) was waiting for the container's lock",
			  (int)pid, name);
	ctm_err_hint(err, "nothing is left attached; look again when that process is done");
	if (err) {
		/* its words would add nothing */
		err->num = CTM_LOCKWATCH_YIELD;
	}
	return -CTM_LOCKWATCH_YIELD;
}

static int64_t step_after(int64_t took_ms)
{
	const int64_t step = SHARE * took_ms > STEP_MS ? SHARE * took_ms : STEP_MS;

	return step < STEP_MOST_MS ? step : STEP_MOST_MS;
}

int ctm_lockwatch_look(struct ctm_lockwatch *watch, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int64_t now = ctm_clock_ms();
	int64_t step;
	pid_t pid = 0;
	int r;

	if (!watch->on || now < watch->next_ms) {
		return 0;
	}
	r = ctm_locktable_read(&text);
	step = step_after(ctm_clock_ms() - now);
	now = ctm_clock_ms();
	/* a table that cannot be read now can be read the next time */
	if (r < 0 ||
	    ctm_locktable_waiter((struct ctm_bytes){ text.p, text.len }, &watch->file, &pid) <= 0) {
		watch->next_ms = now + step;
		watch->since_ms = 0;
		return 0;
	}
	if (watch->since_ms == 0) {
		watch->since_ms = now;
	}
	if (now - watch->since_ms < CTM_LOCKWATCH_PATIENCE_MS) {
		watch->next_ms = now + step;
		return 0;
	}
	return yield_to(pid, err);
}
