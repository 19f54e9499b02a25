/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A path of the host whose storage may not answer (a network file system without its server), asked
 * with a deadline: in the way of every container of the host may only be what is shared by all.
 */
#ifndef CTM_TARGET_HOSTASK_H
#define CTM_TARGET_HOSTASK_H

#include <sys/types.h>

#include "base/err.h"
#include "target/target.h"

/**
 * The mode of what is there, links followed. -ETIME: its storage does not answer within some
 * seconds; -errno.
 */
int ctm_hostask_mode(const char *path, mode_t *ret);

/** The error for a path that did not answer: CTM_REFUSED, -ETIME. */
int ctm_hostask_silent(const char *path, struct ctm_err *err);

/**
 * That the storage of the volume answers, as far as its path is known. -ETIME, CTM_REFUSED. That
 * nothing is there is no matter here.
 */
int ctm_hostask_volume(const struct ctm_volume *vol, struct ctm_err *err);

#endif
