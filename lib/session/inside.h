/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The accounts inside a container, held against its map.
 */
#ifndef CTM_SESSION_INSIDE_H
#define CTM_SESSION_INSIDE_H

#include "plan/plan.h"
#include "target/target.h"

/**
 * Notes map.account for ids that passwd and group of the rootfs name and the container's map does
 * not hold. Reads through a read-only attachment that is gone when this returns, and waits for
 * nobody; nothing is activated. Where that cannot be had, *ret_note (owned by the caller) says why.
 */
int ctm_inside_accounts(struct ctm_target *target, const struct ctm_host *host,
			struct ctm_plan *plan, char **ret_note, struct ctm_err *err);

#endif
