/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The content of files: copied and hashed in one go.
 */
#ifndef CTM_RUN_CONTENT_H
#define CTM_RUN_CONTENT_H

#include <stdint.h>

#include "run/ops.h"

/** Takes the next bytes; negative errno stops. */
typedef int (*ctm_content_fn)(const void *p, size_t len, void *arg);

/**
 * Reads the descriptor from its beginning to its end, hands the bytes to fn (NULL: nobody) and
 * returns their SHA-256. A file that grows while it is read ends at max bytes: -EFBIG.
 */
int ctm_content_read(int fd, uint64_t max, ctm_content_fn fn, void *arg,
		     uint8_t ret_sha256[static 32]);
/** The sum (run/contentsum.h) of a file of the volume that is no longer than max: else -EFBIG. */
int ctm_content_hash(const struct ctm_ops *ops, void *fs, const struct ctm_ref *ref, uint64_t max,
		     uint8_t ret_sha256[static 32]);
/** Writes all of it. */
int ctm_content_write(int fd, const void *p, size_t len);

#endif
