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

/* Index of the first failure at or behind the entry. */
static size_t failure_of(const struct ctm_tail *tail, uint64_t entry)
{
	size_t low = 0;
	size_t high = tail->failures.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (tail->failures.v[mid].entry >= entry) {
			high = mid;
		} else {
			low = mid + 1;
		}
	}
	return low;
}

static int take_failed(struct ctm_tail *tail, struct ctm_wire *w, uint64_t entries)
{
	struct ctm_run_failure f = { .entry = ctm_wire_get(w) };
	uint64_t errnum = ctm_wire_get(w);
	struct ctm_bytes what = ctm_wire_get_bytes(w);
	size_t at;
	int r;

	if (!ctm_wire_ended(w) || f.entry >= entries || errnum > INT32_MAX ||
	    what.len >= sizeof(f.what)) {
		return -EBADMSG;
	}
	f.errnum = (int)errnum;
	memcpy(f.what, what.p, what.len);
	at = failure_of(tail, f.entry);
	if (at < tail->failures.n && tail->failures.v[at].entry == f.entry) {
		tail->failures.v[at] = f;
		return 0;
	}
	ctm_spill_pass(tail->spill);
	r = ctm_spill_push(tail->spill, &tail->failures, &f);
	if (r < 0) {
		return r;
	}
	memmove(tail->failures.v + at + 1, tail->failures.v + at,
		(tail->failures.n - 1 - at) * sizeof(f));
	tail->failures.v[at] = f;
	return 0;
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
	size_t i = failure_of(tail, entry);

	return i < tail->failures.n && tail->failures.v[i].entry == entry ? &tail->failures.v[i] :
									    NULL;
}
