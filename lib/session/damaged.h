/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records that cannot be read: run.damaged, run.newer; and the directory that holds them, where it
 * is not root's alone: run.records. All are work for a person.
 */
#ifndef CTM_SESSION_DAMAGED_H
#define CTM_SESSION_DAMAGED_H

#include "run/journal.h"
#include "run/state.h"
#include "session/session.h"

/**
 * Reads all records of the target, and adds a finding to the plan for each that cannot be read. The
 * plan is settled. -ENOMEM, or why the records cannot be listed.
 */
int ctm_damaged_note(const struct ctm_exam *exam, struct ctm_state *state, struct ctm_plan *plan,
		     struct ctm_err *err);
/** Adds the finding for a record that can be read, of which saved files are damaged. -ENOMEM. */
int ctm_damaged_note_run(const struct ctm_exam *exam, const char *run, const char *problem,
			 struct ctm_plan *plan);
/** Adds the finding for a directory of records that is not used, why. -ENOMEM. */
int ctm_damaged_note_place(const struct ctm_err *why, struct ctm_plan *plan);

/** Whether all is there that the record in this directory says to be saved; CTM_CORRUPT. */
int ctm_damaged_verify(int dir, const struct ctm_reader *reader, struct ctm_err *err);

/** Gives an error about that run's damaged record its next step. */
void ctm_damaged_step(const char *target, const char *run, struct ctm_err *err);
/** The same for an error that names a run whose record cannot be read, damaged or newer. */
void ctm_damaged_hint(struct ctm_state *state, const char *target, struct ctm_err *err);
/** The same for an error of undo, of the run that was typed, or NULL: of the newest. */
void ctm_damaged_hint_undo(const char *target, const struct ctm_session_opts *opts,
			   const char *typed, struct ctm_err *err);

/**
 * Moves the record of a run that is damaged, or of a newer program, aside (ctm_state_set_aside()),
 * under the target's lock, for which opts->wait counts. CTM_REFUSED with a hint for a record that
 * is whole. run: its name; ret: appended, the path it has then.
 */
int ctm_session_set_aside(const char *name, const struct ctm_session_opts *opts, const char *typed,
			  char run[static CTM_RUN_NAME_MAX], struct ctm_buf *ret,
			  struct ctm_err *err);

#endif
