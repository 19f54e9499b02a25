/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening the record of a run: all of it is checked before anything acts on it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/journal_parts.h"
#include "run/wire.h"

CTM_HOST_PATHS

#define FAILURES_MEMORY ((size_t)16 << 20)

static int read_failed(struct ctm_err *err, int r)
{
	return ctm_err_set(err, CTM_SYS, r, "read the record");
}

static int read_magic(struct ctm_reader *r, struct ctm_err *err)
{
	unsigned char start[CTM_FRAME_START];
	ssize_t n = pread(r->fd, start, sizeof(start), 0);

	if (n < 0) {
		return read_failed(err, errno);
	}
	if ((size_t)n < sizeof(start) || memcmp(start, CTM_FRAME_MAGIC, CTM_FRAME_MAGIC_LEN) != 0) {
		return ctm_reader_damaged(err, 0, "it does not begin like one");
	}
	if (start[CTM_FRAME_MAGIC_LEN] < CTM_JOURNAL_VERSION) {
		return ctm_err_set(err, CTM_CORRUPT, EBADMSG,
				   "the record has format %u, which no release has written",
				   start[CTM_FRAME_MAGIC_LEN]);
	}
	if (start[CTM_FRAME_MAGIC_LEN] > CTM_JOURNAL_VERSION) {
		return ctm_err_set(err, CTM_REFUSED, EPROTONOSUPPORT,
				   "the record has format %u, this program knows format %u",
				   start[CTM_FRAME_MAGIC_LEN], CTM_JOURNAL_VERSION);
	}
	r->frames.offset = CTM_FRAME_START;
	return 0;
}

static int read_header(struct ctm_reader *r, struct ctm_err *err)
{
	struct ctm_frame frame;
	int e = ctm_reader_frame(r, &frame, err);

	if (e < 0) {
		return e;
	}
	if (frame.kind != 'H') {
		return ctm_reader_damaged(err, frame.offset, "no header");
	}
	e = ctm_header_get(frame.body, &r->arena, &r->header);
	switch (e) {
	case 0:
		return 0;
	case -ENOMEM:
		return ctm_err_nomem(err);
	case -EPROTONOSUPPORT:
		return ctm_err_set(err, CTM_REFUSED, EPROTONOSUPPORT,
				   "the record's header has fields of a newer program");
	default:
		return ctm_reader_damaged(err, frame.offset, "the header makes no sense");
	}
}

static int check_entry(struct ctm_reader *r, const struct ctm_frame *frame, struct ctm_err *err)
{
	struct ctm_entry entry;
	int e;

	if (r->at % CTM_CODEC_BLOCK == 0) {
		e = ctm_vec_push(&r->blocks, &frame->offset);
		if (e < 0) {
			return ctm_err_nomem(err);
		}
	}
	ctm_arena_done(&r->scratch);
	e = ctm_reader_decode(r, frame, &r->scratch, &entry, err);
	if (e == 0) {
		r->removals += entry.kind == CTM_ENTRY_REMOVE;
		r->restores += entry.kind == CTM_ENTRY_RESTORE;
		r->writables += entry.kind == CTM_ENTRY_WRITABLE;
		r->readonlys += entry.kind == CTM_ENTRY_READONLY;
	}
	return e;
}

static int read_seal(struct ctm_reader *r, const struct ctm_frame *frame, struct ctm_err *err)
{
	struct ctm_wire w = ctm_wire_of(frame->body);
	struct ctm_bytes removed, restore;

	r->seal.entries = ctm_wire_get(&w);
	r->seal.offset = ctm_wire_get(&w);
	removed = ctm_wire_get_raw(&w, sizeof(r->seal.removed_sha256));
	restore = ctm_wire_get_raw(&w, sizeof(r->seal.restore_sha256));
	if (!ctm_wire_ended(&w) || r->seal.offset != frame->offset) {
		return ctm_reader_damaged(err, frame->offset, "the seal makes no sense");
	}
	memcpy(r->seal.removed_sha256, removed.p, removed.len);
	memcpy(r->seal.restore_sha256, restore.p, restore.len);
	if (r->seal.entries != r->at) {
		return ctm_reader_damaged(err, frame->offset, "entries are missing");
	}
	return 0;
}

