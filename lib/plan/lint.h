/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: what is wrong with a container's configuration and its id map, whatever its volumes hold.
 * Pure. All findings go into a plan by ctm_plan_note(), so that they are reported like the others.
 */
#ifndef CTM_PLAN_LINT_H
#define CTM_PLAN_LINT_H

#include "base/bytes.h"
#include "plan/plan.h"
#include "target/target.h"

/**
 * What the host grants root: the contents of /etc/subuid and /etc/subgid; "" where there is none.
 */
struct ctm_lint_subids {
	struct ctm_bytes text[2]; /* by enum ctm_idkind */
};

/**
 * map.*: overlaps, holes, what is passed through, ranges that root may not use, uids and gids that
 * differ. A map that was refused is looked at too; where a line of it makes no range (the target
 * carries the refusal), only for overlaps. The built-in default of Proxmox VE needs no line in
 * subuid, and what lxc-pve's installation grants (100000 to 165535) is taken as granted there. A
 * privileged container has nothing to lint. -ENOMEM.
 */
int ctm_lint_map(const struct ctm_target *target, const struct ctm_lint_subids *subids,
		 struct ctm_plan *plan);

/**
 * conf.section: what makes the map (the flag, or lxc.idmap) is in force nowhere, but stands in a
 * section of pending changes or, where the container is privileged without it, of a snapshot.
 * conf.snapshot: a snapshot's map is another one. Of configurations of Proxmox VE alone. -ENOMEM.
 */
int ctm_lint_sections(const struct ctm_target *target, struct ctm_plan *plan);

/** conf.unknown: each warning of the configuration's parser. -ENOMEM. */
int ctm_lint_warnings(const struct ctm_target *target, struct ctm_plan *plan);

/** conf.lock. -ENOMEM. */
int ctm_lint_lock(const struct ctm_target *target, struct ctm_plan *plan);

#endif
