/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which loop devices stand on a raw volume, whoever made them.
 */
#ifndef CTM_TARGET_LOOPSEARCH_H
#define CTM_TARGET_LOOPSEARCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"
#include "target/rawvol.h"

struct ctm_loop_row {
	unsigned int num; /* of /dev/loopN */
	dev_t dev;
	bool readonly; /* the kernel lets nothing through it that would change the volume */
};

struct ctm_loop_rows {
	CTM_VEC(struct ctm_loop_row) rows;
};

/**
 * By what the kernel says of every attached device (LOOP_GET_STATUS64: the backing inode, or the
 * backing device), not by file names. The caller frees ret->rows with ctm_vec_done(). -errno.
 *
 * For its answer the kernel asks the storage of the backing file. A device whose storage does not
 * answer within a second is none of raw's, whose own storage does; -ETIME when it bears raw's name
 * all the same.
 */
int ctm_loopsearch(const struct ctm_rawvol *raw, struct ctm_loop_rows *ret);

/**
 * Whether sysfs has an attached device on the file or device of this real path. Nothing is opened
 * but sysfs, so that a storage which does not answer is not waited for.
 */
bool ctm_loopsearch_path(const char *path);

static inline void ctm_loop_rows_done(struct ctm_loop_rows *rows)
{
	ctm_vec_done(&rows->rows);
}

#endif
