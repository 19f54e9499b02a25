/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apply: brings a volume from the before to the after of every entry of a sealed record.
 *
 * The same engine repairs, takes back and finishes what was interrupted: only the record differs.
 */
#ifndef CTM_RUN_APPLY_H
#define CTM_RUN_APPLY_H

#include "run/entry.h"
#include "run/journal.h"
#include "run/outcome.h"
#include "run/stop.h"

/** What the engine works with; all borrowed. */
struct ctm_apply {
	const struct ctm_ops *ops;
	void *fs;
	struct ctm_reader *reader;
	struct ctm_journal *journal; /* open for appending */
	int run_dir;                 /* of the run: restore.tar is there */
	/* the run was interrupted: half-done inodes are finished, marked entries skipped */
	bool resume;
	struct ctm_stop *stop;    /* NULL: nobody asks */
	ctm_progress_fn progress; /* NULL: none */
	void *progress_arg;
};

/**
 * Entries that cannot be done are results in out, not errors. An error means that the record could
 * not be read or the volume not be synced.
 */
int ctm_apply_run(const struct ctm_apply *a, struct ctm_outcome *out, struct ctm_err *err);

#endif
