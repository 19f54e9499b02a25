/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run did and what it had to leave, for the report.
 */
#ifndef CTM_RUN_OUTCOME_H
#define CTM_RUN_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "run/journal.h"
#include "run/state.h"

typedef void (*ctm_progress_fn)(uint64_t done, uint64_t total, void *arg);

enum ctm_result_kind {
	CTM_RESULT_CONFLICT, /* not in the state the record expects: left alone */
	CTM_RESULT_FAILED,   /* a call failed */
};

struct ctm_result {
	enum ctm_result_kind kind;
	const char *path; /* relative; in the outcome's arena */
	size_t path_len;
	/*
	 * What was tried or found: "open", "chown", "chmod", "acl", "capability", "verify",
	 * "remove", "restore", "mtime", "check for writers"; "capability, taken back": failed, but
	 * is as it was; "changed", "gone", "removed by run 0002-...". In the outcome's arena.
	 */
	const char *what;
	int err;    /* positive errno, 0 for a conflict */
	bool later; /* a conflict that goes away with another run's undo: counted as failed */
	uint64_t n; /* inodes it stands for: a read-only file system is one result */
	uint64_t dev;
};

#define CTM_RESULTS_MAX 10000 /* more are counted, not kept */

/** Zero-initialise; ctm_outcome_done() frees. */
struct ctm_outcome {
	/* "" when nothing was recorded because there was nothing to do */
	char run[CTM_RUN_NAME_MAX];
	char undoes[CTM_RUN_NAME_MAX]; /* ctm_undo(): the run that was taken back */
	struct ctm_run_counts counts;
	/* something was left half done: the run has no end, the next repair or undo goes on */
	bool unfinished;
	bool stopped; /* because somebody asked for it (run/stop.h); then it is unfinished */
	CTM_VEC(struct ctm_result) results;
	uint64_t untold; /* results beyond CTM_RESULTS_MAX */
	struct ctm_arena arena;
};

void ctm_outcome_done(struct ctm_outcome *out);
/**
 * Adds a result and counts it; the path is copied. EROFS on one device becomes one result. -ENOMEM.
 */
int ctm_outcome_add(struct ctm_outcome *out, const struct ctm_result *result);
/** Whether anything was left: exit status 4. */
bool ctm_outcome_partial(const struct ctm_outcome *out);

#endif
