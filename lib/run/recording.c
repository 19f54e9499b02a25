/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of a run in the making. */
#include "run/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "run/apply.h"
#include "run/privileged.h"

CTM_HOST_PATHS

static int write_header(struct ctm_recording *rec, const struct ctm_run_header *undoes,
			const char *digest, struct ctm_err *err)
{
	const struct ctm_run *run = rec->run;
	CLEANUP(ctm_buf_done) struct ctm_buf identity = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf map = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf from = { 0 };
	struct ctm_run_header header = {
		.version = ctm_version,
		.target = run->target,
		.volume = run->volume,
		.time = time(NULL),
		.user = run->user,
		.options = run->options,
		.kind = undoes ? CTM_RUN_UNDO : CTM_RUN_REPAIR,
		.undoes = undoes ? undoes->run : "",
		.digest = digest,
		.run = rec->name,
		.caller = run->caller ? run->caller : "",
		.part = run->part ? run->part : "",
	};

	if (ctm_identity_format(run->identity, &identity) < 0 ||
	    (!undoes && ctm_idmap_format(run->map, &map) < 0) ||
	    (!undoes && run->from && ctm_idmap_format(run->from, &from) < 0)) {
		return ctm_err_nomem(err);
	}
	header.identity = identity.p ? identity.p : "";
	header.from = undoes ? undoes->from : from.p ? from.p : "";
	header.map = undoes ? undoes->map : map.p ? map.p : "";
	return ctm_journal_create(rec->dir, &header, &rec->journal, err);
}

int ctm_recording_begin(struct ctm_recording *rec, const struct ctm_run *run,
			const struct ctm_run_header *undoes, const char *digest,
			struct ctm_err *err)
{
	int r;

	*rec = (struct ctm_recording){ .run = run, .dir = -1, .readable = CTM_PRIVILEGED_RUN_MAX };
	r = ctm_state_begin(run->state, rec->name, &rec->dir, err);
	if (r == 0) {
		r = write_header(rec, undoes, digest, err);
	}
	if (r < 0) {
		ctm_recording_done(rec);
	}
	return r;
}

int ctm_recording_add(struct ctm_recording *rec, const struct ctm_entry *entry, struct ctm_err *err)
{
	return ctm_journal_add(rec->journal, entry, err);
}

int ctm_recording_save(struct ctm_recording *rec, const struct ctm_entry *entry,
		       struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = -1;
	int r = rec->run->ops->content(rec->run->fs, &entry->ref, &fd);

	if (r == -ESTALE || r == -EMEDIUMTYPE) {
		return -ESTALE;
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "open a file to save");
	}
	if (!rec->archive) {
		r = ctm_archive_create(rec->dir, &rec->archive, err);
	}
	if (r == 0) {
		r = ctm_archive_save(rec->archive, fd, entry, err);
	}
	return r == 0 ? ctm_journal_add(rec->journal, entry, err) : r;
}

int ctm_recording_link_saved(struct ctm_recording *rec, int from_dir,
			     const uint8_t sha256[static 32], struct ctm_err *err)
{
	int r = ctm_archive_verify(from_dir, CTM_ARCHIVE_REMOVED, sha256, err);

	if (r < 0) {
		return r;
	}
	if (linkat(from_dir, CTM_ARCHIVE_REMOVED, rec->dir, CTM_ARCHIVE_RESTORE, 0) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "link '%s'", CTM_ARCHIVE_RESTORE);
	}
	memcpy(rec->seal.restore_sha256, sha256, sizeof(rec->seal.restore_sha256));
	return 0;
}

uint64_t ctm_recording_entries(const struct ctm_recording *rec)
{
	return ctm_journal_entries(rec->journal);
}

int ctm_recording_seal(struct ctm_recording *rec, struct ctm_err *err)
{
	int r = 0;

	if (rec->archive) {
		r = ctm_archive_close(rec->archive, rec->seal.removed_sha256, err);
	}
	if (r == 0) {
		r = ctm_journal_seal(rec->journal, &rec->seal, err);
	}
	if (r == 0) {
		r = ctm_state_commit(rec->run->state, rec->name, rec->dir, err);
	}
	if (r == 0) {
		rec->sealed = true;
	}
	return r;
}

int ctm_recording_apply(struct ctm_recording *rec, struct ctm_outcome *out, struct ctm_err *err)
{
	return ctm_run_apply(rec->run, rec->name, false, out, err);
}

