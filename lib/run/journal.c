/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing the record of a run. */
#include "run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "run/codec.h"
#include "run/journal_frame.h"
#include "run/journal_header.h"
#include "run/wire.h"

CTM_HOST_PATHS

#define FLUSH_AT ((size_t)64 << 10)
/* Room for marks and the end, so that a full disk cannot keep a finished run from saying so. */
#define TAIL_ROOM ((off_t)64 << 10)

struct ctm_journal {
	int fd;
	uint64_t written; /* bytes of the file */
	uint64_t room;    /* bytes that it may take before it is sealed */
	struct ctm_buf pending;
	struct ctm_buf body;
	struct ctm_codec codec;
	uint64_t entries;
};

void ctm_journal_free(struct ctm_journal *j)
{
	if (!j) {
		return;
	}
	ctm_closep(&j->fd);
	ctm_buf_done(&j->pending);
	ctm_buf_done(&j->body);
	ctm_codec_done(&j->codec);
	free(j);
}

static int fail(struct ctm_err *err, int r)
{
	return ctm_err_set(err, CTM_SYS, r, "write the record '%s'", CTM_JOURNAL_FILE);
}

/* A container may have any number of inodes; their record must not fill the host's disk. */
static int find_room(struct ctm_journal *j, struct ctm_err *err)
{
	struct statvfs st;

	if (fstatvfs(j->fd, &st) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "ask for the room of the record");
	}
	j->room = (uint64_t)st.f_bavail * st.f_frsize / 2;
	return 0;
}

static int flush(struct ctm_journal *j, struct ctm_err *err)
{
	size_t at = 0;

	if (j->pending.len > j->room || j->written > j->room - j->pending.len) {
		return ctm_err_set(err, CTM_SYS, ENOSPC,
				   "the record would take more than half of what is free for it, "
				   "%llu MiB",
				   (unsigned long long)j->room >> 20);
	}
	while (at < j->pending.len) {
		ssize_t n = pwrite(j->fd, j->pending.p + at, j->pending.len - at,
				   (off_t)(j->written + at));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return fail(err, n < 0 ? errno : EIO);
		}
		at += (size_t)n;
	}
	j->written += at;
	j->pending.len = 0;
	return 0;
}

int ctm_journal_sync(struct ctm_journal *j, struct ctm_err *err)
{
	int r = flush(j, err);

	if (r < 0) {
		return r;
	}
	return fdatasync(j->fd) < 0 ? ctm_err_set(err, CTM_SYS, errno, "sync the record") : 0;
}

/* Puts the record with the body that was built; r is what building it gave. */
static int put(struct ctm_journal *j, unsigned char kind, int r, struct ctm_err *err)
{
	struct ctm_bytes body = { .p = j->body.p, .len = j->body.len };

	if (r == 0) {
		r = ctm_frame_put(&j->pending, j->written + j->pending.len, kind, body);
	}
	j->body.len = 0;
	if (r < 0) {
		return fail(err, r);
	}
	return j->pending.len >= FLUSH_AT ? flush(j, err) : 0;
}

static struct ctm_journal *new_journal(int fd)
{
	struct ctm_journal *j = calloc(1, sizeof(*j));

	if (j) {
		j->fd = fd;
		j->room = UINT64_MAX;
	}
	return j;
}

int ctm_journal_create(int dirfd, const struct ctm_run_header *header, struct ctm_journal **ret,
		       struct ctm_err *err)
{
	static const unsigned char version = CTM_JOURNAL_VERSION;
	CLEANUP(ctm_journal_freep) struct ctm_journal *j = NULL;
	CLEANUP_CLOSE int fd = -1;
	int r;

	fd = openat(dirfd, CTM_JOURNAL_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "create the record '%s'", CTM_JOURNAL_FILE);
	}
	j = new_journal(fd);
	if (!j) {
		return ctm_err_nomem(err);
	}
	(void)TAKE_FD(fd);
	r = find_room(j, err);
	if (r < 0) {
		return r;
	}
	r = ctm_buf_add(&j->pending, CTM_FRAME_MAGIC, CTM_FRAME_MAGIC_LEN);
	if (r == 0) {
		r = ctm_buf_add(&j->pending, &version, 1);
	}
	if (r == 0) {
		r = ctm_header_put(header, &j->body);
	}
	r = put(j, 'H', r, err);
	if (r == 0) {
		*ret = TAKE_PTR(j);
	}
	return r;
}

int ctm_journal_add(struct ctm_journal *j, const struct ctm_entry *entry, struct ctm_err *err)
{
	int r;

	if (j->entries % CTM_CODEC_BLOCK == 0) {
		ctm_codec_reset(&j->codec);
	}
	r = put(j, (unsigned char)entry->kind, ctm_codec_put(&j->codec, entry, &j->body), err);
	if (r == 0) {
		j->entries++;
	}
	return r;
}

uint64_t ctm_journal_entries(const struct ctm_journal *j)
{
	return j->entries;
}

