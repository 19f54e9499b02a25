/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removed files, kept in a pax archive that bsdtar can read: content, owner, mode, times, ACLs,
 * xattrs.
 *
 * libarchive never sees a path of the volume as something to open: it gets bytes from descriptors,
 * and gives bytes to descriptors.
 */
#ifndef CTM_RUN_ARCHIVE_H
#define CTM_RUN_ARCHIVE_H

#include <stdint.h>

#include "base/err.h"
#include "run/entry.h"

#define CTM_ARCHIVE_REMOVED "removed.tar"
#define CTM_ARCHIVE_RESTORE "restore.tar"

/** A longer file is not saved, however little of it is data: to go over it takes time. */
#define CTM_ARCHIVE_LENGTH_MAX (UINT64_C(4) << 30)

/**
 * How much room the archive takes for this file: fd is readable, of the entry its path and access
 * ACL count. Holes take none. A file without content may have many attributes, and a directory many
 * files without content. -EFBIG: more than most bytes.
 */
int ctm_archive_room(int fd, const struct ctm_entry *entry, uint64_t most, uint64_t *ret);

struct ctm_archive_writer;

/** Creates removed.tar in the run's directory. */
int ctm_archive_create(int run_dir, struct ctm_archive_writer **ret, struct ctm_err *err);
/**
 * Saves the file behind the readable descriptor fd under entry->ref.path, its holes as holes. entry
 * has the state, size and mtime; its sha256 is compared with the content that was read, by
 * run/contentsum.h: -ESTALE (err untouched)
 * when it is another or the size changed. Then the archive holds something that no record names,
 * which is harmless.
 */
int ctm_archive_save(struct ctm_archive_writer *w, int fd, const struct ctm_entry *entry,
		     struct ctm_err *err);
/** Ends and syncs the file; its SHA-256. */
int ctm_archive_close(struct ctm_archive_writer *w, uint8_t ret_sha256[static 32],
		      struct ctm_err *err);
void ctm_archive_writer_free(struct ctm_archive_writer *w);
static inline void ctm_archive_writer_freep(struct ctm_archive_writer **w)
{
	ctm_archive_writer_free(*w);
}

/** CTM_CORRUPT unless the file has this SHA-256. */
int ctm_archive_verify(int run_dir, const char *file, const uint8_t sha256[static 32],
		       struct ctm_err *err);

struct ctm_archive_reader;

int ctm_archive_open(int run_dir, const char *file, struct ctm_archive_reader **ret,
		     struct ctm_err *err);
void ctm_archive_reader_free(struct ctm_archive_reader *r);
static inline void ctm_archive_reader_freep(struct ctm_archive_reader **r)
{
	ctm_archive_reader_free(*r);
}
/**
 * Finds the saved file of a RESTORE entry and describes it for ctm_ops.restore: state and mtime
 * from the entry, the rest from the archive. Its content function leaves holes where there were
 * some, and checks entry->sha256 (-EBADMSG); the descriptor is that of an empty file.
 * Valid until the next call. Cheap when files are asked for in the order they were saved. -ENOENT:
 * the archive has none of that name.
 */
int ctm_archive_find(struct ctm_archive_reader *r, const struct ctm_entry *entry,
		     struct ctm_saved *ret, struct ctm_err *err);

#endif
