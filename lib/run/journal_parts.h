/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What opening a record and going through it share.
 */
#ifndef CTM_RUN_JOURNAL_PARTS_H
#define CTM_RUN_JOURNAL_PARTS_H

#include "run/codec.h"
#include "run/journal.h"
#include "run/journal_frame.h"
#include "run/journal_tail.h"

struct ctm_reader {
	int fd;
	struct ctm_frames frames;
	struct ctm_arena arena; /* the header's */
	struct ctm_run_header header;
	struct ctm_run_seal seal;
	struct ctm_tail tail;
	uint64_t whole; /* where a torn tail begins, else the size */
	uint64_t removals;
	uint64_t writables;
	uint64_t readonlys;
	uint64_t restores;
	CTM_VEC(uint64_t) blocks; /* offset of the first entry of each block */
	/* where the reader stands */
	struct ctm_codec codec;
	uint64_t at;              /* the codec and the frames are right for this entry */
	uint64_t next;            /* number of the entry that ctm_reader_next() gives */
	struct ctm_arena scratch; /* of the entry handed out */
	/* a whole block, for going backwards */
	struct ctm_entry *block;
	struct ctm_arena block_arena;
	uint64_t block_first;
	uint64_t block_n;
};

/** CTM_CORRUPT with the place. */
int ctm_reader_damaged(struct ctm_err *err, uint64_t offset, const char *what);
/** The next record before the seal; nothing is forgiven there. */
int ctm_reader_frame(struct ctm_reader *r, struct ctm_frame *ret, struct ctm_err *err);
/** The entry in the record that stands at r->at; values in the arena, path in the codec. */
int ctm_reader_decode(struct ctm_reader *r, const struct ctm_frame *frame, struct ctm_arena *arena,
		      struct ctm_entry *ret, struct ctm_err *err);

#endif
