/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and strings of the record as bytes. */
#include "run/wire.h"

#include <errno.h>

#define NSEC 1000000000

void ctm_wire_put_raw(struct ctm_wire_out *out, const void *p, size_t len)
{
	if (out->r == 0) {
		out->r = ctm_buf_add(out->buf, p, len);
	}
}

void ctm_wire_put(struct ctm_wire_out *out, uint64_t n)
{
	unsigned char bytes[CTM_WIRE_VARINT_MAX];
	size_t len = 0;

	while (n > 0x7f) {
		bytes[len++] = (unsigned char)(n | 0x80);
		n >>= 7;
	}
	bytes[len++] = (unsigned char)n;
	ctm_wire_put_raw(out, bytes, len);
}

void ctm_wire_put_signed(struct ctm_wire_out *out, int64_t n)
{
	uint64_t u = (uint64_t)n << 1;

	ctm_wire_put(out, n < 0 ? ~u : u);
}

void ctm_wire_put_bytes(struct ctm_wire_out *out, const void *p, size_t len)
{
	ctm_wire_put(out, len);
	ctm_wire_put_raw(out, p, len);
}

void ctm_wire_put_time(struct ctm_wire_out *out, struct timespec t)
{
	if (out->r == 0 && (t.tv_nsec < 0 || t.tv_nsec >= NSEC)) {
		out->r = -EINVAL; /* a record that nobody would read */
	}
	ctm_wire_put_signed(out, t.tv_sec);
	ctm_wire_put(out, (uint64_t)t.tv_nsec);
}

void ctm_wire_le(unsigned char *p, uint64_t n, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		p[i] = (unsigned char)(n >> (8 * i));
	}
}

uint64_t ctm_wire_from_le(const unsigned char *p, unsigned int bytes)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < bytes; i++) {
		n |= (uint64_t)p[i] << (8 * i);
	}
	return n;
}

static uint64_t bad(struct ctm_wire *w)
{
	w->bad = true;
	return 0;
}

uint64_t ctm_wire_get(struct ctm_wire *w)
{
	uint64_t n = 0;

	for (unsigned int shift = 0; !w->bad && w->p < w->end && shift < 64; shift += 7) {
		unsigned char c = *w->p++;

		if ((shift > 0 && c == 0) || (shift == 63 && c > 1)) {
			break;
		}
		n |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			return n;
		}
	}
	return bad(w);
}

int64_t ctm_wire_get_signed(struct ctm_wire *w)
{
	uint64_t u = ctm_wire_get(w);

	return (int64_t)(u & 1 ? ~(u >> 1) : u >> 1);
}

uint32_t ctm_wire_get32(struct ctm_wire *w)
{
	uint64_t n = ctm_wire_get(w);

	return (uint32_t)(n > UINT32_MAX ? bad(w) : n);
}

struct ctm_bytes ctm_wire_get_raw(struct ctm_wire *w, size_t len)
{
	struct ctm_bytes raw = { .p = "", .len = 0 };

	if (w->bad || len > (size_t)(w->end - w->p)) {
		w->bad = true;
		return raw;
	}
	if (len > 0) {
		raw = (struct ctm_bytes){ .p = w->p, .len = len };
		w->p += len;
	}
	return raw;
}

struct ctm_bytes ctm_wire_get_bytes(struct ctm_wire *w)
{
	uint64_t len = ctm_wire_get(w);

	if (len > SIZE_MAX) {
		len = bad(w);
	}
	return ctm_wire_get_raw(w, (size_t)len);
}

struct timespec ctm_wire_get_time(struct ctm_wire *w)
{
	struct timespec t = { .tv_sec = ctm_wire_get_signed(w) };
	uint64_t nsec = ctm_wire_get(w);

	t.tv_nsec = (long)(nsec < NSEC ? nsec : bad(w));
	return t;
}
