/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts on their way from the process that reads a hostile tree to the one that judges.
 *
 * A stream of records in the byte order of the machine; both ends are one program. The writing side
 * may be several threads, each with an out of its own: whole records are written under a lock, and
 * each carries the number of its stream. The reading side takes nothing on trust: a reader of a
 * tree made to break it may be under somebody else's control, so every length, number, path and
 * text is checked before it is used, and a record has a limit in size.
 *
 * Paths are sent as a directory once per change of directory, of which only the part that differs
 * from the last one of the stream goes over the pipe, and as names in it.
 */
#ifndef CTM_SCAN_FEED_H
#define CTM_SCAN_FEED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "scan/fact.h"
#include "scan/scan.h"

/**
 * Longest path of a directory, and one name more; a walk does not go deeper. Sixteen times what a
 * system call takes (PATH_MAX). Every fact carries its path, into the plan, the record and the
 * report: were it longer, a few hundred directories below each other, which cost a tenant next to
 * nothing, would cost the host gigabytes.
 */
#define CTM_FEED_PATH_MAX (64u << 10)
/** NAME_MAX of every file system of Linux. */
#define CTM_FEED_NAME_MAX 255u
/** XATTR_SIZE_MAX of linux/limits.h. */
#define CTM_FEED_VALUE_MAX 65536u
/** No record is longer. */
#define CTM_FEED_RECORD_MAX (CTM_FEED_PATH_MAX + 4 * CTM_FEED_VALUE_MAX)
/** Number of streams of one pipe, at most. */
#define CTM_FEED_STREAMS_MAX 256u

/** What an error's op may say; the fact carries this very text. */
extern const char *const ctm_feed_ops[];
extern const size_t ctm_feed_ops_n;

/* --- the writing side ------------------------------------------------------------------------- */

struct ctm_feed_out {
	int fd;                /* borrowed */
	pthread_mutex_t *lock; /* held while writing; shared by all outs of the fd */
	uint16_t stream;
	struct ctm_buf buf;
	size_t dir_len; /* of the directory that was sent last */
};

void ctm_feed_out_init(struct ctm_feed_out *out, int fd, pthread_mutex_t *lock, uint16_t stream);
void ctm_feed_out_done(struct ctm_feed_out *out);

/* Records are collected and written when there are enough. All: -ENOMEM, or errno of write(2). */

/**
 * The directory of the facts that follow; the first same bytes (0, all, or up to a slash, of both)
 * are as in the last one. -EINVAL: longer than CTM_FEED_PATH_MAX.
 */
int ctm_feed_dir(struct ctm_feed_out *out, const char *dir, size_t len, size_t same);
/**
 * The fact's path is the directory itself or a name in it. Its op is one of ctm_feed_ops. -EINVAL
 * for a fact that the other side would refuse by size.
 */
int ctm_feed_fact(struct ctm_feed_out *out, const struct ctm_fact *fact);
int ctm_feed_totals(struct ctm_feed_out *out, const struct ctm_scan_totals *totals);
/** The scan ends early: positive errno and what failed (one of ctm_feed_ops). */
int ctm_feed_fail(struct ctm_feed_out *out, int err, const char *op);
/** The last record: all is said. */
int ctm_feed_end(struct ctm_feed_out *out);
int ctm_feed_flush(struct ctm_feed_out *out);

/* --- the reading side ------------------------------------------------------------------------- */

enum ctm_feed_kind {
	CTM_FEED_MORE, /* the bytes end within a record */
	CTM_FEED_FACT,
	CTM_FEED_FAIL,
	CTM_FEED_END,
};

struct ctm_feed_msg {
	enum ctm_feed_kind kind;
	struct ctm_fact fact; /* points into the input and the ctm_feed_in; until the next call */
	int err;              /* FAIL: positive errno */
	const char *op;       /* FAIL: static text */
};

struct ctm_feed_in {
	struct ctm_buf *path; /* of each stream: its directory, and room for a name behind it */
	size_t *dir_len;
	size_t n_streams;
	struct ctm_scan_totals
		totals; /* complete with CTM_FEED_END; whoever takes them zeroes them here */
	bool has_totals;
	bool ended;
};

/** n_streams: 1 to CTM_FEED_STREAMS_MAX. -ENOMEM. */
int ctm_feed_in_init(struct ctm_feed_in *in, size_t n_streams);
void ctm_feed_in_done(struct ctm_feed_in *in);

/**
 * Reads records from the bytes at p up to one that says something, and how many bytes were used up.
 * CTM_FEED_MORE: *ret_used may be less than len, give the rest again with more behind it (a buffer
 * of CTM_FEED_RECORD_MAX always is enough). -EBADMSG: not what a sane writer sends; -ENOMEM.
 */
int ctm_feed_next(struct ctm_feed_in *in, const void *p, size_t len, size_t *ret_used,
		  struct ctm_feed_msg *ret);

#endif
