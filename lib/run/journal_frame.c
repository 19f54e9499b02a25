/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a body with its kind stands in the record's file. */
#include "run/journal_frame.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "run/wire.h"

#define CRC_LEN    4
#define WINDOW_MIN ((size_t)64 << 10)
#define FIRST_LOOK ((size_t)256)
#define SHORT_MAX  ((uint64_t)64)
#define SECTOR     ((uint64_t)512)
/* Longer than any record behind the seal but one with very long names in it. */
#define ONE_OFF_MAX ((size_t)256)
/*
 * A torn tail is looked through for a whole record; what is not yet synced is far shorter than
 * this.
 */
#define TAIL_MAX ((uint64_t)1 << 20)

static uint32_t checksum(uint64_t offset, const void *p, size_t len)
{
	unsigned char number[8];
	unsigned long crc;

	ctm_wire_le(number, offset, sizeof(number));
	crc = crc32_z(0, number, sizeof(number));
	return (uint32_t)crc32_z(crc, p, len);
}

int ctm_frame_put(struct ctm_buf *out, uint64_t offset, unsigned char kind, struct ctm_bytes body)
{
	struct ctm_wire_out w = { .buf = out };
	size_t start = out->len;
	unsigned char crc[CRC_LEN];

	if (body.len > CTM_FRAME_BODY_MAX) {
		return -EFBIG;
	}
	ctm_wire_put(&w, body.len);
	ctm_wire_put_raw(&w, &kind, 1);
	ctm_wire_put_raw(&w, body.p, body.len);
	if (w.r == 0) {
		ctm_wire_le(crc, checksum(offset, out->p + start, out->len - start), CRC_LEN);
		ctm_wire_put_raw(&w, crc, CRC_LEN);
	}
	return w.r;
}

void ctm_frames_done(struct ctm_frames *f)
{
	ctm_buf_done(&f->window);
}

/* Bytes of the file from offset on, as many as are there up to want. */
static int peek(struct ctm_frames *f, uint64_t offset, size_t want, struct ctm_bytes *ret)
{
	uint64_t left = offset < f->size ? f->size - offset : 0;
	size_t n = want < left ? want : (size_t)left;
	size_t skip;
	int r;

	if (offset < f->window_at || offset + n > f->window_at + f->window.len) {
		size_t load = n > WINDOW_MIN ? n : WINDOW_MIN;

		load = load < left ? load : (size_t)left;
		f->window.len = 0;
		r = ctm_buf_reserve(&f->window, load);
		if (r < 0) {
			return r;
		}
		f->window_at = offset;
		while (f->window.len < load) {
			ssize_t got = pread(f->fd, f->window.p + f->window.len,
					    load - f->window.len, (off_t)(offset + f->window.len));

			if (got < 0 && errno == EINTR) {
				continue;
			}
			if (got <= 0) {
				return got < 0 ? -errno : -EIO; /* it shrank under us */
			}
			f->window.len += (size_t)got;
		}
	}
	skip = n > 0 ? (size_t)(offset - f->window_at) : 0;
	*ret = (struct ctm_bytes){ .p = n > 0 ? f->window.p + skip : "", .len = n };
	return 0;
}

/*
 * Whether a whole record stands at the front of p, which is at this offset of the file: its length
 * with all around it, 0 when it is bad, -1 when more bytes than there are would be needed.
 */
static ssize_t whole_at(struct ctm_bytes in, uint64_t offset, struct ctm_frame *ret)
{
	struct ctm_wire w = ctm_wire_of(in);
	const unsigned char *p = w.p;
	uint64_t body_len = ctm_wire_get(&w);
	size_t head;
	size_t whole;

	if (w.bad) {
		return in.len < CTM_WIRE_VARINT_MAX ? -1 : 0;
	}
	if (body_len > CTM_FRAME_BODY_MAX) {
		return 0;
	}
	head = (size_t)(w.p - p) + 1;
	whole = head + (size_t)body_len + CRC_LEN;
	if (whole > in.len) {
		return -1;
	}
	if (ctm_wire_from_le(p + whole - CRC_LEN, CRC_LEN) !=
	    checksum(offset, p, whole - CRC_LEN)) {
		return 0;
	}
	*ret = (struct ctm_frame){
		.kind = p[head - 1],
		.body = { .p = p + head, .len = (size_t)body_len },
		.offset = offset,
	};
	return (ssize_t)whole;
}

