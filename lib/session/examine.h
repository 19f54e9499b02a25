/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking at a volume that is attached already: scan, plan, inspect, digest.
 */
#ifndef CTM_SESSION_EXAMINE_H
#define CTM_SESSION_EXAMINE_H

#include "session/session.h"

/** Locates the target and picks the volume of opts; exam has nothing else yet. */
int ctm_exam_new(const char *name, const struct ctm_session_opts *opts, struct ctm_exam **ret,
		 struct ctm_err *err);

/**
 * Fills in plan, identity, digest and notes from the attached volume; what an earlier call left
 * in exam is freed first.
 */
int ctm_exam_look(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		  struct ctm_attached *att, struct ctm_err *err);

/**
 * Whether to give way to somebody who waits for the lock under which the exam (arg) is made:
 * CTM_SYS, -ECANCELED; ctm_guard_yield(). For ctm_scan_request.interrupt, and between the stages.
 */
int ctm_exam_interrupt(void *arg, struct ctm_err *err);

/**
 * Whether there is no map to judge by, or none that shifts: then exam has no plan and a note
 * says why.
 */
bool ctm_exam_no_map(const struct ctm_exam *exam);

/** A scan and plan of the attached volume alone, as the verification after a repair needs it. */
int ctm_exam_plan(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		  struct ctm_attached *att, struct ctm_plan **ret, struct ctm_err *err);

/**
 * Ends the guard of a volume that is not attached any more. What could not be deactivated is a note
 * of the exam, no error: what was wanted has been done. -ENOMEM.
 */
int ctm_exam_unguard(struct ctm_exam *exam, struct ctm_guard *guard, struct ctm_err *err);

/** Copies the sentence into the notes. -ENOMEM. */
int ctm_exam_note(struct ctm_exam *exam, const char *text);

#endif
