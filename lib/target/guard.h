/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard: nobody else uses the volume, and nobody starts the container meanwhile.
 */
#ifndef CTM_TARGET_GUARD_H
#define CTM_TARGET_GUARD_H

#include <stdbool.h>

#include "base/err.h"
#include "target/host.h"
#include "target/target.h"

struct ctm_guard;

enum ctm_guard_mode {
	/*
	 * check, diff: the config flock only where a loop of ours could be reused (image files of a
	 * stopped container), and where the volume must be activated
	 */
	CTM_GUARD_READ,
	CTM_GUARD_WRITE, /* repair, undo: everything */
	CTM_GUARD_HOOK,  /* the starter holds the config flock: do not take it, check the rest */
};

struct ctm_guard_opts {
	enum ctm_guard_mode mode;
	unsigned int wait; /* seconds to wait for the flock; then CTM_REFUSED */
	/* One sentence about what takes long, while it does; may be NULL. */
	void (*notice)(const char *text, void *arg);
	void *notice_arg;
	bool unlocked; /* HOOK: the starter does not hold it, so a reboot may be going on */
};

/**
 * How long a hook looks for other users of a directory, in all mount namespaces: what takes longer
 * is CTM_REFUSED with -ETIME. A repair and an undo look until they know.
 */
#define CTM_GUARD_HOOK_MS 3000

/**
 * CTM_REFUSED with the next step: running, mid-reboot, lock:, template, base volume, in use,
 * mounted elsewhere (which process, where), foreign loop device, not there and not to be activated.
 * On success the flock is held until ctm_guard_end(), and as long as it is, Ctrl-Z stops nobody
 * (target/stopsignals.h). For CTM_GUARD_WRITE the caller must locate
 * the target again afterwards (the configuration may have changed) and call ctm_guard_recheck()
 * with it.
 *
 * A volume of a stopped PVE container that is not there is activated (target/activate.h), but for
 * the hook: a start has done that already. vol is one of target's; both calls fill in what was open
 * in it.
 */
int ctm_guard_take(const struct ctm_host *host, struct ctm_target *target,
		   const struct ctm_volume *vol, const struct ctm_guard_opts *opts,
		   struct ctm_guard **ret, struct ctm_err *err);
int ctm_guard_recheck(struct ctm_guard *guard, struct ctm_target *target,
		      const struct ctm_volume *vol, struct ctm_err *err);
/**
 * Deactivates what was activated, then gives the locks back; nothing of the volume is attached any
 * more. Reports what could not be deactivated (the next run tries again); guard is gone in any
 * case. NULL is fine.
 */
int ctm_guard_end(struct ctm_guard *guard, struct ctm_err *err);
void ctm_guard_free(struct ctm_guard *guard); /* ctm_guard_end() without a report */
void ctm_guard_freep(struct ctm_guard **guard);

/**
 * READ: whether a running container has the volume, a raw one, mounted. Then no lock is held, and
 * ctm_attach_running() is the way to it.
 */
bool ctm_guard_in_container(const struct ctm_guard *guard);

/**
 * READ: to be called often while the volume is attached. -ECANCELED, CTM_SYS: somebody has waited
 * for the config flock for some seconds (target/lockwatch.h); what is attached is to be detached
 * and the guard ended. 0 when no flock is held.
 */
int ctm_guard_yield(struct ctm_guard *guard, struct ctm_err *err);

/** One sentence a person should read (the container is running), or NULL; borrowed. */
const char *ctm_guard_note(const struct ctm_guard *guard);

/** Whether the container runs, by its command socket (target/ctalive.h). */
int ctm_guard_running(const struct ctm_target *target, bool *ret, struct ctm_err *err);

#endif
