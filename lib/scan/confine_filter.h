/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter of system calls; scan/confine.h says what it is for and why it is as it is. */
#ifndef CTM_SCAN_CONFINE_FILTER_H
#define CTM_SCAN_CONFINE_FILTER_H

/**
 * From now on this process, and every thread it starts, makes no other calls than those of a walk.
 * Needs PR_SET_NO_NEW_PRIVS or CAP_SYS_ADMIN, as seccomp(2) says. -errno
 */
int ctm_confine_filter(void);

#endif
