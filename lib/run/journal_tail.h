/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What follows the seal of a record: how far the run came.
 */
#ifndef CTM_RUN_JOURNAL_TAIL_H
#define CTM_RUN_JOURNAL_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/spill.h"
#include "run/journal.h"
#include "run/journal_frame.h"

/** Half-open range of entries. */
struct ctm_run_span {
	uint64_t first;
	uint64_t end;
};

/** Zero-initialise; ctm_tail_done() frees. spill may be set before the first record. */
struct ctm_tail {
	struct ctm_spill *spill;                  /* where what may be told of every entry lies */
	CTM_VEC(struct ctm_run_span) spans;       /* ascending, apart from each other */
	CTM_VEC(struct ctm_run_failure) failures; /* ascending by entry; the last mark counts */
	CTM_VEC(struct ctm_run_ctime) ctimes;     /* ascending by entry; the last mark counts */
	CTM_VEC(struct ctm_run_came_back) came_back; /* the same */
	bool continued;                              /* a C record was among them */
	bool ended;
	struct ctm_run_counts counts;
	int64_t time;
};

void ctm_tail_done(struct ctm_tail *tail);
/** Takes one record in, of a run with that many entries. -EBADMSG, -ENOMEM. */
int ctm_tail_take(struct ctm_tail *tail, const struct ctm_frame *frame, uint64_t entries);
bool ctm_tail_is_done(const struct ctm_tail *tail, uint64_t entry);
const struct ctm_run_failure *ctm_tail_failure(const struct ctm_tail *tail, uint64_t entry);
const struct ctm_run_ctime *ctm_tail_ctime(const struct ctm_tail *tail, uint64_t entry);
const struct ctm_run_came_back *ctm_tail_came_back(const struct ctm_tail *tail, uint64_t entry);

#endif
