/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel says of one socket by sock_diag(7). The text of /proc/net/unix has the names as
 * their makers chose them, line ends included, so a row there may be made up by anybody.
 */
#ifndef CTM_TARGET_SOCKDIAG_H
#define CTM_TARGET_SOCKDIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct ctm_sockdiag {
	bool listens;
	bool has_uid; /* kernels before 5.3 do not say it */
	uint32_t uid; /* of who has made it */
};

/**
 * The socket with this inode, if it has the abstract name (without its leading NUL). -ENOENT: there
 * is no such socket, or it has another name. Another -errno: the kernel cannot be asked.
 */
int ctm_sockdiag_ask(uint64_t inode, const char *name, struct ctm_sockdiag *ret);

/** The kernel's answer to that; -EBADMSG: it is none. */
int ctm_sockdiag_parse(struct ctm_bytes answer, uint64_t inode, const char *name,
		       struct ctm_sockdiag *ret);

#endif
