/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much memory a plan takes, and where the rest of it lies.
 */
#ifndef CTM_SESSION_ROOM_H
#define CTM_SESSION_ROOM_H

#include "base/bytes.h"
#include "session/session.h"

/* Enough for all but trees that are wrong as a whole: of these some hundred thousand inodes. */
#define CTM_PLAN_MEMORY ((size_t)64 << 20)

/**
 * Appends the directory for what goes beyond that: opts->tmpdir, unless it is on
 * a file system that others may write (base/localfs.h), else for a repair the state
 * directory, when it is there, else /var/tmp. -ENOMEM.
 */
int ctm_room_dir(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		 struct ctm_buf *ret, struct ctm_err *err);

/**
 * What a stage that filled the plan returned: where room in that directory was what was missing,
 * err becomes CTM_REFUSED and says so, with a hint. Returns the error.
 */
int ctm_room_err(const struct ctm_plan *plan, int r, struct ctm_err *err);

#endif
