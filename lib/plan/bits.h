/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bits.lost: setuid, setgid or a capability that a file should have and has not. Pure.
 *
 * An earlier chown has taken them; no id is wrong any more, so no scan finds it. What should be
 * there is known from a table (rules/bits.h) or from a record of the container's own, dpkg's
 * statoverride database. Said of a file only when all else of it is as expected: regular, its owner
 * exactly the expected one through the map (after this repair, so that one run is enough), and, for
 * a table, executable by all.
 *
 * Only a record is good enough to set a bit (--fix bits), and only as follows. The record is
 * written by the container's root, who is an enemy that we work for as root:
 *
 *	- setuid and setgid are added, nothing else of a mode, and only where the rest of the mode
 *	  is that of the record already: a record of 4750 never opens a program to others.
 *	- The owner must be what the record says, both as numbers or root: no account file of the
 *	  container is believed.
 *	- Neither id may be one that is passed through to the host: then the program would be setuid
 *	  to a user of the host.
 *	- One name: a second one may be where the host looks. No write for group or others, and no
 *	  sticky bit: such a record was not made by an administrator.
 *
 * What is left is what the container's root can do without us, by chmod(2) on a file of his own
 * with an id of his own, at any time that the container runs. The file and its mode are in the
 * diff, in the digest and in the record like any other change.
 */
#ifndef CTM_PLAN_BITS_H
#define CTM_PLAN_BITS_H

#include "plan/plan.h"

struct ctm_expected {
	uint32_t bits; /* S_ISUID | S_ISGID; 0: a capability, or setuid in its place */
	ctm_cid uid;
	/* CTM_BITS_OWN_GROUP: any that is not root's */
	ctm_cid gid;
	/* of a record: the mode that it gives, permissions included; else 0 */
	uint32_t mode;
	bool recorded;
	bool exact;       /* recorded, and fit for --fix bits: no name was resolved */
	const char *what; /* who says so: "package passwd of Debian", a path; needed in the call */
};

/**
 * Compares an inode with what is expected of it, before the first fact of the scan comes: a fact of
 * the same inode then cures both at once. A file that is as expected, or is another one than is
 * meant, is passed over, and so is what a rule of a package manager names. Of several expectations
 * of one inode the first that finds something counts. A plan that flattens expects nothing.
 * -ENOMEM.
 */
int ctm_plan_expect(struct ctm_plan *plan, const struct ctm_expected *want,
		    const struct ctm_fact *fact);

#endif
