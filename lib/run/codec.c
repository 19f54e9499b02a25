/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the codec remembers from entry to entry. */
#include "run/codec_parts.h"

#include <string.h>

void ctm_codec_done(struct ctm_codec *c)
{
	ctm_buf_done(&c->path);
	ctm_buf_done(&c->cause);
}

void ctm_codec_reset(struct ctm_codec *c)
{
	*c = (struct ctm_codec){
		.path = { .p = c->path.p, .cap = c->path.cap },
		.cause = { .p = c->cause.p, .cap = c->cause.cap },
	};
}

int ctm_codec_replace(struct ctm_buf *buf, size_t keep, const void *p, size_t len)
{
	buf->len = keep;
	return ctm_buf_add(buf, p, len);
}

static bool is_dots(const char *name, size_t len)
{
	return (len == 1 || len == 2) && name[0] == '.' && name[len - 1] == '.';
}

bool ctm_codec_path_ok(const char *path, size_t len, enum ctm_entry_kind kind)
{
	if (len == 0) {
		return !ctm_entry_is_file(kind);
	}
	if (memchr(path, '\0', len)) {
		return false;
	}
	for (size_t at = 0;;) {
		const char *slash = memchr(path + at, '/', len - at);
		size_t n = slash ? (size_t)(slash - (path + at)) : len - at;

		if (n == 0 || is_dots(path + at, n)) {
			return false;
		}
		if (!slash) {
			return true;
		}
		at += n + 1;
	}
}
