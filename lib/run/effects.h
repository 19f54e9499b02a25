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
	int root;   /* borrowed O_PATH descriptor of the volume's root */
	int real;   /* readable descriptor of it: syncfs and open_by_handle_at want one */
	bool whole; /* the volume is all of its file system */
};

extern const struct ctm_ops ctm_effects_ops;

/**
 * root is borrowed until ctm_effects_done(). whole: images and block devices. A directory is a part
 * of a larger file system, and an inode that was moved out of it could still be opened by its
 * handle: there the recorded path must lead to the inode as well.
 */
int ctm_effects_init(struct ctm_effects *fx, int root, bool whole, struct ctm_err *err);
void ctm_effects_done(struct ctm_effects *fx);

#endif
