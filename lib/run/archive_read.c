/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding saved files again. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "run/archive.h"
#include "run/content.h"
#include "run/contentsum.h"

CTM_HOST_PATHS

#define BLOCK ((size_t)64 << 10)

struct ctm_archive_reader {
	int fd;
	struct archive *a;
	struct archive_entry *entry; /* libarchive's */
	bool used;                   /* the content of the entry was read */
	char *block;
	uint64_t offset; /* what libarchive has read of the file */
	/* the file that was found */
	struct ctm_arena arena;
	CTM_VEC(struct ctm_xattr) xattrs;
	uint8_t sha256[32];
	uint64_t size;
};

void ctm_archive_reader_free(struct ctm_archive_reader *r)
{
	if (!r) {
		return;
	}
	(void)archive_read_free(r->a);
	ctm_closep(&r->fd);
	free(r->block);
	ctm_arena_done(&r->arena);
	ctm_vec_done(&r->xattrs);
	free(r);
}

static int open_file(int run_dir, const char *file, struct ctm_err *err)
{
	int fd = openat(run_dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? ctm_err_set(err, CTM_SYS, errno, "open '%s'", file) : fd;
}

int ctm_archive_verify(int run_dir, const char *file, const uint8_t sha256[static 32],
		       struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = open_file(run_dir, file, err);
	uint8_t now[32];
	int r;

	if (fd < 0) {
		return fd;
	}
	r = ctm_content_read(fd, UINT64_MAX, NULL, NULL, now);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "read '%s'", file);
	}
	return memcmp(now, sha256, sizeof(now)) == 0 ?
		       0 :
		       ctm_err_set(err, CTM_CORRUPT, 0,
				   "'%s' is damaged: it is not what the record says", file);
}

