/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the two halves of the codec share.
 */
#ifndef CTM_RUN_CODEC_PARTS_H
#define CTM_RUN_CODEC_PARTS_H

#include "run/codec.h"

/* The numbers are those of the layout in run/codec.h. */
enum ctm_codec_flag {
	CTM_CODEC_F_OWNERS = 0x1,
	CTM_CODEC_F_MODE = 0x2,
	CTM_CODEC_F_AFTER = 0x4,
	CTM_CODEC_F_DEV = 0x8,
	CTM_CODEC_F_LINKS = 0x10,
	CTM_CODEC_F_CAUSE = 0x20,
	CTM_CODEC_F_HANDLE = 0x40,
	CTM_CODEC_F_ATTR = 0x80,
	CTM_CODEC_F_XATTRS = 0x100,
	CTM_CODEC_F_CONTENT = 0x200,
	CTM_CODEC_F_ALL = 0x3ff,
};

#define CTM_CODEC_BEFORE 1u
#define CTM_CODEC_AFTER  2u
#define CTM_CODEC_SAME   4u
#define CTM_CODEC_XATTRS 3

/** Cuts to keep bytes and appends. -ENOMEM. */
int ctm_codec_replace(struct ctm_buf *buf, size_t keep, const void *p, size_t len);
/** Relative, clean, and for a removed or restored file with a name at its end. */
bool ctm_codec_path_ok(const char *path, size_t len, enum ctm_entry_kind kind);

#endif
