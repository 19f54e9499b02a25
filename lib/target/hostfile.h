/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configuration files of the host, read whole.
 */
#ifndef CTM_TARGET_HOSTFILE_H
#define CTM_TARGET_HOSTFILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/err.h"
#include "config/lxcconf.h"

/**
 * Appends the file's bytes. Never blocks on a FIFO. CTM_SYS with the errno; CTM_REFUSED for
 * what is no regular file and for what is larger than a configuration file (CTM_CONFIG_MAX).
 */
int ctm_hostfile_read(const char *path, struct ctm_buf *ret, struct ctm_err *err);

/** Whether the path leads to something, links followed; false for any error. */
bool ctm_hostfile_exists(const char *path);
/** Whether it is the root of a mount, links followed; false for any error. */
bool ctm_hostfile_is_mount(const char *path);
/** Its st_mode, links followed; negative errno. */
int ctm_hostfile_mode(const char *path, mode_t *ret);

/**
 * A ctm_lxcconf_read_fn: a file, or a folder's *.conf in the order of their names. arg: not
 * used.
 */
int ctm_hostfile_lxc(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		     struct ctm_err *err);

#endif
