/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saving removed files in a pax archive. */
#include "run/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "run/content.h"
#include "run/contentsum.h"
#include "target/rootfd_file.h"

CTM_HOST_PATHS

struct ctm_archive_writer {
	int fd;
	struct archive *a;
	struct sha256_ctx ctx;
	int failed; /* negative errno of a write, which libarchive turns into its own words */
};

void ctm_archive_writer_free(struct ctm_archive_writer *w)
{
	if (!w) {
		return;
	}
	(void)archive_write_free(w->a);
	ctm_closep(&w->fd);
	free(w);
}

static la_ssize_t write_out(struct archive *a, void *arg, const void *p, size_t len)
{
	struct ctm_archive_writer *w = arg;
	int r = ctm_content_write(w->fd, p, len);

	if (r < 0) {
		w->failed = r;
		archive_set_error(a, -r, "%s", strerror(-r));
		return -1;
	}
	sha256_update(&w->ctx, len, p);
	return (la_ssize_t)len;
}

static int fail(const struct ctm_archive_writer *w, struct ctm_err *err)
{
	int r = w->failed ? w->failed : -archive_errno(w->a);

	return ctm_err_set(err, CTM_SYS, r < 0 ? r : -EIO, "write '%s'", CTM_ARCHIVE_REMOVED);
}

static int set_up(struct ctm_archive_writer *w)
{
	struct archive *a = w->a;

	if (archive_write_set_format_pax(a) != ARCHIVE_OK ||
	    /* Names are bytes: nothing is to be converted. */
	    archive_write_set_options(a, "pax:hdrcharset=BINARY") != ARCHIVE_OK ||
	    /* In the other form, which is the default beside this one, names do not come back. */
	    archive_write_set_options(a, "pax:xattrheader=LIBARCHIVE") != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(a, 512) != ARCHIVE_OK) {
		return -1;
	}
	return archive_write_open2(a, w, NULL, write_out, NULL, NULL) == ARCHIVE_OK ? 0 : -1;
}

int ctm_archive_create(int run_dir, struct ctm_archive_writer **ret, struct ctm_err *err)
{
	CLEANUP(ctm_archive_writer_freep) struct ctm_archive_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		return ctm_err_nomem(err);
	}
	w->fd = openat(run_dir, CTM_ARCHIVE_REMOVED,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (w->fd < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "create '%s'", CTM_ARCHIVE_REMOVED);
	}
	sha256_init(&w->ctx);
	w->a = archive_write_new();
	if (!w->a) {
		return ctm_err_nomem(err);
	}
	if (set_up(w) < 0) {
		return fail(w, err);
	}
	*ret = TAKE_PTR(w);
	return 0;
}

/* Kept as an ACL, or the same data once more under the name that xfs has for it. */
static bool is_acl(const char *name)
{
	return strcmp(name, CTM_XATTR_ACL_ACCESS) == 0 ||
	       strncmp(name, "trusted.SGI_ACL_", strlen("trusted.SGI_ACL_")) == 0;
}

static int add_xattr(const char *name, struct ctm_bytes value, void *arg)
{
	if (!is_acl(name)) {
		archive_entry_xattr_add_entry(arg, name, value.p, value.len);
	}
	return 0;
}

static int tag_of(uint16_t tag)
{
	switch (tag) {
	case ACL_USER_OBJ:
		return ARCHIVE_ENTRY_ACL_USER_OBJ;
	case ACL_USER:
		return ARCHIVE_ENTRY_ACL_USER;
	case ACL_GROUP_OBJ:
		return ARCHIVE_ENTRY_ACL_GROUP_OBJ;
	case ACL_GROUP:
		return ARCHIVE_ENTRY_ACL_GROUP;
	case ACL_MASK:
		return ARCHIVE_ENTRY_ACL_MASK;
	default:
		return ARCHIVE_ENTRY_ACL_OTHER;
	}
}

/* The bytes themselves are in the record; this is for whoever unpacks the archive by hand. */
static void add_acl(struct archive_entry *ae, struct ctm_bytes acl)
{
	int n = acl.p ? ctm_acl_count(acl) : 0;

	for (int i = 0; i < n; i++) {
		struct ctm_acl_entry e = ctm_acl_get(acl, i);
		enum ctm_idkind kind;
		int id = ctm_acl_names(&e, &kind) ? (int)e.id : -1;
		int perm = (e.perm & ACL_READ ? ARCHIVE_ENTRY_ACL_READ : 0) |
			   (e.perm & ACL_WRITE ? ARCHIVE_ENTRY_ACL_WRITE : 0) |
			   (e.perm & ACL_EXECUTE ? ARCHIVE_ENTRY_ACL_EXECUTE : 0);

		(void)archive_entry_acl_add_entry(ae, ARCHIVE_ENTRY_ACL_TYPE_ACCESS, perm,
						  tag_of(e.tag), id, NULL);
	}
}

/* Headers and content stand in blocks of the tar format. */
#define TAR_BLOCK UINT64_C(512)
/* The header of the file, that of its pax header, and times, ids and lengths in there. */
#define HEADERS (3 * TAR_BLOCK)
/* "u:4294967295:rwx" and its like, or a pax keyword with its length. */
#define WORDS UINT64_C(64)
/* Of a file with holes: four pax keywords more, and the name once more. */
#define SPARSE_WORDS (4 * WORDS)
/* "18446744073709551615\n" twice for each extent, before the data. */
#define SPARSE_EXTENT UINT64_C(42)

/* Names with up to three characters for a byte, values in base 64. */
static int add_room(const char *name, struct ctm_bytes value, void *arg)
{
	uint64_t *room = arg;

	*room += WORDS + 3 * strlen(name) + (value.len + 2) / 3 * 4;
	return 0;
}

