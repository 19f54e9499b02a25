/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run did and what it had to leave. */
#include "run/outcome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ctm_outcome_done(struct ctm_outcome *out)
{
	ctm_vec_done(&out->results);
	ctm_arena_done(&out->arena);
	*out = (struct ctm_outcome){ 0 };
}

/* The result that already tells of this read-only file system, or NULL. */
static struct ctm_result *known_readonly(struct ctm_outcome *out, const struct ctm_result *result)
{
	for (size_t i = 0; result->err == EROFS && i < out->results.n; i++) {
		struct ctm_result *r = &out->results.v[i];

		if (r->err == EROFS && r->dev == result->dev) {
			return r;
		}
	}
	return NULL;
}

int ctm_outcome_add(struct ctm_outcome *out, const struct ctm_result *result)
{
	struct ctm_result *known = known_readonly(out, result);
	struct ctm_result copy = *result;

	if (result->kind == CTM_RESULT_CONFLICT && !result->later) {
		out->counts.conflicts++;
	} else {
		out->counts.failed++;
	}
	if (known) {
		known->n++;
		return 0;
	}
	if (out->results.n >= CTM_RESULTS_MAX) {
		out->untold++;
		return 0;
	}
	copy.path = ctm_arena_dup(&out->arena, result->path, result->path_len);
	copy.what = ctm_arena_dup(&out->arena, result->what, strlen(result->what));
	copy.n = 1;
	return copy.path && copy.what ? ctm_vec_push(&out->results, &copy) : -ENOMEM;
}

bool ctm_outcome_partial(const struct ctm_outcome *out)
{
	return out->counts.conflicts > 0 || out->counts.failed > 0 || out->unfinished;
}
