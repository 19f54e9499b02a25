/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether somebody waits for a lock that a report of ours holds: pct start gives up after 10
 * seconds, and a report is not worth that.
 */
#ifndef CTM_TARGET_LOCKWATCH_H
#define CTM_TARGET_LOCKWATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "target/locktable.h"

/** For how long whoever waits is let wait, so that a report which is nearly done gets done. */
#define CTM_LOCKWATCH_PATIENCE_MS 3000
/** errno of the error, by which the caller knows that trying again later is worth it. */
#define CTM_LOCKWATCH_YIELD ECANCELED

struct ctm_lockwatch {
	bool on;
	struct ctm_lock_row file;
	int64_t next_ms;  /* when to look again */
	int64_t since_ms; /* when somebody was first seen waiting, 0: nobody waits */
};

/** fd: holds the lock. A file system that the kernel's table does not name is not watched. */
void ctm_lockwatch_begin(struct ctm_lockwatch *watch, int fd);
/** Nothing is held any more. */
void ctm_lockwatch_end(struct ctm_lockwatch *watch);

/**
 * To be called often: looks twice in a second. -ECANCELED, CTM_SYS, with the process, when somebody
 * has waited too long; it goes on returning that.
 */
int ctm_lockwatch_look(struct ctm_lockwatch *watch, struct ctm_err *err);

#endif
