/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows the seal of a record. */
#include "run/journal_tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/wire.h"

void ctm_tail_done(struct ctm_tail *tail)
{
	ctm_vec_done(&tail->spans);
	ctm_spill_vec_done(tail->spill, &tail->failures);
	ctm_spill_vec_done(tail->spill, &tail->ctimes);
	ctm_spill_vec_done(tail->spill, &tail->came_back);
	ctm_spill_free(tail->spill);
}

/* Index of the first span that ends behind the entry. */
static size_t span_of(const struct ctm_tail *tail, uint64_t entry)
{
	size_t low = 0;
	size_t high = tail->spans.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (tail->spans.v[mid].end > entry) {
			high = mid;
		} else {
			low = mid + 1;
		}
	}
	return low;
}

/* Marks come in ascending order but for a continued run, which may mark the same again. */
static int take_done(struct ctm_tail *tail, struct ctm_wire *w, uint64_t entries)
{
	struct ctm_run_span span = { .first = ctm_wire_get(w) };
	uint64_t n = ctm_wire_get(w);
	struct ctm_run_span *last;

	if (!ctm_wire_ended(w) || n == 0 || span.first >= entries || n > entries - span.first) {
		return -EBADMSG;
	}
	span.end = span.first + n;
	last = tail->spans.n > 0 ? &tail->spans.v[tail->spans.n - 1] : NULL;
	if (!last || span.first > last->end) {
		return ctm_vec_push(&tail->spans, &span);
	}
	if (span.first < last->first) {
		return -EBADMSG;
	}
	last->end = span.end > last->end ? span.end : last->end;
	return 0;
}

/* Index of the first mark at or behind the entry; each begins with the number of its entry. */
static size_t mark_of(const void *marks, size_t n, size_t size, uint64_t entry)
{
	size_t low = 0;
	size_t high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t at;

		memcpy(&at, (const char *)marks + mid * size, sizeof(at));
		if (at >= entry) {
			high = mid;
		} else {
			low = mid + 1;
		}
	}
	return low;
}

#define MARK_OF(vec, e) mark_of((vec)->v, (vec)->n, sizeof(*(vec)->v), (e))

/* The mark of this entry, or NULL. */
#define FIND_MARK(vec, e)                                                             \
	({                                                                            \
		size_t at_ = MARK_OF(vec, e);                                         \
		at_ < (vec)->n && (vec)->v[at_].entry == (e) ? &(vec)->v[at_] : NULL; \
	})

/* Puts a mark in its place, or over an earlier one of the entry. 0 or -ENOMEM. */
#define KEEP_MARK(spill_, vec, mark)                                                  \
	({                                                                            \
		size_t at_ = MARK_OF(vec, (mark)->entry);                             \
		bool known_ = at_ < (vec)->n && (vec)->v[at_].entry == (mark)->entry; \
		int r_ = 0;                                                           \
		ctm_spill_pass(spill_);                                               \
		if (!known_) {                                                        \
			r_ = ctm_spill_push(spill_, vec, mark);                       \
		}                                                                     \
		if (r_ == 0 && !known_) {                                             \
			memmove((vec)->v + at_ + 1, (vec)->v + at_,                   \
				((vec)->n - 1 - at_) * sizeof(*(vec)->v));            \
		}                                                                     \
		if (r_ == 0) {                                                        \
			(vec)->v[at_] = *(mark);                                      \
		}                                                                     \
		r_;                                                                   \
	})

static int take_failed(struct ctm_tail *tail, struct ctm_wire *w, uint64_t entries)
{
	struct ctm_run_failure f = { .entry = ctm_wire_get(w) };
	uint64_t errnum = ctm_wire_get(w);
	struct ctm_bytes what = ctm_wire_get_bytes(w);

	if (!ctm_wire_ended(w) || f.entry >= entries || errnum > INT32_MAX ||
	    what.len >= sizeof(f.what)) {
		return -EBADMSG;
	}
	f.errnum = (int)errnum;
	memcpy(f.what, what.p, what.len);
	return KEEP_MARK(tail->spill, &tail->failures, &f);
}

static int take_ctime(struct ctm_tail *tail, struct ctm_wire *w, uint64_t entries)
{
	struct ctm_run_ctime m = { .entry = ctm_wire_get(w), .ctime = ctm_wire_get_time(w) };

	if (!ctm_wire_ended(w) || m.entry >= entries) {
		return -EBADMSG;
	}
	return KEEP_MARK(tail->spill, &tail->ctimes, &m);
}

static int take_came_back(struct ctm_tail *tail, struct ctm_wire *w, uint64_t entries)
{
	struct ctm_run_came_back m = {
		.entry = ctm_wire_get(w),
		.dev = ctm_wire_get(w),
		.ino = ctm_wire_get(w),
	};
	int64_t type = ctm_wire_get_signed(w);
	struct ctm_bytes handle = ctm_wire_get_bytes(w);

	if (!ctm_wire_ended(w) || m.entry >= entries || type < INT32_MIN || type > INT32_MAX ||
	    handle.len > CTM_HANDLE_MAX) {
		return -EBADMSG;
	}
	m.handle.type = (int)type;
	m.handle.len = (unsigned int)handle.len;
	memcpy(m.handle.bytes, handle.p, handle.len);
	return KEEP_MARK(tail->spill, &tail->came_back, &m);
}

static int take_continued(struct ctm_tail *tail, struct ctm_wire *w)
{
	(void)ctm_wire_get_signed(w);
	(void)ctm_wire_get_bytes(w);
	(void)ctm_wire_get_bytes(w);
	tail->continued = true;
	return ctm_wire_ended(w) ? 0 : -EBADMSG;
}

static int take_end(struct ctm_tail *tail, struct ctm_wire *w)
{
	struct ctm_run_counts counts;

	counts.done = ctm_wire_get(w);
	counts.already = ctm_wire_get(w);
	counts.conflicts = ctm_wire_get(w);
	counts.failed = ctm_wire_get(w);
	tail->time = ctm_wire_get_signed(w);
	if (!ctm_wire_ended(w)) {
		return -EBADMSG;
	}
	tail->counts = counts;
	tail->ended = true;
	return 0;
}

int ctm_tail_take(struct ctm_tail *tail, const struct ctm_frame *frame, uint64_t entries)
{
	struct ctm_wire w = ctm_wire_of(frame->body);

	if (tail->ended) {
		return -EBADMSG;
	}
	switch (frame->kind) {
	case 'D':
		return take_done(tail, &w, entries);
	case 'F':
		return take_failed(tail, &w, entries);
	case 'M':
		return take_ctime(tail, &w, entries);
	case 'N':
		return take_came_back(tail, &w, entries);
	case 'C':
		return take_continued(tail, &w);
	case 'E':
		return take_end(tail, &w);
	default:
		return -EBADMSG;
	}
}

bool ctm_tail_is_done(const struct ctm_tail *tail, uint64_t entry)
{
	size_t i = span_of(tail, entry);

	return i < tail->spans.n && tail->spans.v[i].first <= entry;
}

const struct ctm_run_failure *ctm_tail_failure(const struct ctm_tail *tail, uint64_t entry)
{
	return FIND_MARK(&tail->failures, entry);
}

const struct ctm_run_ctime *ctm_tail_ctime(const struct ctm_tail *tail, uint64_t entry)
{
	return FIND_MARK(&tail->ctimes, entry);
}

const struct ctm_run_came_back *ctm_tail_came_back(const struct ctm_tail *tail, uint64_t entry)
{
	return FIND_MARK(&tail->came_back, entry);
}
