/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Going through the record of a run entry by entry, either way. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "run/journal_parts.h"

void ctm_reader_free(struct ctm_reader *r)
{
	if (!r) {
		return;
	}
	ctm_closep(&r->fd);
	ctm_frames_done(&r->frames);
	ctm_arena_done(&r->arena);
	ctm_tail_done(&r->tail);
	ctm_vec_done(&r->blocks);
	ctm_codec_done(&r->codec);
	ctm_arena_done(&r->scratch);
	free(r->block);
	ctm_arena_done(&r->block_arena);
	free(r);
}

int ctm_reader_damaged(struct ctm_err *err, uint64_t offset, const char *what)
{
	return ctm_err_set(err, CTM_CORRUPT, 0, "the record is damaged at byte %llu: %s",
			   (unsigned long long)offset, what);
}

/* The next record before the seal: nothing is forgiven here. */
int ctm_reader_frame(struct ctm_reader *r, struct ctm_frame *ret, struct ctm_err *err)
{
	int state = ctm_frames_next(&r->frames, ret);

	switch (state) {
	case CTM_FRAME_WHOLE:
		return 0;
	case CTM_FRAME_END:
	case CTM_FRAME_CUT:
		return ctm_reader_damaged(err, r->frames.offset, "it ends too early");
	case CTM_FRAME_BAD:
		return ctm_reader_damaged(err, r->frames.offset, "wrong checksum");
	default:
		return ctm_err_set(err, CTM_SYS, state, "read the record");
	}
}

int ctm_reader_decode(struct ctm_reader *r, const struct ctm_frame *frame, struct ctm_arena *arena,
		      struct ctm_entry *ret, struct ctm_err *err)
{
	int e;

	if (r->at % CTM_CODEC_BLOCK == 0) {
		ctm_codec_reset(&r->codec);
	}
	e = ctm_codec_get(&r->codec, (enum ctm_entry_kind)frame->kind, frame->body, arena, ret);
	if (e == -ENOMEM) {
		return ctm_err_nomem(err);
	}
	if (e < 0) {
		return ctm_reader_damaged(err, frame->offset, "an entry makes no sense");
	}
	r->at++;
	return 0;
}

/* Stands before entry n: from where it is when that is on the way, else from the block's start. */
static int go_to(struct ctm_reader *r, uint64_t n, struct ctm_err *err)
{
	uint64_t block = n / CTM_CODEC_BLOCK;

	if (r->at > n || r->at < block * CTM_CODEC_BLOCK) {
		r->at = block * CTM_CODEC_BLOCK;
		r->frames.offset = r->blocks.v[block];
	}
	while (r->at < n) {
		struct ctm_frame frame;
		struct ctm_entry skipped;
		int e = ctm_reader_frame(r, &frame, err);

		if (e == 0) {
			ctm_arena_done(&r->scratch);
			e = ctm_reader_decode(r, &frame, &r->scratch, &skipped, err);
		}
		if (e < 0) {
			return e;
		}
	}
	return 0;
}

int ctm_reader_next(struct ctm_reader *r, struct ctm_entry *ret, uint64_t *ret_index,
		    struct ctm_err *err)
{
	struct ctm_frame frame;
	int e;

	if (r->next >= r->seal.entries) {
		return 0;
	}
	e = go_to(r, r->next, err);
	if (e == 0) {
		e = ctm_reader_frame(r, &frame, err);
	}
	if (e == 0) {
		ctm_arena_done(&r->scratch);
		e = ctm_reader_decode(r, &frame, &r->scratch, ret, err);
	}
	if (e < 0) {
		return e;
	}
	*ret_index = r->next++;
	return 1;
}

/* One more of the block, with a path of its own. */
static int keep_one(struct ctm_reader *r, struct ctm_err *err)
{
	struct ctm_entry *e = &r->block[r->block_n];
	struct ctm_frame frame;
	char *path;
	int ret = ctm_reader_frame(r, &frame, err);

	if (ret == 0) {
		ret = ctm_reader_decode(r, &frame, &r->block_arena, e, err);
	}
	if (ret < 0) {
		return ret;
	}
	path = ctm_arena_dup(&r->block_arena, e->ref.path, e->ref.path_len);
	if (!path) {
		return ctm_err_nomem(err);
	}
	e->ref.path = path;
	if (ctm_entry_is_file(e->kind)) {
		e->parent.path = path;
	}
	r->block_n++;
	return 0;
}

