/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The SHA-256 of a file's content, at a cost that goes by its data and not by its holes.
 *
 * Blocks of 65536 bytes, at multiples of that, which are nothing but zeros are left out, whether
 * the file system has a hole there or not. Where there are any, at the end comes the SHA-256 of
 * offset and length in bytes of each run of them, both as eight bytes, least significant first. Of
 * all other files it is what sha256sum(1) says. Two contents of one length never hash the same
 * bytes: what was left out is more than what was added, so both or none have such an end, and that
 * tells where the rest belongs.
 */
#ifndef CTM_RUN_CONTENTSUM_H
#define CTM_RUN_CONTENTSUM_H

#include <stddef.h>
#include <stdint.h>

#include "run/holes.h"

struct ctm_contentsum;

/** NULL: no memory. */
struct ctm_contentsum *ctm_contentsum_new(void);
void ctm_contentsum_free(struct ctm_contentsum *sum);
static inline void ctm_contentsum_freep(struct ctm_contentsum **sum)
{
	ctm_contentsum_free(*sum);
}
/** The bytes at this offset, at or behind the end of those before; between are zeros. */
void ctm_contentsum_put(struct ctm_contentsum *sum, uint64_t at, const void *p, size_t len);
/** The content is this long; behind what was put are zeros. */
void ctm_contentsum_end(struct ctm_contentsum *sum, uint64_t size, uint8_t ret_sha256[static 32]);

/** Takes the next bytes; negative errno stops. */
typedef int (*ctm_contentsum_fn)(uint64_t at, const void *p, size_t len, void *arg);

/**
 * Reads the data of a file of which this is known, hands it to fn (NULL: nobody), and returns the
 * sum. -ESTALE: the file has another length by now.
 */
int ctm_contentsum_read(int fd, const struct ctm_extents *extents, ctm_contentsum_fn fn, void *arg,
			uint8_t ret_sha256[static 32]);
/** The sum of a file that is no longer than max bytes, holes included: else -EFBIG. */
int ctm_contentsum_of(int fd, uint64_t max, uint8_t ret_sha256[static 32]);

#endif
