/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bodies of a record's parts, without the checksums that would keep all others out. The input is
 * one after the other: kind, length (two bytes, little endian), body.
 *
 * An entry that can be read can be written, and is read again as the same entry. Paths that are
 * taken are clean: relative, and nothing in them leads upwards.
 */
#include "fuzz/fuzz.h"
#include "run/codec.h"
#include "run/journal_header.h"
#include "run/journal_tail.h"

#include <errno.h>

#define ENTRIES 1000

static void check_path(const struct ctm_entry *e)
{
	const char *p = e->ref.path;
	size_t len = e->ref.path_len;

	FUZZ_CHECK(len > 0 || !ctm_entry_is_file(e->kind));
	FUZZ_CHECK(len == 0 || (p[0] != '/' && p[len - 1] != '/' && !memchr(p, '\0', len)));
	for (size_t i = 0; i + 1 < len; i++) {
		FUZZ_CHECK(p[i] != '/' || p[i + 1] != '/');
		FUZZ_CHECK(p[i] != '.' || p[i + 1] != '.' || (i > 0 && p[i - 1] != '/') ||
			   (i + 2 < len && p[i + 2] != '/'));
	}
	FUZZ_CHECK(!ctm_entry_is_file(e->kind) || e->parent.path_len < len);
}

static void check_same(const struct ctm_entry *a, const struct ctm_entry *b)
{
	FUZZ_CHECK(a->ref.path_len == b->ref.path_len &&
		   memcmp(a->ref.path, b->ref.path, a->ref.path_len) == 0);
	FUZZ_CHECK(a->ref.dev == b->ref.dev && a->ref.ino == b->ref.ino);
	FUZZ_CHECK(a->ref.handle.type == b->ref.handle.type &&
		   a->ref.handle.len == b->ref.handle.len &&
		   memcmp(a->ref.handle.bytes, b->ref.handle.bytes, a->ref.handle.len) == 0);
	FUZZ_CHECK(a->nlink == b->nlink && a->names == b->names && a->attr == b->attr);
	FUZZ_CHECK(ctm_inode_state_eq(&a->before, &b->before));
	FUZZ_CHECK(ctm_entry_is_file(a->kind) || ctm_inode_state_eq(&a->after, &b->after));
	FUZZ_CHECK(a->size == b->size && memcmp(a->sha256, b->sha256, 32) == 0);
	FUZZ_CHECK(a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec);
	FUZZ_CHECK(a->content == b->content && a->ctime.tv_sec == b->ctime.tv_sec &&
		   a->ctime.tv_nsec == b->ctime.tv_nsec);
	FUZZ_CHECK(a->content == CTM_CONTENT_NONE || a->kind == CTM_ENTRY_SET);
	FUZZ_CHECK(strcmp(a->rule, b->rule) == 0 && a->cause == b->cause);
}

static void entry(struct ctm_codec *codec, enum ctm_entry_kind kind, struct ctm_bytes body)
{
	struct ctm_codec out = { 0 };
	struct ctm_codec in = { 0 };
	struct ctm_arena arena = { 0 };
	struct ctm_buf again = { 0 };
	struct ctm_entry first, second;
	int r = ctm_codec_get(codec, kind, body, &arena, &first);

	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -ENOMEM);
	if (r == 0) {
		check_path(&first);
		if (ctm_entry_is_file(kind)) { /* one state, whatever the bytes said */
			first.after = first.before = kind == CTM_ENTRY_REMOVE ? first.before :
										first.after;
		}
		FUZZ_CHECK(ctm_codec_put(&out, &first, &again) == 0);
		FUZZ_CHECK(ctm_codec_get(&in, kind, (struct ctm_bytes){ again.p, again.len },
					 &arena, &second) == 0);
		check_same(&first, &second);
	}
	ctm_codec_done(&out);
	ctm_codec_done(&in);
	ctm_buf_done(&again);
	ctm_arena_done(&arena);
}

static void header(struct ctm_bytes body)
{
	struct ctm_arena arena = { 0 };
	struct ctm_buf again = { 0 };
	struct ctm_run_header h;

	if (ctm_header_get(body, &arena, &h) == 0) {
		FUZZ_CHECK(h.version && h.target && h.volume && h.identity && h.map && h.user &&
			   h.options && h.undoes && h.digest && h.run);
		FUZZ_CHECK(ctm_header_put(&h, &again) == 0);
		FUZZ_CHECK(ctm_header_get((struct ctm_bytes){ again.p, again.len }, &arena, &h) ==
			   0);
	}
	ctm_buf_done(&again);
	ctm_arena_done(&arena);
}

static void tail(struct ctm_tail *tail, unsigned char kind, struct ctm_bytes body)
{
	const struct ctm_frame frame = { .kind = kind, .body = body };

	(void)ctm_tail_take(tail, &frame, ENTRIES);
	for (size_t i = 0; i < tail->spans.n; i++) {
		FUZZ_CHECK(tail->spans.v[i].first < tail->spans.v[i].end &&
			   tail->spans.v[i].end <= ENTRIES);
		FUZZ_CHECK(i == 0 || tail->spans.v[i - 1].end < tail->spans.v[i].first);
		FUZZ_CHECK(ctm_tail_is_done(tail, tail->spans.v[i].first));
		FUZZ_CHECK(!ctm_tail_is_done(tail, tail->spans.v[i].end));
	}
	for (size_t i = 0; i < tail->failures.n; i++) {
		const struct ctm_run_failure *f = &tail->failures.v[i];

		FUZZ_CHECK(f->entry < ENTRIES && ctm_tail_failure(tail, f->entry) == f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctm_codec codec = { 0 };
	struct ctm_tail marks = { 0 };

	while (size >= 3) {
		unsigned char kind = data[0];
		size_t len = data[1] | (size_t)data[2] << 8;
		struct ctm_bytes body;

		data += 3;
		size -= 3;
		len = len < size ? len : size;
		body = fuzz_bytes(data, len);
		switch (kind) {
		case 'H':
			header(body);
			break;
		case CTM_ENTRY_SET:
		case CTM_ENTRY_REMOVE:
		case CTM_ENTRY_RESTORE:
		case CTM_ENTRY_WRITABLE:
		case CTM_ENTRY_READONLY:
			entry(&codec, (enum ctm_entry_kind)kind, body);
			break;
		default:
			tail(&marks, kind, body);
			break;
		}
		data += len;
		size -= len;
	}
	ctm_codec_done(&codec);
	ctm_tail_done(&marks);
	return 0;
}
