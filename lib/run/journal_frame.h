/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record's outermost layer: how a body with its kind stands in the file (see run/journal.h).
 */
#ifndef CTM_RUN_JOURNAL_FRAME_H
#define CTM_RUN_JOURNAL_FRAME_H

#include <stdint.h>

#include "base/bytes.h"

#define CTM_FRAME_MAGIC     "ctmend journal\n"
#define CTM_FRAME_MAGIC_LEN (sizeof(CTM_FRAME_MAGIC) - 1)
#define CTM_FRAME_START     (CTM_FRAME_MAGIC_LEN + 1) /* offset of the first record */
#define CTM_FRAME_BODY_MAX  ((size_t)16 << 20)        /* a path of 10,000 directories fits */

/** Appends a record that will stand at this offset. -ENOMEM; -EFBIG beyond CTM_FRAME_BODY_MAX. */
int ctm_frame_put(struct ctm_buf *out, uint64_t offset, unsigned char kind, struct ctm_bytes body);

/**
 * A file that is read from front to back; set offset to start anywhere a record begins. Give fd,
 * size and offset at first.
 */
struct ctm_frames {
	int fd; /* borrowed */
	uint64_t size;
	uint64_t offset; /* of the next record */
	struct ctm_buf window;
	uint64_t window_at; /* offset of the window's first byte */
};

struct ctm_frame {
	unsigned char kind;
	struct ctm_bytes body; /* in the window until the next call */
	uint64_t offset;
};

enum ctm_frame_state {
	CTM_FRAME_END,   /* the file ends here */
	CTM_FRAME_WHOLE, /* a record, its checksum is right */
	CTM_FRAME_CUT,   /* it runs past the end of the file */
	CTM_FRAME_BAD,   /* its checksum or its length is wrong */
};

void ctm_frames_done(struct ctm_frames *f);
/**
 * The next record as enum ctm_frame_state, or negative errno. After a whole one the reader stands
 * behind it, else where it was.
 */
int ctm_frames_next(struct ctm_frames *f, struct ctm_frame *ret);
/**
 * Whether any whole record follows a cut or bad one at the present offset: then the file is
 * damaged in its middle, and not only torn at its end. Negative errno.
 */
int ctm_frames_any_after(struct ctm_frames *f);

/**
 * Whether the bytes from a cut or bad record at the present offset on are a whole one but for a
 * single byte: then that was changed, and is no tail that was torn in writing. A tear shows as a
 * file that is too short, or as zeros from a sector on. Negative errno.
 */
int ctm_frames_one_off(struct ctm_frames *f);

/**
 * The record that the file ends with, if it is one of the short ones (the end of a run): 1, else 0.
 * Negative errno.
 */
int ctm_frames_last(struct ctm_frames *f, struct ctm_frame *ret);

#endif
