/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorted runs, merged by a heap of their heads. */
#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define RUN_BYTES ((size_t)4 << 20)

typedef int (*cmp_fn)(const void *a, const void *b);

/* What is left of a run. */
struct head {
	const unsigned char *at;
	const unsigned char *end;
};

struct merge {
	struct ctm_spill *spill;
	struct head *heads; /* a heap, the least on top */
	size_t n;
	size_t size;
	cmp_fn cmp;
};

static void sift_down(struct merge *m, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;
		struct head one;

		if (child >= m->n) {
			return;
		}
		if (child + 1 < m->n && m->cmp(m->heads[child + 1].at, m->heads[child].at) < 0) {
			child++;
		}
		if (m->cmp(m->heads[i].at, m->heads[child].at) <= 0) {
			return;
		}
		one = m->heads[i];
		m->heads[i] = m->heads[child];
		m->heads[child] = one;
		i = child;
	}
}

static void merge_into(struct merge *m, unsigned char *out)
{
	for (size_t i = m->n / 2; i-- > 0;) {
		sift_down(m, i);
	}
	while (m->n > 0) {
		struct head *top = &m->heads[0];

		memcpy(out, top->at, m->size);
		out += m->size;
		top->at += m->size;
		if (top->at == top->end) {
			*top = m->heads[--m->n];
		}
		sift_down(m, 0);
		ctm_spill_pass(m->spill);
	}
}

/* Sorts run by run; true when that was all that was needed. */
static bool sort_runs(struct merge *m, unsigned char *v, size_t n, size_t run)
{
	bool done = true;

	for (size_t i = 0; i < n; i += run) {
		size_t len = n - i < run ? n - i : run;
		unsigned char *start = v + i * m->size;

		qsort(start, len, m->size, m->cmp);
		done = done && (i == 0 || m->cmp(start - m->size, start) <= 0);
		m->heads[m->n++] = (struct head){ start, start + len * m->size };
		ctm_spill_rest(m->spill);
	}
	return done;
}

int ctm_sort(struct ctm_spill *spill, void *array, size_t n, size_t size, cmp_fn cmp)
{
	size_t run = RUN_BYTES / size;
	struct merge m = { .spill = spill, .size = size, .cmp = cmp };
	CLEANUP_FREE struct head *heads = NULL;
	unsigned char *v = array;
	unsigned char *merged;

	if (n <= run) {
		if (n > 1) {
			qsort(array, n, size, cmp);
		}
		return 0;
	}
	heads = calloc((n - 1) / run + 1, sizeof(*heads));
	if (!heads) {
		return -ENOMEM;
	}
	m.heads = heads;
	if (sort_runs(&m, v, n, run)) {
		return 0;
	}
	merged = ctm_spill_alloc(spill, n * size);
	if (!merged) {
		return -ENOMEM;
	}
	merge_into(&m, merged);
	for (size_t i = 0; i < n; i++) {
		memcpy(v + i * size, merged + i * size, size);
		ctm_spill_pass(spill);
	}
	ctm_spill_drop(spill, merged, n * size);
	return 0;
}
