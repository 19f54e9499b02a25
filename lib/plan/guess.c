/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which map a tree looks like.
 */
#include "plan/guess.h"

#include <errno.h>
#include <inttypes.h>

#define RANGE 65536u

uint64_t ctm_guess_base(const struct ctm_id_histogram *ids, uint32_t *ret_base, uint64_t *ret_all)
{
	uint64_t most = 0;
	uint64_t all = ids->other;
	uint64_t inside = 0;
	uint32_t base = 0;

	for (size_t i = 0; i < ids->n; i++) {
		all += ids->v[i].n;
		if (ids->v[i].n > most) {
			most = ids->v[i].n;
			base = ids->v[i].id;
		}
	}
	if (base < RANGE) {
		base = 0;
	}
	for (size_t i = 0; i < ids->n; i++) {
		if (ids->v[i].id >= base && ids->v[i].id - base < RANGE) {
			inside += ids->v[i].n;
		}
	}
	*ret_base = base;
	*ret_all = all;
	return inside;
}

int ctm_guess_map(const struct ctm_id_histogram ids[2], struct ctm_buf *out)
{
	uint32_t base[2];

	for (int kind = 0; kind < 2; kind++) {
		uint64_t all;
		uint64_t inside = ctm_guess_base(&ids[kind], &base[kind], &all);

		if (!all || inside < all - all / 10) {
			return -ENODATA;
		}
	}
	if (base[CTM_UID] == base[CTM_GID]) {
		return ctm_buf_addf(out, "0:%" PRIu32 ":%u", base[CTM_UID], RANGE);
	}
	return ctm_buf_addf(out, "u:0:%" PRIu32 ":%u,g:0:%" PRIu32 ":%u", base[CTM_UID], RANGE,
			    base[CTM_GID], RANGE);
}
