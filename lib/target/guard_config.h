/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard: what a container's configuration says against using a volume; nothing is looked at.
 */
#ifndef CTM_TARGET_GUARD_CONFIG_H
#define CTM_TARGET_GUARD_CONFIG_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"
#include "target/target.h"

/** Appends how messages call the target: "CT 115", "container 'web'". -ENOMEM. */
int ctm_guard_label(const struct ctm_target *target, struct ctm_buf *ret);

/**
 * CTM_REFUSED for a directory of the host; for who wants to change something also for a template, a
 * base volume and a lock. label: from ctm_guard_label().
 */
int ctm_guard_config(const char *label, bool change, const struct ctm_target *target,
		     const struct ctm_volume *vol, struct ctm_err *err);

#endif
