/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the process that reads a hostile tree gives up, before the first byte of it and with one
 * thread. What must hold if everything in there were somebody else's: nothing of the host or of the
 * tree can be changed, nothing outside the tree be read, no other process be reached; all that is
 * left is to tell lies over the pipe, and those are checked (scan/feed.h).
 *
 * Each of these stands for itself:
 *
 * - The root directory is the tree's, and no descriptor leads out of it, so ".." and absolute names
 *   end within the tree (chroot(2)). This needs CAP_SYS_CHROOT.
 * - User and group are a number that nobody else has (scan/spare_id.h), without supplementary
 *   groups: it owns nothing, and only root can send it a signal. uid 0 without capabilities would
 *   still own root's files.
 * - Of the capabilities CAP_DAC_READ_SEARCH is left, to read and search what modes forbid. It would
 *   also open any file of the host by its handle; that is left to the filter.
 * - No new privileges (PR_SET_NO_NEW_PRIVS), not dumpable: no other process of that user looks in.
 * - A filter of system calls (libseccomp) that lets pass what a walk is made of, and nothing else.
 *   openat(2) passes with an open directory and flags that read: with O_CREAT, O_TRUNC, O_TMPFILE
 *   or for writing it does not, and neither does openat2(2), whose flags a filter cannot see. So
 *   also in a directory with mode 0777, and on a root file system that is mounted for writing,
 *   nothing is made. Names that the C library opens of its own (absolute, by AT_FDCWD) would lie in
 *   the hostile tree, and do not pass either. Memory is never executable, and new threads are all
 *   that clone(2) makes.
 *
 * Landlock would forbid a part of the same once more. Kernels before 5.13, and those booted without
 * it, do not have it, so it cannot be what this rests on.
 *
 * What does not pass fails with EPERM and is no signal: C libraries try calls that another version
 * never heard of, and do without. clone3(2), whose flags are in memory, does not exist (ENOSYS), so
 * that clone(2) is used. A call of another architecture kills the process, not only its thread.
 *
 * A caller without any capability keeps its user and root directory (it cannot change them) and has
 * only what that user has; all else is as above. One whose effective set has no CAP_DAC_READ_SEARCH
 * does not get it.
 */
#ifndef CTM_SCAN_CONFINE_H
#define CTM_SCAN_CONFINE_H

#include <stdint.h>
#include <sys/types.h>

/**
 * Confines this process, which has one thread. rootfd: the tree's directory, borrowed; it becomes
 * the working directory, too. parent: the process that started this one, which dies with it. id:
 * the user and group it becomes. On failure -errno (-ESRCH: the parent is gone), and *ret_op what
 * failed (one of ctm_feed_ops): then the process is confined in part and must end.
 */
int ctm_confine(int rootfd, pid_t parent, uint32_t id, const char **ret_op);

#endif
