/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session of a hook: the required directories of a container that is about to start.
 */
#ifndef CTM_SESSION_HOOK_H
#define CTM_SESSION_HOOK_H

#include "session/hookcall.h"
#include "session/session.h"

/**
 * Repairs what a start needs. Looks read-only first, and writes only when there is something to
 * repair, and time for it (opts->deadline). opts->watch must be there. Nothing is done, and *ret
 * stays empty, for a VM.
 *
 * That the container is being started by whoever called us is not believed but proven: by who holds
 * the configuration's lock, or listens on its command socket. A plain container's hook that is
 * called by hand keeps to the rules of ctm_session_repair().
 *
 * CTM_REFUSED where nothing can be done in a hook: the rootfs of a plain container is an image
 * (mounting is not for hooks, which AppArmor confines), or the time does not do: -ECANCELED, and
 * -EALREADY when it did not do the last time (session/watched.h). What all this means for the start
 * is the caller's to say.
 */
int ctm_session_hook(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
		     struct ctm_done *ret, struct ctm_err *err);

#endif
