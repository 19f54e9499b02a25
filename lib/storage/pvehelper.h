/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions to Proxmox VE's own storage library, through share/pve-storage.pl.
 *
 * The library is Perl and knows every storage type, those of third parties too; ctmend makes
 * volumes accessible through it alone, so that locks, options and side effects are those of a
 * container's start.
 */
#ifndef CTM_STORAGE_PVEHELPER_H
#define CTM_STORAGE_PVEHELPER_H

#include <stdbool.h>

#include "storage/pveanswer.h"

enum ctm_pve_verb {
	CTM_PVE_LOOK,   /* where is it; changes nothing */
	CTM_PVE_ATTACH, /* activate, map */
	CTM_PVE_DETACH, /* unmap, deactivate */
};

/** Seconds that one call may take. A storage that is away makes the library wait for long. */
#define CTM_PVE_SECONDS 120

struct ctm_pvecall {
	const char *program; /* absolute path */
	enum ctm_pve_verb verb;
	const char *volid;
	/*
	 * A descriptor that the program, and all that it starts, keeps as its third for as long as
	 * it lives; -1: none. It inherits no other.
	 */
	int keep;
	unsigned int seconds; /* time limit */
};

/**
 * Runs the program: no shell, an environment of its own, nothing on its standard input, a process
 * group of its own that is killed as a whole when the time is over. *ret is left alone for DETACH.
 *
 * CTM_REFUSED: the program is not there or could be written by others than root, or the library is
 * not installed (-ENOPKG); it took too long (-ETIMEDOUT); it refused (its last line is the reason),
 * or answered something else. CTM_SYS: it could not be run.
 */
int ctm_pvehelper_call(const struct ctm_pvecall *call, struct ctm_pve_answer *ret,
		       struct ctm_err *err);

/**
 * The installed program (storage/pveplace.c). sysroot: "" or what moves the host's places; the
 * library knows nothing of it, so there is no program for one: -ENOPKG, CTM_REFUSED. *ret is to be
 * freed.
 */
int ctm_pvehelper_find(const char *sysroot, char **ret, struct ctm_err *err);

#endif
