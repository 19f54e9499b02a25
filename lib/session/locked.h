/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every session that changes a volume does first: the lock, the configuration under it, the
 * records.
 */
#ifndef CTM_SESSION_LOCKED_H
#define CTM_SESSION_LOCKED_H

#include "run/state.h"
#include "session/examine.h"

/**
 * Locates the target, takes its guard for writing, and locates it again: *exam is what the
 * configuration says under the lock. *exam may be set already (from ctm_exam_new()), then it is
 * replaced. Sweeps away what a killed run has left of a record.
 */
int ctm_locked_begin(const char *name, const struct ctm_session_opts *opts, struct ctm_exam **exam,
		     struct ctm_guard **ret, struct ctm_err *err);

/**
 * Opens the target's records; write: takes their lock too. -ENOENT, CTM_REFUSED: there are none
 * to read.
 */
int ctm_locked_state(const struct ctm_exam *exam, const struct ctm_session_opts *opts, bool write,
		     struct ctm_state **ret, struct ctm_err *err);

/**
 * After a run (out) that left a record: old ones go by themselves. What hinders that is a note of
 * the exam, no error: what was wanted has been done. -ENOMEM.
 */
int ctm_locked_retain(struct ctm_exam *exam, struct ctm_state *state, const struct ctm_outcome *out,
		      struct ctm_err *err);

/**
 * Looks, when all is done, whether somebody has started the container in spite of everything: of a
 * plain one no lock keeps lxc-start away. Then *ret is true and the exam has a note.
 */
int ctm_locked_started(struct ctm_exam *exam, const struct ctm_session_opts *opts, bool *ret,
		       struct ctm_err *err);

/** Attaches for writing; a wait that the kernel will impose is announced first (opts->notice). */
int ctm_locked_attach(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_attached **ret, struct ctm_err *err);

/** Fills in what a run records of its surroundings; user must live as long as the run. */
void ctm_locked_describe(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			 char user[static 64], struct ctm_run *run);

#endif
