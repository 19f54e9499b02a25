/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of a record. */
#include "run/journal_header.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "run/wire.h"

#define TAG_OPTIONAL 64 /* from here on a reader may skip what it does not know */
#define TAG_TIME     6
#define TAG_KIND     9

static const struct {
	unsigned int tag;
	size_t offset;
} texts[] = {
	{ 1, offsetof(struct ctm_run_header, version) },
	{ 2, offsetof(struct ctm_run_header, target) },
	{ 3, offsetof(struct ctm_run_header, volume) },
	{ 4, offsetof(struct ctm_run_header, identity) },
	{ 5, offsetof(struct ctm_run_header, map) },
	{ 7, offsetof(struct ctm_run_header, user) },
	{ 8, offsetof(struct ctm_run_header, options) },
	{ 10, offsetof(struct ctm_run_header, undoes) },
	{ 11, offsetof(struct ctm_run_header, digest) },
	{ 12, offsetof(struct ctm_run_header, run) },
	{ 13, offsetof(struct ctm_run_header, caller) },
	{ 14, offsetof(struct ctm_run_header, part) },
	{ 64, offsetof(struct ctm_run_header, from) },
};

static const char **text_at(struct ctm_run_header *h, size_t i)
{
	return (const char **)(void *)((char *)h + texts[i].offset);
}

static const char *const kinds[] = { [CTM_RUN_REPAIR] = "repair", [CTM_RUN_UNDO] = "undo" };

static void put(struct ctm_wire_out *out, unsigned int tag, const char *text)
{
	ctm_wire_put(out, tag);
	ctm_wire_put_bytes(out, text, strlen(text));
}

int ctm_header_put(const struct ctm_run_header *header, struct ctm_buf *ret)
{
	struct ctm_wire_out out = { .buf = ret };
	struct ctm_run_header h = *header;
	char number[24];

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		put(&out, texts[i].tag, *text_at(&h, i));
	}
	(void)snprintf(number, sizeof(number), "%lld", (long long)header->time);
	put(&out, TAG_TIME, number);
	put(&out, TAG_KIND, kinds[header->kind]);
	return out.r;
}

static int get_time(const char *text, int64_t *ret)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0') {
		return -EBADMSG;
	}
	*ret = n;
	return 0;
}

static int get_kind(const char *text, enum ctm_run_kind *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(text, kinds[i]) == 0) {
			*ret = (enum ctm_run_kind)i;
			return 0;
		}
	}
	return -EPROTONOSUPPORT;
}

static int get_field(uint64_t tag, const char *text, struct ctm_run_header *h)
{
	if (tag == TAG_TIME) {
		return get_time(text, &h->time);
	}
	if (tag == TAG_KIND) {
		return get_kind(text, &h->kind);
	}
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (texts[i].tag == tag) {
			*text_at(h, i) = text;
			return 0;
		}
	}
	return tag < TAG_OPTIONAL ? -EPROTONOSUPPORT : 0;
}

int ctm_header_get(struct ctm_bytes body, struct ctm_arena *arena, struct ctm_run_header *ret)
{
	struct ctm_wire w = ctm_wire_of(body);
	struct ctm_run_header h = { 0 };
	int r;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		*text_at(&h, i) = "";
	}
	while (!w.bad && w.p < w.end) {
		uint64_t tag = ctm_wire_get(&w);
		struct ctm_bytes value = ctm_wire_get_bytes(&w);
		const char *text;

		if (w.bad || memchr(value.p, '\0', value.len)) {
			return -EBADMSG;
		}
		text = ctm_arena_dup(arena, value.p, value.len);
		if (!text) {
			return -ENOMEM;
		}
		r = get_field(tag, text, &h);
		if (r < 0) {
			return r;
		}
	}
	if (w.bad) {
		return -EBADMSG;
	}
	*ret = h;
	return 0;
}
