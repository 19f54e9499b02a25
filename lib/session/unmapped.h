/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A volume without a map to judge it by: one that needs none, or a path for which none was given.
 */
#ifndef CTM_SESSION_UNMAPPED_H
#define CTM_SESSION_UNMAPPED_H

#include "session/examine.h"

/**
 * Says in the notes what the tree looks like. Where the configuration says that nothing is shifted
 * and more than half of the tree is nevertheless, exam gets a plan without actions that carries
 * conf.section or tree.mapped.
 */
int ctm_exam_unmapped(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_attached *att, struct ctm_err *err);

#endif
