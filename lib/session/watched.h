/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of a session that a hook has in addition: what it tells its watch (session/watch.h),
 * and where its time ends it. Without a watch, or a deadline, in the options they do nothing.
 */
#ifndef CTM_SESSION_WATCHED_H
#define CTM_SESSION_WATCHED_H

#include "session/examine.h"

/** Before the volume is touched: what is known of it without that. */
int ctm_watched_located(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			struct ctm_err *err);
/**
 * Before the volume is guarded. -EALREADY, CTM_REFUSED: a hook's time did not do before, and
 * neither the configuration nor the volume has changed since. Of a directory this touches the
 * volume.
 */
int ctm_watched_begin(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_err *err);
/** The same where the volume had to be attached first. */
int ctm_watched_attached(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			 const struct ctm_attached *att, struct ctm_err *err);
/** Around everything that can leave a loop device or a mount. */
void ctm_watched_hold(const struct ctm_exam *exam, const struct ctm_session_opts *opts);
void ctm_watched_let_go(const struct ctm_session_opts *opts);
/** A repair by a person is done: the next hook tries again. */
void ctm_watched_forget(const struct ctm_exam *exam, const struct ctm_session_opts *opts);
/** -ECANCELED, CTM_REFUSED: it is too late to make the volume writable. */
int ctm_watched_time(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		     struct ctm_err *err);

#endif
