/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One inode in one line: type, mode, owner, path, and what else can change.
 */
#ifndef CTM_REPORT_INODELINE_H
#define CTM_REPORT_INODELINE_H

#include "base/bytes.h"
#include "plan/plan.h"

/**
 * Appends "f 4755   100000:100000 /usr/bin/sudo" and, where there are any, " dev=8:0" (of a device;
 * rdev 0: it is not known, or a whiteout), " acl=u::rwx,u:33:r--,...", " default=..." and "
 * cap=cap_net_raw=ep[rootid=100000]". The path is shown from the volume's root, escaped. -ENOMEM.
 */
int ctm_inode_line(struct ctm_buf *out, const char *path, size_t path_len,
		   const struct ctm_inode_state *state, uint64_t rdev);

/** The letter of find -printf %y: f d l c b p s, ? for anything else. */
char ctm_inode_letter(uint32_t mode);

#endif