static la_ssize_t read_in(struct archive *a, void *arg, const void **ret)
{
	struct ctm_archive_reader *r = arg;
	ssize_t n;

	do {
		n = pread(r->fd, r->block, BLOCK, (off_t)r->offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		archive_set_error(a, errno, "%s", strerror(errno));
		return -1;
	}
	r->offset += (uint64_t)n;
	*ret = r->block;
	return n;
}

/* From the front, with nothing found yet. */
static int start(struct ctm_archive_reader *r)
{
	(void)archive_read_free(r->a);
	r->entry = NULL;
	r->offset = 0;
	r->a = archive_read_new();
	if (!r->a) {
		return -ENOMEM;
	}
	if (archive_read_support_format_tar(r->a) != ARCHIVE_OK ||
	    archive_read_open2(r->a, r, NULL, read_in, NULL, NULL) != ARCHIVE_OK) {
		return -EBADMSG;
	}
	return 0;
}

int ctm_archive_open(int run_dir, const char *file, struct ctm_archive_reader **ret,
		     struct ctm_err *err)
{
	CLEANUP(ctm_archive_reader_freep) struct ctm_archive_reader *r = calloc(1, sizeof(*r));
	int e;

	if (!r) {
		return ctm_err_nomem(err);
	}
	r->fd = open_file(run_dir, file, err);
	if (r->fd < 0) {
		return r->fd;
	}
	r->block = malloc(BLOCK);
	e = r->block ? start(r) : -ENOMEM;
	if (e < 0) {
		return ctm_err_set(err, CTM_CORRUPT, 0, "'%s' is no archive", file);
	}
	*ret = TAKE_PTR(r);
	return 0;
}

static bool is_it(struct archive_entry *entry, const struct ctm_ref *ref)
{
	const char *name = archive_entry_pathname(entry);

	return name && strlen(name) == ref->path_len && memcmp(name, ref->path, ref->path_len) == 0;
}

/* Goes on from where it stands to the file of that name. */
static int seek(struct ctm_archive_reader *r, const struct ctm_ref *ref)
{
	for (;;) {
		int e = archive_read_next_header(r->a, &r->entry);

		r->used = false;
		if (e == ARCHIVE_EOF) {
			r->entry = NULL;
			return -ENOENT;
		}
		if (e < ARCHIVE_WARN) {
			r->entry = NULL;
			return -EBADMSG;
		}
		if (is_it(r->entry, ref)) {
			return 0;
		}
	}
}

static int collect(struct ctm_archive_reader *r)
{
	const char *name;
	const void *p;
	size_t len;

	ctm_arena_done(&r->arena);
	r->xattrs.n = 0;
	(void)archive_entry_xattr_reset(r->entry);
	while (archive_entry_xattr_next(r->entry, &name, &p, &len) == ARCHIVE_OK) {
		struct ctm_xattr x = { .name = ctm_arena_dup(&r->arena, name, strlen(name)) };
		struct ctm_bytes value = { .p = p ? p : "", .len = len };

		if (strcmp(name, CTM_XATTR_CAPS) == 0) {
			continue; /* the record has it */
		}
		if (!x.name || ctm_arena_bytes(&r->arena, value, &x.value) < 0 ||
		    ctm_vec_push(&r->xattrs, &x) < 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

/* The next data of the file that was found: 1, 0 at its end. A hole is what lies between two. */
static int next_data(struct ctm_archive_reader *r, uint64_t done, const void **ret, size_t *ret_len,
		     uint64_t *ret_at)
{
	la_int64_t at = 0;
	int e;

	*ret_len = 0;
	e = archive_read_data_block(r->a, ret, ret_len, &at);
	if (e == ARCHIVE_EOF) {
		return 0;
	}
	if (e < ARCHIVE_WARN || at < 0 || (uint64_t)at < done || (uint64_t)at > r->size ||
	    *ret_len > r->size - (uint64_t)at) {
		return -EBADMSG;
	}
	*ret_at = (uint64_t)at;
	return 1;
}

/* Nothing may come after it was told that all is well, so the hash is checked before returning. */
static int content(void *arg, int fd)
{
	CLEANUP(ctm_contentsum_freep) struct ctm_contentsum *sum = ctm_contentsum_new();
	struct ctm_archive_reader *r = arg;
	uint8_t sha256[32];
	uint64_t done = 0;
	uint64_t at = 0;
	const void *p;
	size_t len;
	int e = sum ? 0 : -ENOMEM;

	r->used = true;
	while (e >= 0 && (e = next_data(r, done, &p, &len, &at)) > 0) {
		ctm_contentsum_put(sum, at, p, len);
		done = at + len;
		e = lseek(fd, (off_t)at, SEEK_SET) < 0 ? -errno : ctm_content_write(fd, p, len);
	}
	/* a hole at the end */
	if (e == 0 && ftruncate(fd, (off_t)r->size) < 0) {
		e = -errno;
	}
	if (e < 0) {
		return e;
	}
	ctm_contentsum_end(sum, r->size, sha256);
	return memcmp(sha256, r->sha256, sizeof(sha256)) == 0 ? 0 : -EBADMSG;
}

int ctm_archive_find(struct ctm_archive_reader *r, const struct ctm_entry *entry,
		     struct ctm_saved *ret, struct ctm_err *err)
{
	int e = r->entry && !r->used && is_it(r->entry, &entry->ref) ? 0 : seek(r, &entry->ref);

	if (e == -ENOENT) {
		e = start(r);
		if (e == 0) {
			e = seek(r, &entry->ref);
		}
	}
	if (e == 0) {
		e = collect(r);
	}
	if (e < 0) {
		return ctm_err_set(err, e == -EBADMSG ? CTM_CORRUPT : CTM_SYS, e,
				   "find a removed file in its archive");
	}
	memcpy(r->sha256, entry->sha256, sizeof(r->sha256));
	r->size = entry->size;
	*ret = (struct ctm_saved){
		.state = entry->after,
		.atime = { archive_entry_atime(r->entry), archive_entry_atime_nsec(r->entry) },
		.mtime = entry->mtime,
		.xattrs = r->xattrs.v,
		.n_xattrs = r->xattrs.n,
		.content = content,
		.arg = r,
	};
	return 0;
}
