/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking for set-id bits that were lost: the files that a table or a record of the container names
 * are opened by their paths, since a scan has no reason to tell of them.
 */
#ifndef CTM_SESSION_BITS_H
#define CTM_SESSION_BITS_H

#include "plan/plan.h"
#include "session/selection.h"
#include "target/attach.h"
#include "target/target.h"

/**
 * Tells the plan what is expected of the files in the selection; before the scan. Of the rootfs
 * alone. Of dpkg's record, which may be as long as the container likes, the first MiB and the first
 * 1024 lines count. What cannot be looked at is passed over. -ENOMEM.
 */
int ctm_bits_look(const struct ctm_volume *vol, const struct ctm_selection *sel,
		  struct ctm_attached *att, struct ctm_plan *plan, struct ctm_err *err);

#endif
