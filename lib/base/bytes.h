/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A borrowed run of bytes, and a growable one.
 */
#ifndef CTM_BASE_BYTES_H
#define CTM_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Borrowed; p is NULL exactly when there is no value at all (len 0 with p set is an empty value).
 */
struct ctm_bytes {
	const void *p;
	size_t len;
};

/** Absent equals absent alone: an empty value differs from none. */
bool ctm_bytes_eq(struct ctm_bytes a, struct ctm_bytes b);

/**
 * A copy with a NUL behind it, owned by the caller; NULL when there is no memory. Unlike strndup()
 * it never looks behind len, and a NUL among the bytes is copied like any other byte.
 */
char *ctm_bytes_dup(struct ctm_bytes bytes);

/**
 * Growable, owned. Zero-initialise; ctm_buf_done() frees and zeroes. p is NULL until the first
 * successful call (also one that adds nothing), and always NUL-terminated behind len after it.
 * CLEANUP(ctm_buf_done) releases one at the end of its scope.
 */
struct ctm_buf {
	char *p;
	size_t len;
	size_t cap;
};

void ctm_buf_done(struct ctm_buf *buf);
/** Makes room for more bytes beyond len. -ENOMEM, also on size overflow; the content stays. */
int ctm_buf_reserve(struct ctm_buf *buf, size_t more);
/** -ENOMEM; the content stays. p must not point into the buffer itself. */
int ctm_buf_add(struct ctm_buf *buf, const void *p, size_t len);
int ctm_buf_addf(struct ctm_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
