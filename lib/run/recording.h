/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record of a run in the making: until it is sealed, the volume has not changed and giving it
 * up leaves nothing behind.
 */
#ifndef CTM_RUN_RECORDING_H
#define CTM_RUN_RECORDING_H

#include "base/err.h"
#include "run/archive.h"
#include "run/journal.h"
#include "run/outcome.h"
#include "run/repair.h"

struct ctm_recording {
	const struct ctm_run *run;
	char name[CTM_RUN_NAME_MAX];
	int dir; /* of the run; -1 before it began */
	struct ctm_journal *journal;
	struct ctm_archive_writer *archive; /* NULL: no file was saved */
	struct ctm_run_seal seal;
	bool sealed;
	uint64_t readable; /* bytes of privileged files that may still be read (run/privileged.h) */
};

/**
 * undoes: of an undo, the header of the run that it takes back, whose map it has too; else NULL.
 */
int ctm_recording_begin(struct ctm_recording *rec, const struct ctm_run *run,
			const struct ctm_run_header *undoes, const char *digest,
			struct ctm_err *err);
/** Adds an entry that is no REMOVE. */
int ctm_recording_add(struct ctm_recording *rec, const struct ctm_entry *entry,
		      struct ctm_err *err);
/**
 * Saves the file of a REMOVE entry and adds it. -ESTALE (err untouched): its content is not the
 * recorded one, nothing was added.
 */
int ctm_recording_save(struct ctm_recording *rec, const struct ctm_entry *entry,
		       struct ctm_err *err);
/**
 * Gives the run the saved files of the run it takes back: from_dir's removed.tar becomes its
 * restore.tar.
 */
int ctm_recording_link_saved(struct ctm_recording *rec, int from_dir,
			     const uint8_t sha256[static 32], struct ctm_err *err);
uint64_t ctm_recording_entries(const struct ctm_recording *rec);
/** Everything to stable storage, and the run gets its name. */
int ctm_recording_seal(struct ctm_recording *rec, struct ctm_err *err);
/** Applies the sealed record to the volume. */
int ctm_recording_apply(struct ctm_recording *rec, struct ctm_outcome *out, struct ctm_err *err);
/**
 * For any error before the record was sealed, r: prepends that nothing was changed. Where room was
 * missing, err becomes CTM_REFUSED, with a hint. Returns the error.
 */
int ctm_recording_failed(int r, struct ctm_err *err);
/** Gives up what is not sealed. */
void ctm_recording_done(struct ctm_recording *rec);

/** Applies a sealed run. resume: it was interrupted. */
int ctm_run_apply(const struct ctm_run *run, const char *name, bool resume, struct ctm_outcome *out,
		  struct ctm_err *err);
/** CTM_REFUSED unless the record is of this volume and, where run has a map, with this map. */
int ctm_run_match(const struct ctm_run *run, const struct ctm_run_header *header,
		  struct ctm_err *err);

#endif
