/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The diagnosis of a volume that is being looked at, with what speaks for it.
 */
#ifndef CTM_SESSION_DIAGNOSING_H
#define CTM_SESSION_DIAGNOSING_H

#include "session/session.h"

/**
 * Fills in exam->diagnosis from the exam's plan, the configuration, and the container's tree, which
 * is attached. -ENOMEM.
 */
int ctm_exam_diagnose(struct ctm_exam *exam, struct ctm_attached *att, struct ctm_err *err);

#endif
