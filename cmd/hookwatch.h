/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hook's time is limited: the process that was called watches over another one that does the
 * work.
 *
 * Proxmox VE and LXC wait for a hook and read its output up to the end, without a limit. So the
 * work is done in a session of its own by a process that has none of the caller's descriptors; when
 * it hangs in the kernel, on a storage that does not answer, the hook returns all the same. What it
 * must wait for, however long that takes, is a loop device or mount of an image or block device:
 * the start would use that loop, which is read-only, or mount the device a second time.
 *
 * This is the program's part and not the library's: it is about standard streams, signals and the
 * exit status. What is done in which part of the time, and the note of a deadline, are the
 * library's (session/deadline.h, session/watch.h, session/hooknote.h).
 */
#ifndef CTM_CMD_HOOKWATCH_H
#define CTM_CMD_HOOKWATCH_H

#include "options.h"
#include "session/deadline.h"
#include "session/watch.h"

/** What the work may return beside an enum exit_status. */
enum hookwatch_status {
	HOOK_TOO_LATE = 64, /* there is not enough time left to change anything */
	HOOK_AS_BEFORE,     /* it did not do the last time, and nothing has changed since */
	HOOK_NO_SETUP,      /* of hookwatch itself: the process got no further than its start */
};

struct hookwatch_job {
	const struct options *opts;
	const char *name; /* of the container, for messages */
	/*
	 * In the new process. It may print; SIGTERM asks it to end (cmd/stop.h). Returns an exit
	 * status.
	 */
	int (*work)(const struct ctm_watch *watch, const struct ctm_deadline *deadline, void *arg);
	void *arg;
};

/**
 * Has the work done within opts->max_time, relays what it says, and says what it cannot say itself.
 * Returns an enum exit_status, as if nobody had to go on in any case.
 *
 * SIGTERM, SIGINT and SIGHUP end the work in the same order as the deadline does. When this process
 * is killed, the work is asked to end by the kernel.
 */
int hookwatch_run(const struct hookwatch_job *job);

#endif
