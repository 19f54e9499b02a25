/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A borrowed run of bytes, and a growable one.
 */
#include "base/bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP_MIN 64

bool ctm_bytes_eq(struct ctm_bytes a, struct ctm_bytes b)
{
	if (!a.p || !b.p) {
		return !a.p && !b.p;
	}
	return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

char *ctm_bytes_dup(struct ctm_bytes bytes)
{
	char *copy = malloc(bytes.len + 1);

	if (!copy) {
		return NULL;
	}
	if (bytes.len > 0) {
		memcpy(copy, bytes.p, bytes.len);
	}
	copy[bytes.len] = '\0';
	return copy;
}

void ctm_buf_done(struct ctm_buf *buf)
{
	free(buf->p);
	*buf = (struct ctm_buf){ 0 };
}

int ctm_buf_reserve(struct ctm_buf *buf, size_t more)
{
	size_t need;
	size_t cap;
	char *p;

	/* one more for the NUL */
	if (__builtin_add_overflow(buf->len, more, &need) ||
	    __builtin_add_overflow(need, 1, &need)) {
		return -ENOMEM;
	}
	if (need <= buf->cap) {
		return 0;
	}
	if (__builtin_mul_overflow(buf->cap, 2, &cap) || cap < need) {
		cap = need;
	}
	if (cap < CAP_MIN) {
		cap = CAP_MIN;
	}
	p = realloc(buf->p, cap);
	if (!p) {
		return -ENOMEM;
	}
	p[buf->len] = '\0';
	buf->p = p;
	buf->cap = cap;
	return 0;
}

int ctm_buf_add(struct ctm_buf *buf, const void *p, size_t len)
{
	int r;

	r = ctm_buf_reserve(buf, len);
	if (r < 0) {
		return r;
	}
	if (len > 0) {
		memcpy(buf->p + buf->len, p, len);
		buf->len += len;
		buf->p[buf->len] = '\0';
	}
	return 0;
}

/* Formats into what is free behind len; returns the length that the text has or would have. */
static int format_tail(struct ctm_buf *buf, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
static int format_tail(struct ctm_buf *buf, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(buf->p + buf->len, buf->cap - buf->len, fmt, again);
	va_end(again);
	return n < 0 ? -errno : n;
}

int ctm_buf_addf(struct ctm_buf *buf, const char *fmt, ...)
{
	va_list ap;
	int n;
	int r;

	r = ctm_buf_reserve(buf, 0);
	if (r < 0) {
		return r;
	}
	va_start(ap, fmt);
	n = format_tail(buf, fmt, ap);
	if (n >= 0 && (size_t)n >= buf->cap - buf->len) {
		r = ctm_buf_reserve(buf, (size_t)n);
		if (r == 0) {
			n = format_tail(buf, fmt, ap);
		}
	}
	va_end(ap);
	if (n < 0) {
		r = n;
	}
	if (r < 0) {
		buf->p[buf->len] = '\0';
		return r;
	}
	buf->len += (size_t)n;
	return 0;
}
