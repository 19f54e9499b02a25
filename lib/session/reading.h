/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A volume attached for reading, whoever uses it: of a stopped container by itself, of a running
 * one where the container has it.
 */
#ifndef CTM_SESSION_READING_H
#define CTM_SESSION_READING_H

#include "session/session.h"

/** Zero-initialise; ctm_reading_done() gives back what is held, the lock last. */
struct ctm_reading {
	struct ctm_guard *guard;
	struct ctm_attached *att;
};

/** exam: from ctm_exam_new(). Sets exam->running. */
int ctm_reading_begin(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_reading *ret, struct ctm_err *err);
/**
 * Call it after the last look: notes in exam when the container was started or stopped meanwhile,
 * and gives everything back.
 */
int ctm_reading_end(struct ctm_exam *exam, struct ctm_reading *reading, struct ctm_err *err);
void ctm_reading_done(struct ctm_reading *reading);

#endif
