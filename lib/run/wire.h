/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers and strings of the record as bytes.
 *
 * varint: 7 bits a byte, least significant first, the top bit says that more follow. Signed numbers
 * are zigzag first: 0 -1 1 -2 as 0 1 2 3. A string is its length and its bytes.
 */
#ifndef CTM_RUN_WIRE_H
#define CTM_RUN_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/bytes.h"

#define CTM_WIRE_VARINT_MAX 10 /* bytes of the largest number */

/**
 * Appending. The first error (-ENOMEM) stays in r and the rest does nothing, so that a writer asks
 * once at its end.
 */
struct ctm_wire_out {
	struct ctm_buf *buf;
	int r;
};
void ctm_wire_put(struct ctm_wire_out *out, uint64_t n);
void ctm_wire_put_signed(struct ctm_wire_out *out, int64_t n);
void ctm_wire_put_bytes(struct ctm_wire_out *out, const void *p, size_t len);
void ctm_wire_put_raw(struct ctm_wire_out *out, const void *p, size_t len); /* without length */
/* signed seconds, nanoseconds; -EINVAL for what ctm_wire_get_time() would not take */
void ctm_wire_put_time(struct ctm_wire_out *out, struct timespec t);
/** Fixed width, little endian. */
void ctm_wire_le(unsigned char *p, uint64_t n, unsigned int bytes);
uint64_t ctm_wire_from_le(const unsigned char *p, unsigned int bytes);

/**
 * Taking apart. What does not fit sets bad and yields zeros from then on, so that a reader asks
 * once at its end; a longer form of a number than needed is bad too.
 */
struct ctm_wire {
	const unsigned char *p;
	const unsigned char *end;
	bool bad;
};

static inline struct ctm_wire ctm_wire_of(struct ctm_bytes in)
{
	const unsigned char *p = in.p;

	return (struct ctm_wire){ .p = p, .end = p ? p + in.len : p };
}
uint64_t ctm_wire_get(struct ctm_wire *w);
int64_t ctm_wire_get_signed(struct ctm_wire *w);
/** A number that fits 32 bits. */
uint32_t ctm_wire_get32(struct ctm_wire *w);
struct ctm_bytes ctm_wire_get_bytes(struct ctm_wire *w); /* p is never NULL; borrowed */
struct ctm_bytes ctm_wire_get_raw(struct ctm_wire *w, size_t len);
struct timespec ctm_wire_get_time(struct ctm_wire *w);
/** Whether all was read and nothing was bad. */
static inline bool ctm_wire_ended(const struct ctm_wire *w)
{
	return !w->bad && w->p == w->end;
}

#endif
