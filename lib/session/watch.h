/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the session of a hook tells the process that watches over it, which may have to end it: what
 * must be waited for then, and what is to be written down.
 */
#ifndef CTM_SESSION_WATCH_H
#define CTM_SESSION_WATCH_H

#include <stdbool.h>

#include "base/err.h"
#include "run/outcome.h"
#include "session/hooknote.h"

struct ctm_watch {
	/*
	 * Takes Proxmox VE's lock of the container's configuration for as long as the hook lasts,
	 * without waiting: -EWOULDBLOCK, err untouched: somebody has it. The session never has it
	 * itself, so that nothing of a hook holds it when the hook is over and a part of it hangs.
	 */
	int (*lock)(unsigned int vmid, void *arg, struct ctm_err *err);
	/*
	 * The note to leave when the time does not do; first without, later with the volume's root;
	 * one without that comes again later says nothing new.
	 * doubtful: one was left earlier, and whether it still holds is not known before the volume
	 * has answered.
	 */
	void (*seen)(const struct ctm_hooknote *note, bool doubtful, void *arg);
	/*
	 * From now on there may be a loop device or mount on this image or device (its real path);
	 * NULL: no more.
	 */
	void (*holds)(const char *path, void *arg);
	/* The volume is about to be changed, by the record of a run. */
	void (*changes)(void *arg);
	/* All changes that were to be made are made; what follows only looks at them. */
	void (*changed)(const struct ctm_outcome *run, void *arg);
	void *arg;
};

#endif
