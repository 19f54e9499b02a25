/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record of one run: the file "journal" of its directory.
 *
 * Layout, version 2. All integers in records are varints (7 bits a byte, least significant first,
 * the top bit says that more follow; at most 10 bytes) unless a width is given; those are little
 * endian. zz: zigzag, 0 -1 1 -2 ... as 0 1 2 3. str: length, bytes.
 *
 *	file    = "ctmend journal\n" version:u8 record...
 *	record  = length-of-body kind:u8 body crc:u32
 *	crc     = zlib's crc32 over the record's offset in the file as u64, then its bytes before
 *	          the crc: none can be lost, doubled or moved unseen
 *
 *	H  header, the first: (tag str)... Tags below 64 must be known to the reader.
 *	   1 program's version   2 target   3 volume's key   4 identity (ctm_identity_format())
 *	   5 map (ctm_idmap_format())   6 time: seconds in decimal   7 user   8 options
 *	   9 "repair" or "undo"   10 run that an undo takes back   11 digest of the plan   12 run
 *	   13 "hook" when a hook made it, else empty   14 of an undo of a part: which, else empty
 *	   64 the map that --from-map named (ctm_idmap_format()), else empty
 *	S R T W O  entries (run/entry.h), coded against the entry before: see run/codec.h
 *	Z  seal: number of entries, offset of this record, sha256[32] of removed.tar, of restore.tar
 *	   (all zero: there is no such file). Up to and with this record the file is written and on
 *	   stable storage before anything of the volume changes.
 *	D  done: first entry, count. All of these were handled, and the volume was synced after
 *	   that and before this was written.
 *	F  failed: entry, errno, str what was tried. It is not, or not wholly, in its after state.
 *	M  change time: entry, zz seconds and nanoseconds: the ctime that the run left on the inode
 *	   of an entry whose content is known by it. Written as D is, by who has proven the content.
 *	N  new inode: entry (a T), st_dev, st_ino, zz handle type, str handle: what the file came
 *	   back as.
 *	C  continued: zz time, str program's version, str user. An interrupted run was taken up.
 *	E  end: done, already so, conflicts, failed, zz time. Nothing follows.
 *
 * Of what follows the seal only a torn tail is forgiven: a record that runs past the end of the
 * file, or a damaged one after which no whole one follows, and which is more than a changed byte
 * away from being whole; never behind the end. It is as if it had not been written.
 */
#ifndef CTM_RUN_JOURNAL_H
#define CTM_RUN_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "run/entry.h"
#include "run/journal_header.h"

#define CTM_JOURNAL_FILE    "journal"
#define CTM_JOURNAL_VERSION 2

struct ctm_run_counts {
	uint64_t done;      /* now as they should be, by this run */
	uint64_t already;   /* were so when their turn came */
	uint64_t conflicts; /* were neither before nor after: left */
	uint64_t failed;    /* a call failed: left, perhaps half done */
};

struct ctm_run_seal {
	uint64_t entries;
	uint64_t offset; /* of the seal in the file */
	uint8_t removed_sha256[32];
	uint8_t restore_sha256[32];
};

/** The ctime that the run left on an inode, when all of the volume was synced. */
struct ctm_run_ctime {
	uint64_t entry;
	struct timespec ctime;
};

/** The inode that an entry's file came back as. */
struct ctm_run_came_back {
	uint64_t entry;
	uint64_t dev;
	uint64_t ino;
	struct ctm_handle handle;
};

/* --- writing --- */

struct ctm_journal;

/**
 * Creates the file in a new run's directory and writes the header. Before it is sealed it may take
 * half of what is free there now; an entry beyond that fails with -ENOSPC.
 */
int ctm_journal_create(int dirfd, const struct ctm_run_header *header, struct ctm_journal **ret,
		       struct ctm_err *err);
int ctm_journal_add(struct ctm_journal *j, const struct ctm_entry *entry, struct ctm_err *err);
uint64_t ctm_journal_entries(const struct ctm_journal *j);
/** Writes the seal (entries and offset are filled in) and syncs the file. */
int ctm_journal_seal(struct ctm_journal *j, const struct ctm_run_seal *seal, struct ctm_err *err);

/** Opens a sealed one for appending; cuts a torn tail off. */
struct ctm_reader;
int ctm_journal_append(int dirfd, const struct ctm_reader *reader, struct ctm_journal **ret,
		       struct ctm_err *err);
