/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a volume of a Proxmox VE container is another guest's.
 *
 * Proxmox VE puts the id of the guest that a volume was made for into its name, and a guest's lock
 * guards the guest's own volumes. Who works on vm-116-disk-0 under the lock of 115 does not keep
 * 116 from starting on it.
 */
#ifndef CTM_TARGET_FOREIGN_H
#define CTM_TARGET_FOREIGN_H

#include <stdbool.h>

#include "base/err.h"
#include "target/host.h"
#include "target/target.h"

struct ctm_foreign {
	unsigned int id; /* the guest that has the volume; 0: none has */
	bool vm;
	char node[128];
	char key[64]; /* of its configuration: "mp0", "scsi1", "unused0" */
};

/**
 * The guest that the volume's own name is of (a linked clone's base is not meant), if that is
 * another one than the target, exists on any node, and has the volume in the present state of its
 * configuration, detached ("unusedN") too. A name of a guest that is gone, or has it no more, says
 * nothing. Empty for targets that are not Proxmox VE's. What cannot be read has it not. -ENOMEM.
 */
int ctm_foreign_find(const struct ctm_host *host, const struct ctm_target *target,
		     const struct ctm_volume *vol, struct ctm_foreign *ret);
/** "container 116 on node 'pve2' has it as mp0: tank:116/vm-116-disk-0.raw". -ENOMEM. */
int ctm_foreign_words(const struct ctm_foreign *foreign, const struct ctm_volume *vol,
		      struct ctm_buf *ret);
/** CTM_REFUSED, with the next step, when there is one. */
int ctm_foreign_refuse(const struct ctm_host *host, const struct ctm_target *target,
		       const struct ctm_volume *vol, struct ctm_err *err);

#endif
