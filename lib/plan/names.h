/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All names of inodes that have several, as a scan of a directory volume told them: how many are
 * really inside.
 *
 * A reader of a hostile tree could say of a hard link from outside that it saw its other name, too;
 * then a file of the host's would look like one of the container's alone. So each name counts once,
 * and only when whoever asks finds the inode there (ctm_policy.is_name).
 */
#ifndef CTM_PLAN_NAMES_H
#define CTM_PLAN_NAMES_H

#include <stdint.h>

#include "base/spill.h"
#include "base/vec.h"

struct ctm_told_name {
	uint64_t dev;
	uint64_t ino;
	const char *path; /* in the plan's arena */
	size_t path_len;
};

typedef CTM_VEC(struct ctm_told_name) ctm_told_names;

struct ctm_plan;
struct ctm_fact;

/** Keeps the name of a fact, if it is one of several and the volume has an outside. -ENOMEM. */
int ctm_plan_tell_name(struct ctm_plan *plan, const struct ctm_fact *fact);

/** Sets .all of each link that has an action: its names that were found. Once. -ENOMEM. */
int ctm_plan_count_names(struct ctm_plan *plan);

#endif
