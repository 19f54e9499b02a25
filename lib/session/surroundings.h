/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a session says of a container beside its volume: the configuration, the way to the rootfs.
 */
#ifndef CTM_SESSION_SURROUNDINGS_H
#define CTM_SESSION_SURROUNDINGS_H

#include "plan/plan.h"
#include "target/target.h"

/**
 * Notes conf.foreign, conf.lock, conf.section, conf.snapshot and, for the rootfs, path.parent. A
 * way that cannot be looked at is passed over: it is beside the matter.
 */
int ctm_surroundings_note(const struct ctm_host *host, const struct ctm_target *target,
			  const struct ctm_volume *vol, struct ctm_plan *plan, struct ctm_err *err);

/** path.parent alone. */
int ctm_surroundings_way(const struct ctm_host *host, const struct ctm_target *target,
			 const struct ctm_volume *vol, struct ctm_plan *plan, struct ctm_err *err);

#endif
