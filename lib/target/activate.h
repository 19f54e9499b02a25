/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A volume that is not there is made accessible by Proxmox VE's own storage library, and that is
 * taken back: an LV that is not active, an rbd image that is not mapped, a dataset or a network
 * storage that is not mounted, and everything on a storage type that ctmend does not know.
 *
 * What was not active before is noted first (target/activenote.h), so that the next run can undo
 * what a killed one has left. Both need the container's config flock, which keeps it from being
 * started meanwhile.
 *
 * Taking back is what Proxmox VE does after a container's stop: a plain LV is deactivated and an
 * rbd image unmapped, while thin LVs, datasets and network storages stay as Proxmox VE keeps them.
 */
#ifndef CTM_TARGET_ACTIVATE_H
#define CTM_TARGET_ACTIVATE_H

#include <stdbool.h>

#include "base/err.h"
#include "storage/pveanswer.h"
#include "target/host.h"
#include "target/target.h"

/** Initialise with .note = -1. */
struct ctm_activation {
	char *volid; /* owned; NULL: nothing was asked of the library */
	struct ctm_pve_answer answer;
	int note; /* the lock of our note; -1: it was active before, nothing to take back */
};

/** Whether the volume is there as its configuration has it. An error other than "not there" is. */
bool ctm_volume_present(const struct ctm_volume *volume);
/** Whether the library has to be asked for it. */
bool ctm_activation_needed(const struct ctm_volume *volume);

/**
 * Makes the volume accessible and fills in what was open in it (path, kind, format, base). The
 * caller holds the config flock of this container, which does not run. CTM_REFUSED with the reason
 * and the next step; nothing is active then that was not before, or a note is left.
 */
int ctm_activate(const struct ctm_host *host, unsigned int vmid, struct ctm_volume *volume,
		 struct ctm_activation *ret, struct ctm_err *err);
/**
 * Fills in what is open in a volume that a running container uses, without touching it. CTM_REFUSED
 * when the library does not know where it is.
 */
int ctm_activation_find(const struct ctm_host *host, struct ctm_volume *volume,
			struct ctm_err *err);
/**
 * The same volume located again: fills in what was open. CTM_REFUSED when it is another one now.
 */
int ctm_activation_apply(const struct ctm_activation *active, struct ctm_volume *volume,
			 struct ctm_err *err);
/**
 * Takes back what was not active before; nothing of the volume is in use any more. When that fails
 * the note stays. active is empty in any case.
 */
int ctm_deactivate(const struct ctm_host *host, struct ctm_activation *active, struct ctm_err *err);

/**
 * Undoes what killed runs have left, as far as nobody is at work there: each under its container's
 * config flock, not waited for, and only when the container does not run and the volume is not in
 * use. A container that runs has taken the volume over. What cannot be undone now is for a later
 * run.
 */
void ctm_activation_sweep(const struct ctm_host *host);

#endif