int ctm_frames_next(struct ctm_frames *f, struct ctm_frame *ret)
{
	size_t want = FIRST_LOOK;

	if (f->offset >= f->size) {
		return CTM_FRAME_END;
	}
	for (;;) {
		struct ctm_bytes in;
		ssize_t n;
		int r = peek(f, f->offset, want, &in);

		if (r < 0) {
			return r;
		}
		n = whole_at(in, f->offset, ret);
		if (n > 0) {
			f->offset += (uint64_t)n;
			return CTM_FRAME_WHOLE;
		}
		if (n == 0) {
			return CTM_FRAME_BAD;
		}
		if (in.len < want) {
			return CTM_FRAME_CUT;
		}
		want *= 8;
	}
}

int ctm_frames_any_after(struct ctm_frames *f)
{
	uint64_t left = f->size - f->offset;
	struct ctm_bytes in = { .p = NULL };
	int r;

	if (left > TAIL_MAX) {
		return 1;
	}
	r = peek(f, f->offset, (size_t)left, &in);
	if (r < 0) {
		return r;
	}
	for (size_t i = 1; i < in.len; i++) {
		const unsigned char *p = (const unsigned char *)in.p + i;
		struct ctm_frame frame;

		if (whole_at((struct ctm_bytes){ p, in.len - i }, f->offset + i, &frame) > 0) {
			return 1;
		}
	}
	return 0;
}

/* Whether nothing but zeros stands from a boundary of sectors on. */
static bool is_torn_by_sectors(struct ctm_bytes in, uint64_t offset)
{
	const unsigned char *p = in.p;
	size_t n = in.len;

	while (n > 0 && p[n - 1] == 0) {
		n--;
	}
	return (offset + n + SECTOR - 1) / SECTOR * SECTOR < offset + in.len;
}

int ctm_frames_one_off(struct ctm_frames *f)
{
	uint64_t left = f->size - f->offset;
	unsigned char copy[ONE_OFF_MAX];
	struct ctm_bytes in = { .p = NULL };
	int r;

	if (left == 0 || left > sizeof(copy)) {
		return 0;
	}
	r = peek(f, f->offset, (size_t)left, &in);
	if (r < 0 || is_torn_by_sectors(in, f->offset)) {
		return r;
	}
	memcpy(copy, in.p, in.len);
	for (size_t i = 0; i < in.len; i++) {
		const unsigned char was = copy[i];

		for (unsigned int other = 1; other < 256; other++) {
			struct ctm_frame frame;

			copy[i] = (unsigned char)(was ^ other);
			if (whole_at((struct ctm_bytes){ copy, in.len }, f->offset, &frame) ==
			    (ssize_t)in.len) {
				return 1;
			}
		}
		copy[i] = was;
	}
	return 0;
}

int ctm_frames_last(struct ctm_frames *f, struct ctm_frame *ret)
{
	uint64_t look = f->size < SHORT_MAX ? f->size : SHORT_MAX;
	uint64_t from = f->size - look;
	struct ctm_bytes in = { .p = NULL };
	int r = peek(f, from, (size_t)look, &in);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < in.len; i++) {
		const unsigned char *p = (const unsigned char *)in.p + i;
		struct ctm_bytes rest = { .p = p, .len = in.len - i };

		if (whole_at(rest, from + i, ret) == (ssize_t)rest.len) {
			return 1;
		}
	}
	return 0;
}
