/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of the volume that was interrupted: run.unfinished.
 */
#ifndef CTM_SESSION_UNFINISHED_H
#define CTM_SESSION_UNFINISHED_H

#include "session/examine.h"

/**
 * Looks for one, and makes what it still has to do a part of exam's plan (ctm_plan_take_over()), so
 * that report, diff and digest have it. exam->unfinished is its name then, or "". One that is of
 * another volume or cannot be read is a finding without actions, and a repair is refused.
 * A run that a live process is at work on is no finding but a note.
 */
int ctm_unfinished_look(struct ctm_exam *exam, const struct ctm_session_opts *opts,
			struct ctm_attached *att, struct ctm_err *err);

/**
 * Whether a repair may finish what was found: CTM_REFUSED where it cannot be read, and for a hook
 * where a person's run was interrupted.
 */
int ctm_unfinished_agree(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			 struct ctm_err *err);

#endif
