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
 * repair.
 *
 * *ret_starting: the caller is whoever starts the container, proven by who holds the
 * configuration's lock or listens on its command socket; then nothing that happens here may stop
 * the start. False: called by hand, and the rules of ctm_session_repair() hold. Set on errors as
 * well.
 *
 * CTM_REFUSED where nothing can be done in a hook: the rootfs of a plain container is an image
 * (mounting is not for hooks, which AppArmor confines).
 */
int ctm_session_hook(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
		     bool *ret_starting, struct ctm_done *ret, struct ctm_err *err);

#endif