/* Reads the block that holds entry n as a whole: one pass over it serves all its entries. */
static int load_block(struct ctm_reader *r, uint64_t n, struct ctm_err *err)
{
	uint64_t first = n - n % CTM_CODEC_BLOCK;
	int e;

	if (r->block_n > 0 && r->block_first == first) {
		return 0;
	}
	if (!r->block) {
		r->block = calloc(CTM_CODEC_BLOCK, sizeof(*r->block));
		if (!r->block) {
			return ctm_err_nomem(err);
		}
	}
	ctm_arena_done(&r->block_arena);
	r->block_n = 0;
	r->block_first = first;
	e = go_to(r, first, err);
	while (e == 0 && r->block_n < CTM_CODEC_BLOCK && r->at < r->seal.entries) {
		e = keep_one(r, err);
	}
	if (e < 0) {
		r->block_n = 0;
	}
	return e;
}

int ctm_reader_prev(struct ctm_reader *r, struct ctm_entry *ret, uint64_t *ret_index,
		    struct ctm_err *err)
{
	int e;

	if (r->next == 0) {
		return 0;
	}
	e = load_block(r, r->next - 1, err);
	if (e < 0) {
		return e;
	}
	*ret_index = --r->next;
	*ret = r->block[r->next - r->block_first];
	return 1;
}

void ctm_reader_rewind(struct ctm_reader *r)
{
	r->next = 0;
}

void ctm_reader_to_end(struct ctm_reader *r)
{
	r->next = r->seal.entries;
}

/* --- what was learnt at opening --- */

const struct ctm_run_header *ctm_reader_header(const struct ctm_reader *r)
{
	return &r->header;
}

const struct ctm_run_seal *ctm_reader_seal(const struct ctm_reader *r)
{
	return &r->seal;
}

uint64_t ctm_reader_count(const struct ctm_reader *r, enum ctm_entry_kind kind)
{
	switch (kind) {
	case CTM_ENTRY_REMOVE:
		return r->removals;
	case CTM_ENTRY_RESTORE:
		return r->restores;
	case CTM_ENTRY_WRITABLE:
		return r->writables;
	case CTM_ENTRY_READONLY:
		return r->readonlys;
	case CTM_ENTRY_SET:
	default:
		return r->seal.entries - r->removals - r->restores - r->writables - r->readonlys;
	}
}

uint64_t ctm_reader_size(const struct ctm_reader *r)
{
	return r->frames.size;
}

uint64_t ctm_reader_whole(const struct ctm_reader *r)
{
	return r->whole;
}

bool ctm_reader_continued(const struct ctm_reader *r)
{
	return r->tail.continued;
}

bool ctm_reader_torn(const struct ctm_reader *r)
{
	return r->whole < r->frames.size;
}

const struct ctm_run_counts *ctm_reader_end(const struct ctm_reader *r, int64_t *ret_time)
{
	if (!r->tail.ended) {
		return NULL;
	}
	if (ret_time) {
		*ret_time = r->tail.time;
	}
	return &r->tail.counts;
}

bool ctm_reader_is_done(const struct ctm_reader *r, uint64_t entry)
{
	return ctm_tail_is_done(&r->tail, entry);
}

const struct ctm_run_failure *ctm_reader_failure(const struct ctm_reader *r, uint64_t entry)
{
	return ctm_tail_failure(&r->tail, entry);
}

const struct ctm_run_ctime *ctm_reader_ctime(const struct ctm_reader *r, uint64_t entry)
{
	return ctm_tail_ctime(&r->tail, entry);
}

const struct ctm_run_came_back *ctm_reader_came_back(const struct ctm_reader *r, uint64_t entry)
{
	return ctm_tail_came_back(&r->tail, entry);
}
