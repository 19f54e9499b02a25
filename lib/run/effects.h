/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The real effects: struct ctm_ops over the descriptor of a volume's root.
 */
#ifndef CTM_RUN_EFFECTS_H
#define CTM_RUN_EFFECTS_H

#include "base/err.h"
#include "run/ops.h"

/** The fs argument of ctm_effects_ops. */
struct ctm_effects {
	int root; /* borrowed O_PATH descriptor of the volume's root */
	/* readable descriptor of the same directory: syncfs and open_by_handle_at want one */
	int real;
};

extern const struct ctm_ops ctm_effects_ops;

/** root is borrowed until ctm_effects_done(). */
int ctm_effects_init(struct ctm_effects *fx, int root, struct ctm_err *err);
void ctm_effects_done(struct ctm_effects *fx);

#endif
