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
#ifndef CTM_SCAN_WIRE_H
#define CTM_SCAN_WIRE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "scan/fact.h"
#include "scan/scan.h"

/** Longest path of a directory, and one name more; a walk does not go deeper. */
#define CTM_WIRE_PATH_MAX (4u << 20)
/** NAME_MAX of every file system of Linux. */
#define CTM_WIRE_NAME_MAX 255u
/** XATTR_SIZE_MAX of linux/limits.h. */
#define CTM_WIRE_VALUE_MAX 65536u
/** No record is longer. */
#define CTM_WIRE_RECORD_MAX (CTM_WIRE_PATH_MAX + 64)
/** Number of streams of one pipe, at most. */
#define CTM_WIRE_STREAMS_MAX 256u

/** What an error's op may say; the fact carries this very text. */
extern const char *const ctm_wire_ops[];
extern const size_t ctm_wire_ops_n;

/* --- the writing side ------------------------------------------------------------------------- */

struct ctm_wire_out {
	int fd;                /* borrowed */
	pthread_mutex_t *lock; /* held while writing; shared by all outs of the fd */
	uint16_t stream;
	struct ctm_buf buf;
	size_t dir_len; /* of the directory that was sent last */
};

void ctm_wire_out_init(struct ctm_wire_out *out, int fd, pthread_mutex_t *lock, uint16_t stream);
void ctm_wire_out_done(struct ctm_wire_out *out);

/* Records are collected and written when there are enough. All: -ENOMEM, or errno of write(2). */

/**
 * The directory of the facts that follow; the first same bytes (0, all, or up to a slash, of both)
 * are as in the last one. -EINVAL: longer than CTM_WIRE_PATH_MAX.
 */
int ctm_wire_dir(struct ctm_wire_out *out, const char *dir, size_t len, size_t same);
/**
 * The fact's path is the directory itself or a name in it. Its op is one of ctm_wire_ops. -EINVAL
 * for a fact that the other side would refuse by size.
 */
int ctm_wire_fact(struct ctm_wire_out *out, const struct ctm_fact *fact);
int ctm_wire_totals(struct ctm_wire_out *out, const struct ctm_scan_totals *totals);
/** The scan ends early: positive errno and what failed (one of ctm_wire_ops). */
int ctm_wire_fail(struct ctm_wire_out *out, int err, const char *op);
/** The last record: all is said. */
int ctm_wire_end(struct ctm_wire_out *out);
int ctm_wire_flush(struct ctm_wire_out *out);

/* --- the reading side ------------------------------------------------------------------------- */

enum ctm_wire_kind {
	CTM_WIRE_MORE, /* the bytes end within a record */
	CTM_WIRE_FACT,
	CTM_WIRE_FAIL,
	CTM_WIRE_END,
};

struct ctm_wire_msg {
	enum ctm_wire_kind kind;
	struct ctm_fact fact; /* points into the input and the ctm_wire_in; until the next call */
	int err;              /* FAIL: positive errno */
	const char *op;       /* FAIL: static text */
};

struct ctm_wire_in {
	struct ctm_buf *path; /* of each stream: its directory, and room for a name behind it */
	size_t *dir_len;
	size_t n_streams;
	struct ctm_scan_totals
		totals; /* complete with CTM_WIRE_END; whoever takes them zeroes them here */
	bool has_totals;
	bool ended;
};

/** n_streams: 1 to CTM_WIRE_STREAMS_MAX. -ENOMEM. */
int ctm_wire_in_init(struct ctm_wire_in *in, size_t n_streams);
void ctm_wire_in_done(struct ctm_wire_in *in);

/**
 * Reads records from the bytes at p up to one that says something, and how many bytes were used up.
 * CTM_WIRE_MORE: *ret_used may be less than len, give the rest again with more behind it (a buffer
 * of CTM_WIRE_RECORD_MAX always is enough). -EBADMSG: not what a sane writer sends; -ENOMEM.
 */
int ctm_wire_next(struct ctm_wire_in *in, const void *p, size_t len, size_t *ret_used,
		  struct ctm_wire_msg *ret);

#endif
