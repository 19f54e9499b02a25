/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runs recorded for a target, whether or not it is still there.
 */
#ifndef CTM_SESSION_HISTORY_H
#define CTM_SESSION_HISTORY_H

#include "run/history.h"
#include "session/session.h"

/** An empty history is no error. */
int ctm_session_history(const char *name, const struct ctm_session_opts *opts,
			struct ctm_history *ret, struct ctm_err *err);

#endif