int ctm_journal_seal(struct ctm_journal *j, const struct ctm_run_seal *seal, struct ctm_err *err)
{
	struct ctm_wire_out out = { .buf = &j->body };
	int r;

	ctm_wire_put(&out, j->entries);
	ctm_wire_put(&out, j->written + j->pending.len);
	ctm_wire_put_raw(&out, seal->removed_sha256, sizeof(seal->removed_sha256));
	ctm_wire_put_raw(&out, seal->restore_sha256, sizeof(seal->restore_sha256));
	r = put(j, 'Z', out.r, err);
	if (r == 0) {
		r = flush(j, err);
	}
	if (r < 0) {
		return r;
	}
	j->room = UINT64_MAX; /* from here on the volume's state depends on it */
	/* Not every file system can; then the marks take their chance. */
	(void)fallocate(j->fd, FALLOC_FL_KEEP_SIZE, (off_t)j->written, TAIL_ROOM);
	return fsync(j->fd) < 0 ? ctm_err_set(err, CTM_SYS, errno, "sync the record") : 0;
}

int ctm_journal_append(int dirfd, const struct ctm_reader *reader, struct ctm_journal **ret,
		       struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = -1;
	uint64_t keep = ctm_reader_whole(reader);
	struct ctm_journal *j;

	fd = openat(dirfd, CTM_JOURNAL_FILE, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "open the record '%s'", CTM_JOURNAL_FILE);
	}
	if (ctm_reader_torn(reader) && ftruncate(fd, (off_t)keep) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "cut the torn end off the record");
	}
	j = new_journal(fd);
	if (!j) {
		return ctm_err_nomem(err);
	}
	(void)TAKE_FD(fd);
	j->written = keep;
	j->entries = ctm_reader_seal(reader)->entries;
	*ret = j;
	return 0;
}

int ctm_journal_failed(struct ctm_journal *j, uint64_t entry, int errnum, const char *what,
		       struct ctm_err *err)
{
	struct ctm_wire_out out = { .buf = &j->body };

	ctm_wire_put(&out, entry);
	ctm_wire_put(&out, (uint64_t)errnum);
	ctm_wire_put_bytes(&out, what, strlen(what));
	return put(j, 'F', out.r, err);
}

int ctm_journal_ctime(struct ctm_journal *j, const struct ctm_run_ctime *mark, struct ctm_err *err)
{
	struct ctm_wire_out out = { .buf = &j->body };

	ctm_wire_put(&out, mark->entry);
	ctm_wire_put_time(&out, mark->ctime);
	return put(j, 'M', out.r, err);
}

int ctm_journal_came_back(struct ctm_journal *j, const struct ctm_run_came_back *mark,
			  struct ctm_err *err)
{
	struct ctm_wire_out out = { .buf = &j->body };

	ctm_wire_put(&out, mark->entry);
	ctm_wire_put(&out, mark->dev);
	ctm_wire_put(&out, mark->ino);
	ctm_wire_put_signed(&out, mark->handle.type);
	ctm_wire_put_bytes(&out, mark->handle.bytes, mark->handle.len);
	return put(j, 'N', out.r, err);
}

int ctm_journal_done(struct ctm_journal *j, uint64_t first, uint64_t n, struct ctm_err *err)
{
	struct ctm_wire_out out = { .buf = &j->body };
	int r;

	ctm_wire_put(&out, first);
	ctm_wire_put(&out, n);
	r = put(j, 'D', out.r, err);
	return r < 0 ? r : ctm_journal_sync(j, err);
}

int ctm_journal_continued(struct ctm_journal *j, int64_t time, const char *version,
			  const char *user, struct ctm_err *err)
{
	struct ctm_wire_out out = { .buf = &j->body };
	int r;

	ctm_wire_put_signed(&out, time);
	ctm_wire_put_bytes(&out, version, strlen(version));
	ctm_wire_put_bytes(&out, user, strlen(user));
	r = put(j, 'C', out.r, err);
	return r < 0 ? r : ctm_journal_sync(j, err);
}

int ctm_journal_end(struct ctm_journal *j, const struct ctm_run_counts *counts, int64_t time,
		    struct ctm_err *err)
{
	struct ctm_wire_out out = { .buf = &j->body };
	int r;

	ctm_wire_put(&out, counts->done);
	ctm_wire_put(&out, counts->already);
	ctm_wire_put(&out, counts->conflicts);
	ctm_wire_put(&out, counts->failed);
	ctm_wire_put_signed(&out, time);
	r = put(j, 'E', out.r, err);
	if (r < 0) {
		return r;
	}
	r = ctm_journal_sync(j, err);
	/* What was kept free for the marks goes back; if it does not, only room is lost. */
	if (r == 0 && ftruncate(j->fd, (off_t)j->written) < 0) {
		CTM_DEBUG("journal", "ftruncate: errno %d", errno);
	}
	return r;
}