static int check_sealed(struct ctm_reader *r, struct ctm_err *err)
{
	for (;;) {
		struct ctm_frame frame;
		int e = ctm_reader_frame(r, &frame, err);

		if (e < 0) {
			return e;
		}
		switch (frame.kind) {
		case CTM_ENTRY_SET:
		case CTM_ENTRY_REMOVE:
		case CTM_ENTRY_RESTORE:
		case CTM_ENTRY_WRITABLE:
		case CTM_ENTRY_READONLY:
			e = check_entry(r, &frame, err);
			break;
		case 'Z':
			return read_seal(r, &frame, err);
		default:
			e = ctm_reader_damaged(err, frame.offset,
					       "a kind of record that does not belong here");
		}
		if (e < 0) {
			return e;
		}
	}
}

/* A record behind the seal that is cut or bad: forgiven where it was only torn in writing. */
static int check_torn(struct ctm_reader *r, struct ctm_err *err)
{
	int e = r->tail.ended ? 1 : ctm_frames_any_after(&r->frames);

	if (e == 0) {
		e = ctm_frames_one_off(&r->frames);
	}
	if (e == 0) {
		return 0;
	}
	return e < 0 ? read_failed(err, e) :
		       ctm_reader_damaged(err, r->frames.offset, "wrong checksum");
}

static int check_tail(struct ctm_reader *r, struct ctm_err *err)
{
	for (;;) {
		struct ctm_frame frame;
		int e = ctm_frames_next(&r->frames, &frame);

		r->whole = r->frames.offset;
		if (e == CTM_FRAME_END) {
			return 0;
		}
		if (e == CTM_FRAME_CUT || e == CTM_FRAME_BAD) {
			return check_torn(r, err);
		}
		if (e < 0) {
			return read_failed(err, e);
		}
		e = ctm_tail_take(&r->tail, &frame, r->seal.entries);
		if (e == -ENOMEM) {
			return ctm_err_nomem(err);
		}
		if (e < 0) {
			return ctm_reader_damaged(err, frame.offset, "a mark makes no sense");
		}
	}
}

static int open_file(struct ctm_reader *r, int dirfd, struct ctm_err *err)
{
	struct stat st;

	r->fd = openat(dirfd, CTM_JOURNAL_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (r->fd < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "open the record '%s'", CTM_JOURNAL_FILE);
	}
	if (fstat(r->fd, &st) < 0) {
		return read_failed(err, errno);
	}
	if (!S_ISREG(st.st_mode)) {
		return ctm_reader_damaged(err, 0, "it is no regular file");
	}
	r->frames.fd = r->fd;
	r->frames.size = (uint64_t)st.st_size;
	return 0;
}

int ctm_journal_by_hook(int dirfd)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *r = calloc(1, sizeof(*r));
	int e = r ? open_file(r, dirfd, NULL) : -ENOMEM;

	if (e == 0) {
		e = read_magic(r, NULL);
	}
	if (e == 0) {
		e = read_header(r, NULL);
	}
	if (e < 0) {
		return e;
	}
	return r->header.caller && strcmp(r->header.caller, "hook") == 0;
}

int ctm_reader_open(int dirfd, struct ctm_reader **ret, struct ctm_err *err)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *r = calloc(1, sizeof(*r));
	char beside[40];
	int e;

	if (!r) {
		return ctm_err_nomem(err);
	}
	e = open_file(r, dirfd, err);
	if (e < 0) {
		return e;
	}
	/* beside the record, while that is open here */
	(void)snprintf(beside, sizeof(beside), "/proc/self/fd/%d", dirfd);
	if (ctm_spill_new(beside, FAILURES_MEMORY, &r->tail.spill) < 0) {
		return ctm_err_nomem(err);
	}
	e = read_magic(r, err);
	if (e == 0) {
		e = read_header(r, err);
	}
	if (e == 0) {
		e = check_sealed(r, err);
	}
	if (e == 0) {
		e = check_tail(r, err);
	}
	if (e < 0) {
		return e;
	}
	ctm_reader_rewind(r);
	*ret = TAKE_PTR(r);
	return 0;
}

int ctm_journal_has_end(int dirfd)
{
	CLEANUP_CLOSE int fd =
		openat(dirfd, CTM_JOURNAL_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct ctm_frames frames = { .fd = fd };
	unsigned char version = 0;
	struct ctm_frame last;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		return -EBADMSG;
	}
	/* what the last bytes of another format mean is not known */
	if (pread(fd, &version, 1, CTM_FRAME_MAGIC_LEN) != 1 || version != CTM_JOURNAL_VERSION) {
		return 0;
	}
	frames.size = (uint64_t)st.st_size;
	r = ctm_frames_last(&frames, &last);
	if (r > 0) {
		r = last.kind == 'E';
	}
	ctm_frames_done(&frames);
	return r;
}
