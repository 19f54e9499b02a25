/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether somebody works in a volume right now, for sessions that make no plan.
 */
#ifndef CTM_SESSION_HELD_H
#define CTM_SESSION_HELD_H

#include "session/session.h"

/** CTM_REFUSED, with the process, when a package manager's lock in the attached volume is held. */
int ctm_session_refuse_held(const struct ctm_exam *exam, struct ctm_attached *att,
			    struct ctm_err *err);

#endif