int ctm_journal_failed(struct ctm_journal *j, uint64_t entry, int errnum, const char *what,
		       struct ctm_err *err);
int ctm_journal_ctime(struct ctm_journal *j, const struct ctm_run_ctime *mark, struct ctm_err *err);
int ctm_journal_came_back(struct ctm_journal *j, const struct ctm_run_came_back *mark,
			  struct ctm_err *err);
/** What was put so far is on stable storage. */
int ctm_journal_sync(struct ctm_journal *j, struct ctm_err *err);
/** Writes the mark and syncs; the caller has synced the volume. */
int ctm_journal_done(struct ctm_journal *j, uint64_t first, uint64_t n, struct ctm_err *err);
int ctm_journal_continued(struct ctm_journal *j, int64_t time, const char *version,
			  const char *user, struct ctm_err *err);
/** Writes the end and syncs. */
int ctm_journal_end(struct ctm_journal *j, const struct ctm_run_counts *counts, int64_t time,
		    struct ctm_err *err);
void ctm_journal_free(struct ctm_journal *j);
static inline void ctm_journal_freep(struct ctm_journal **j)
{
	ctm_journal_free(*j);
}

/* --- reading --- */

/** An entry that the run could not bring to its after state. */
struct ctm_run_failure {
	uint64_t entry;
	int errnum;
	char what[32];
};

/**
 * Opens, and reads the file once from front to back, so that damage is known before anything acts
 * on it: CTM_CORRUPT, also for one of a format below CTM_JOURNAL_VERSION. One of a newer program,
 * -EPROTONOSUPPORT, is CTM_REFUSED. Memory does not grow with the number of entries beyond one word
 * for each CTM_CODEC_BLOCK of them.
 */
int ctm_reader_open(int dirfd, struct ctm_reader **ret, struct ctm_err *err);
/**
 * Whether the record in this directory has an end, without reading it: 1, 0, or negative errno.
 * Says nothing about damage elsewhere in it; of a format that is not known it says 0.
 */
int ctm_journal_has_end(int dirfd);
/** Whether a hook made it, from the header alone: 1, 0, negative errno: that is not known. */
int ctm_journal_by_hook(int dirfd);
void ctm_reader_free(struct ctm_reader *r);
static inline void ctm_reader_freep(struct ctm_reader **r)
{
	ctm_reader_free(*r);
}
const struct ctm_run_header *ctm_reader_header(const struct ctm_reader *r);
const struct ctm_run_seal *ctm_reader_seal(const struct ctm_reader *r);
uint64_t ctm_reader_count(const struct ctm_reader *r, enum ctm_entry_kind kind);
/** Size of the file in bytes, and of its part before a torn tail. */
uint64_t ctm_reader_size(const struct ctm_reader *r);
uint64_t ctm_reader_whole(const struct ctm_reader *r);
/** NULL: the run has not ended. */
const struct ctm_run_counts *ctm_reader_end(const struct ctm_reader *r, int64_t *ret_time);
/** Whether it was interrupted and taken up again, once or more. */
bool ctm_reader_continued(const struct ctm_reader *r);
bool ctm_reader_torn(const struct ctm_reader *r);
/** Whether the entry is marked done, and whether it is marked failed. */
bool ctm_reader_is_done(const struct ctm_reader *r, uint64_t entry);
const struct ctm_run_failure *ctm_reader_failure(const struct ctm_reader *r, uint64_t entry);
/** NULL: there is no such mark. */
const struct ctm_run_ctime *ctm_reader_ctime(const struct ctm_reader *r, uint64_t entry);
const struct ctm_run_came_back *ctm_reader_came_back(const struct ctm_reader *r, uint64_t entry);

/**
 * 1 and the next entry with its number, 0 after the last. Valid until the next call on the reader.
 */
int ctm_reader_next(struct ctm_reader *r, struct ctm_entry *ret, uint64_t *ret_index,
		    struct ctm_err *err);
/** The same from the last to the first. */
int ctm_reader_prev(struct ctm_reader *r, struct ctm_entry *ret, uint64_t *ret_index,
		    struct ctm_err *err);
/** To the front (ctm_reader_next() starts over) or behind the last entry. */
void ctm_reader_rewind(struct ctm_reader *r);
void ctm_reader_to_end(struct ctm_reader *r);

#endif