static uint64_t in_blocks(uint64_t bytes)
{
	return (bytes + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
}

static bool has_holes(const struct ctm_extents *extents)
{
	return extents->bytes < extents->size;
}

int ctm_archive_room(int fd, const struct ctm_entry *entry, uint64_t most, uint64_t *ret)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	CLEANUP(ctm_extents_done) struct ctm_extents extents = { 0 };
	const struct ctm_bytes acl = entry->before.acl_access;
	int n = acl.p ? ctm_acl_count(acl) : 0;
	uint64_t room = HEADERS + entry->ref.path_len;
	int r = ctm_rootfd_each_xattr(fd, &arena, add_room, &room);

	if (r == 0) {
		r = ctm_extents_find(fd, most, &extents);
	}
	if (r < 0) {
		return r;
	}
	room += n > 0 ? (uint64_t)n * WORDS : 0;
	room += has_holes(&extents) ? SPARSE_WORDS + entry->ref.path_len : 0;
	room = in_blocks(room + 1);
	room += has_holes(&extents) ? in_blocks((extents.v.n + 2) * SPARSE_EXTENT) : 0;
	room += in_blocks(extents.bytes);
	if (room > most) {
		return -EFBIG;
	}
	*ret = room;
	return 0;
}

/* Of a file with nothing but holes an extent without a byte tells that it is one with holes. */
static void add_extents(struct archive_entry *ae, const struct ctm_extents *extents)
{
	if (!has_holes(extents)) {
		return;
	}
	for (size_t i = 0; i < extents->v.n; i++) {
		archive_entry_sparse_add_entry(ae, (la_int64_t)extents->v.v[i].at,
					       (la_int64_t)extents->v.v[i].len);
	}
	if (extents->v.n == 0) {
		archive_entry_sparse_add_entry(ae, 0, 0);
	}
}

static int describe(struct archive_entry *ae, int fd, const struct ctm_entry *e)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode inode;
	char *path;
	int r = ctm_rootfd_stat(fd, &inode);

	if (r < 0) {
		return r;
	}
	path = ctm_arena_dup(&arena, e->ref.path, e->ref.path_len);
	if (!path) {
		return -ENOMEM;
	}
	archive_entry_set_pathname(ae, path);
	archive_entry_set_mode(ae, e->before.mode);
	archive_entry_set_uid(ae, e->before.uid.v);
	archive_entry_set_gid(ae, e->before.gid.v);
	archive_entry_set_size(ae, (la_int64_t)e->size);
	archive_entry_set_mtime(ae, e->mtime.tv_sec, e->mtime.tv_nsec);
	archive_entry_set_atime(ae, inode.atime.tv_sec, inode.atime.tv_nsec);
	add_acl(ae, e->before.acl_access);
	return ctm_rootfd_each_xattr(fd, &arena, add_xattr, ae);
}

/* The content of one file on its way to libarchive. */
struct feeding {
	struct archive *a;
	uint64_t at; /* so far */
};

static int feed(struct feeding *f, const void *p, size_t len)
{
	la_ssize_t n = archive_write_data(f->a, p, len);

	f->at += len;
	/* Less than it got: the file is longer than its header says. */
	return n < 0 ? -EIO : (size_t)n < len ? -ESTALE : 0;
}

/* libarchive wants the bytes of holes, too, and writes none of them. */
static int feed_hole(struct feeding *f, uint64_t to)
{
	static const char zeros[(size_t)1 << 20];
	int r = 0;

	while (r == 0 && f->at < to) {
		uint64_t left = to - f->at;

		r = feed(f, zeros, left < sizeof(zeros) ? (size_t)left : sizeof(zeros));
	}
	return r;
}

static int write_data(uint64_t at, const void *p, size_t len, void *arg)
{
	int r = feed_hole(arg, at);

	return r < 0 ? r : feed(arg, p, len);
}

static void entry_free(struct archive_entry **ae)
{
	archive_entry_free(*ae);
}

int ctm_archive_save(struct ctm_archive_writer *w, int fd, const struct ctm_entry *entry,
		     struct ctm_err *err)
{
	CLEANUP(entry_free) struct archive_entry *ae = archive_entry_new();
	CLEANUP(ctm_extents_done) struct ctm_extents extents = { 0 };
	struct feeding feeding = { .a = w->a };
	uint8_t sha256[32];
	int r;

	if (!ae) {
		return ctm_err_nomem(err);
	}
	r = describe(ae, fd, entry);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "read the attributes of a file to save");
	}
	r = ctm_extents_find(fd, entry->size, &extents);
	if (r == 0 && extents.size != entry->size) {
		return -ESTALE;
	}
	if (r == 0) {
		add_extents(ae, &extents);
		if (archive_write_header(w->a, ae) != ARCHIVE_OK) {
			return fail(w, err);
		}
		/* What is read is what the header says to be data, whatever is there by now. */
		r = ctm_contentsum_read(fd, &extents, write_data, &feeding, sha256);
	}
	r = r < 0 ? r : feed_hole(&feeding, extents.size);
	if (w->failed) {
		return fail(w, err);
	}
	if (r == -EFBIG || r == -ESTALE) {
		return -ESTALE;
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "read a file to save");
	}
	return memcmp(sha256, entry->sha256, sizeof(sha256)) == 0 ? 0 : -ESTALE;
}

int ctm_archive_close(struct ctm_archive_writer *w, uint8_t ret_sha256[static 32],
		      struct ctm_err *err)
{
	if (archive_write_close(w->a) != ARCHIVE_OK) {
		return fail(w, err);
	}
	if (fsync(w->fd) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "sync '%s'", CTM_ARCHIVE_REMOVED);
	}
	sha256_digest(&w->ctx, 32, ret_sha256);
	return 0;
}
