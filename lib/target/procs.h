/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes that /proc shows: who is there, how they are called, who started whom.
 */
#ifndef CTM_TARGET_PROCS_H
#define CTM_TARGET_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A process's name as a person may see it (a program can call itself anything). */
#define CTM_PROC_NAME 80

/** fn once for each process; stops when it returns other than 0, and returns that. */
int ctm_procs_each(int (*fn)(pid_t pid, void *arg), void *arg);

/** Its command name, escaped; "?" when it is gone. */
void ctm_procs_name(pid_t pid, char ret[static CTM_PROC_NAME]);

/** 0 for the first process and for one whose parent is in another pid namespace. -ESRCH: gone. */
int ctm_procs_parent(pid_t pid, pid_t *ret);

/** Whether the process has the socket of this inode open; false also when it is gone. */
bool ctm_procs_has_socket(pid_t pid, uint64_t inode);

/** Whether pid started us: our parent, its parent and so on. Never ourselves. */
bool ctm_procs_is_ancestor(pid_t pid);

#endif
