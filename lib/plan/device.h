/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Device nodes that give their owner power over the host.
 *
 * Who owns a node decides its mode, and opens it wherever devices are allowed: on a mount without
 * nodev, in a container whose device rules let it pass, or by the storage's path on the host. A
 * container's root cannot make nodes himself, so one of a disk was made by the host's root, and
 * that it lies in the tree does not say that it was meant for him.
 */
#ifndef CTM_PLAN_DEVICE_H
#define CTM_PLAN_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/judge.h"

/**
 * Whether it is a block device, or a character device other than those that every container has:
 * null, zero, full, random, urandom, tty, console, ptmx, the ends of pts, fuse, and a whiteout.
 */
bool ctm_device_gives_power(uint32_t mode, uint64_t rdev);

/**
 * Of such a node that the map does not own yet: the issues with its owner become own.device, and
 * unless the policy lets devices move (--fix device, --convert) all of them are left, those with
 * its ACLs too. Whatever asked for the move: the class host, another one with its --fix,
 * --from-map, --flatten. *judged is that of the fact; text goes into the arena. -ENOMEM.
 */
int ctm_device_judge(const struct ctm_policy *policy, const struct ctm_fact *fact,
		     const struct ctm_inode_state *before, struct ctm_arena *arena,
		     struct ctm_judgement *judged);

#endif