int ctm_recording_failed(int r, struct ctm_err *err)
{
	if (err && err->code == CTM_SYS && (r == -ENOSPC || r == -EDQUOT)) {
		err->code = CTM_REFUSED;
		ctm_err_hint(err, "make room in " CTM_PLACE_STATE);
	}
	(void)ctm_err_wrap(err, "nothing was changed");
	return r;
}

void ctm_recording_done(struct ctm_recording *rec)
{
	ctm_journal_free(rec->journal);
	ctm_archive_writer_free(rec->archive);
	if (rec->dir >= 0 && !rec->sealed) {
		ctm_state_abandon(rec->run->state, rec->name);
	}
	ctm_closep(&rec->dir);
	*rec = (struct ctm_recording){ .dir = -1 };
}

/*
 * Before anything goes on: what has gone already, or is still to go, must be there to come back.
 */
static int verify_archives(int dir, const struct ctm_reader *reader, struct ctm_err *err)
{
	static const uint8_t none[32];
	const struct ctm_run_seal *seal = ctm_reader_seal(reader);
	const struct {
		const char *file;
		const uint8_t *sha256;
	} archives[] = {
		{ CTM_ARCHIVE_REMOVED, seal->removed_sha256 },
		{ CTM_ARCHIVE_RESTORE, seal->restore_sha256 },
	};

	for (size_t i = 0; i < ARRAY_LEN(archives); i++) {
		int r = memcmp(archives[i].sha256, none, sizeof(none)) == 0 ?
				0 :
				ctm_archive_verify(dir, archives[i].file, archives[i].sha256, err);

		if (r < 0) {
			ctm_err_hint(err, "put it back from a backup of the records");
			return r;
		}
	}
	return 0;
}

int ctm_run_apply(const struct ctm_run *run, const char *name, bool resume, struct ctm_outcome *out,
		  struct ctm_err *err)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP(ctm_journal_freep) struct ctm_journal *journal = NULL;
	CLEANUP_CLOSE int dir = -1;
	int r = ctm_state_run_open(run->state, name, &dir, err);

	if (r == 0) {
		r = ctm_reader_open(dir, &reader, err);
	}
	if (r == 0) {
		r = ctm_run_match(run, ctm_reader_header(reader), err);
	}
	if (r == 0 && resume) {
		r = verify_archives(dir, reader, err);
	}
	if (r == 0) {
		r = ctm_journal_append(dir, reader, &journal, err);
	}
	if (r == 0 && resume) {
		r = ctm_journal_continued(journal, time(NULL), ctm_version, run->user, err);
	}
	if (r < 0) {
		return ctm_err_wrap(err, "run %s", name);
	}
	(void)memccpy(out->run, name, '\0', sizeof(out->run) - 1);
	return ctm_apply_run(
		&(struct ctm_apply){
			.ops = run->ops,
			.fs = run->fs,
			.reader = reader,
			.journal = journal,
			.run_dir = dir,
			.resume = resume,
			.stop = run->stop,
			.progress = run->progress,
			.progress_arg = run->progress_arg,
		},
		out, err);
}

int ctm_run_match(const struct ctm_run *run, const struct ctm_run_header *header,
		  struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf map = { 0 };
	struct ctm_identity recorded;
	int r = ctm_identity_parse((struct ctm_bytes){ .p = header->identity,
						       .len = strlen(header->identity) },
				   &recorded);

	if (r < 0) {
		return ctm_err_set(err, CTM_CORRUPT, 0, "the record names no volume");
	}
	r = ctm_identity_match(&recorded, run->identity, err);
	if (r < 0 || !run->map) {
		return r;
	}
	if (ctm_idmap_format(run->map, &map) < 0) {
		return ctm_err_nomem(err);
	}
	/* without a map ids are the same inside and outside: so did --from-map see it */
	if (ctm_idmap_empty(run->map, CTM_UID) && ctm_idmap_empty(run->map, CTM_GID) &&
	    header->from[0] != '\0' && strcmp(header->map, CTM_IDMAP_IDENTITY) == 0) {
		return 0;
	}
	if (strcmp(map.p ? map.p : "", header->map) != 0) {
		return ctm_err_set(err, CTM_REFUSED, 0, "the id map was '%s' then and is '%s' now",
				   header->map, map.p ? map.p : "");
	}
	return 0;
}
