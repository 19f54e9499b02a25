/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --volume: one volume of a target, or all that are its own.
 */
#ifndef CTM_CMD_VOLUMES_H
#define CTM_CMD_VOLUMES_H

#include <stdbool.h>

#include "options.h"

/** Whether all volumes are wanted. */
bool volumes_all(const struct options *opts);

/**
 * fn once for each volume that is wanted, with options that name it; one that fails does not stop
 * the others. Returns the highest status.
 */
int volumes_each(const struct options *opts, const char *name,
		 int (*fn)(const struct options *opts, const char *name, void *arg), void *arg);

/** term_error() that also names the volume, where one is named. */
void volumes_error(const struct options *opts, const char *name, const struct ctm_err *err);

#endif
