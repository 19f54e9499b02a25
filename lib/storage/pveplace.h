/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where share/pve-storage.pl was installed: the one thing that is fixed when the program is linked.
 *
 * It is run as root, so nothing that a caller says may move it: no option, no variable. Who may run
 * "ctmend check" by sudo alone may well choose the words behind it. A program that the tests link
 * for themselves looks below --sysroot; the one that is installed does not have that in it.
 */
#ifndef CTM_STORAGE_PVEPLACE_H
#define CTM_STORAGE_PVEPLACE_H

#include <stdbool.h>

extern const char ctm_pveplace[]; /* absolute path */
/** The path is below --sysroot: in the program of the tests alone. */
extern const bool ctm_pveplace_in_sysroot;

#endif
