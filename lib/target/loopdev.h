/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop device of our own, that vanishes with its last user.
 *
 * AUTOCLEAR is set in the same call that attaches (LOOP_CONFIGURE, Linux 5.8), so there is no
 * moment at which a killed process could leave the device behind. A read-only one is held
 * read-only by the kernel: not even a journal replay or the removal of orphans gets through it.
 */
#ifndef CTM_TARGET_LOOPDEV_H
#define CTM_TARGET_LOOPDEV_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/** Zero is not a valid one: { .fd = -1 } is "none". */
struct ctm_loop {
	int fd;           /* keeps the device alive until a mount does */
	unsigned int num; /* of /dev/loopN */
	dev_t dev;        /* of the loop device itself */
	uint64_t seq;     /* tells this use of the number from the next (Linux 5.15); 0: unknown */
};

/**
 * backing: a descriptor of a regular file or a block device, open for writing when writable is
 * set; it may be closed afterwards. name: what losetup shows beside it. Proven before it is
 * returned: the kernel says that the backing inode (or device) of the loop device is the one of
 * the descriptor.
 */
int ctm_loop_attach(int backing, const char *name, bool writable, struct ctm_loop *ret,
		    struct ctm_err *err);
/** Lets go; the kernel clears the device when its last mount and descriptor are gone. */
void ctm_loop_release(struct ctm_loop *loop);
/**
 * Waits until the kernel has cleared the device, which may happen behind the back of the last
 * user: up to ms milliseconds. -ETIMEDOUT: somebody else still has it open.
 */
int ctm_loop_wait_cleared(const struct ctm_loop *loop, unsigned int ms);

#endif
