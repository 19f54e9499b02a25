/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of the archive of removed files: real files in, real files out, and what bsdtar makes of
 * it.
 */
#include "run/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "run/contentsum.h"
#include "run/effects.h"
#include "scratch.h"

#define WRITER CLEANUP(ctm_archive_writer_freep) struct ctm_archive_writer
#define READER CLEANUP(ctm_archive_reader_freep) struct ctm_archive_reader

/* u::rw-,u:33:rw-,g::r--,m::rw-,o::--- as acl(5) and linux/posix_acl_xattr.h have it */
static const unsigned char acl[] = {
	2,  0, 0, 0,                         /* version */
	1,  0, 6, 0, 0xff, 0xff, 0xff, 0xff, /* u::rw- */
	2,  0, 6, 0, 33,   0,    0,    0,    /* u:33:rw- */
	4,  0, 4, 0, 0xff, 0xff, 0xff, 0xff, /* g::r-- */
	16, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, /* m::rw- */
	32, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, /* o::--- */
};
/* cap_net_raw=ep for the root with disk uid 100000: VFS_CAP_REVISION_3 */
static const unsigned char caps[] = { 1, 0, 0, 3, 0, 32, 0, 0, 0,    0,    0, 0,
				      0, 0, 0, 0, 0, 0,  0, 0, 0xa0, 0x86, 1, 0 };

struct sample {
	const char *name;
	size_t size;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	bool acl, caps, xattr;
};

static const struct sample samples[] = {
	{ "empty", 0, 0640, 0, 0, false, false, false },
	{ "small", 11, 04755, 42, 43, false, false, false },
	{ "exactly a tar block", 512, 0600, 100000, 100000, false, false, false },
	{ "large", 300001, 0644, 4294967294, 4294967294, false, false, true },
	{ "attributes", 5, 0660, 0, 42, true, true, true },
	{ "bytes \xff\xc3( that are no UTF-8\n", 7, 0644, 0, 0, false, false, false },
};

/* Where data is in a file with holes: pieces of 4096 bytes, at multiples of that. */
static const struct {
	const char *name;
	uint64_t size;
	size_t n;
	uint64_t at[4];
} sparse[] = {
	{ "nothing but a hole", (uint64_t)255 << 20, 0, { 0 } },
	{ "a hole at both ends", (uint64_t)255 << 20, 2, { 1 << 20, (1 << 20) + 8192 } },
	{ "a hole in the middle", (64 << 20) + 4096, 2, { 0, 64 << 20 } },
	{ "a hole at the end, not of whole blocks", (8 << 20) + 77, 1, { 0 } },
	{ "as long as may be", CTM_ARCHIVE_LENGTH_MAX, 1, { (uint64_t)3 << 30 } },
	{ "bytes \xff\xc3( that are no UTF-8, with a hole", 1 << 20, 1, { 65536 } },
};

static void need_root(void)
{
	if (geteuid() != 0) {
		cr_skip_test("needs root");
	}
}

static void fill(int fd, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)(i * 7 + i / 251);

		cr_assert_eq(write(fd, &c, 1), 1);
	}
}

/* Makes the file, and the entry that a repair would record of it. */
static struct ctm_entry make(int dir, const struct sample *s)
{
	static const struct timespec times[2] = { { 1600000000, 1 }, { 1500000000, 123456789 } };
	struct ctm_entry e = {
		.kind = CTM_ENTRY_REMOVE,
		.ref = { .path = s->name, .path_len = strlen(s->name) },
		.size = s->size,
		.mtime = times[1],
		.rule = "",
		.before = { .mode = S_IFREG | s->mode, .uid = { s->uid }, .gid = { s->gid } },
	};
	CLEANUP_CLOSE int fd = openat(dir, s->name, O_RDWR | O_CREAT | O_EXCL, 0600);
	CLEANUP_FREE unsigned char *content = malloc(s->size + 1);
	struct sha256_ctx ctx;

	fill(fd, s->size);
	cr_assert_eq(pread(fd, content, s->size, 0), (ssize_t)s->size);
	sha256_init(&ctx);
	sha256_update(&ctx, s->size, content);
	sha256_digest(&ctx, 32, e.sha256);
	cr_assert_eq(fchown(fd, s->uid, s->gid), 0);
	cr_assert_eq(fchmod(fd, s->mode), 0);
	if (s->acl) {
		cr_assert_eq(fsetxattr(fd, CTM_XATTR_ACL_ACCESS, acl, sizeof(acl), 0), 0);
		e.before.acl_access = (struct ctm_bytes){ acl, sizeof(acl) };
	}
	if (s->caps) {
		cr_assert_eq(fsetxattr(fd, CTM_XATTR_CAPS, caps, sizeof(caps), 0), 0);
		e.before.caps = (struct ctm_bytes){ caps, sizeof(caps) };
	}
	if (s->xattr) {
		cr_assert_eq(fsetxattr(fd, "user.test", "a\0b", 3, 0), 0);
		cr_assert_eq(fsetxattr(fd, "trusted.test", "", 0, 0), 0);
		/* A header of pax is "name=value"; what is escaped must come back as it was. */
		cr_assert_eq(fsetxattr(fd, "user.a=b", "c=d\n", 4, 0), 0);
		cr_assert_eq(fsetxattr(fd, "user.%41 \n\xff", "x", 1, 0), 0);
	}
	cr_assert_eq(futimens(fd, times), 0);
	return e;
}

static void save_all(int dir, struct ctm_entry entries[static ARRAY_LEN(samples)], uint8_t sha[32])
{
	WRITER *w = NULL;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_archive_create(dir, &w, &err), 0, "%s", err.msg);
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		CLEANUP_CLOSE int fd = -1;

		entries[i] = make(dir, &samples[i]);
		fd = openat(dir, samples[i].name, O_RDONLY | O_NOATIME);
		cr_assert_eq(ctm_archive_save(w, fd, &entries[i], &err), 0, "%s: %s",
			     samples[i].name, err.msg);
	}
	cr_assert_eq(ctm_archive_close(w, sha, &err), 0, "%s", err.msg);
}

static void run(const char *fmt, const char *dir)
{
	CLEANUP(ctm_buf_done) struct ctm_buf command = { 0 };

	(void)ctm_buf_addf(&command, "cd '%s' && exec 2>&1 && ", dir);
	(void)ctm_buf_addf(&command, "%s", fmt);
	cr_assert_eq(system(command.p), 0, "%s", command.p);
}

/*
 * Everything that stat(1), getfattr(1) and sha256sum(1) say of the files, before they are saved and
 * after they are back.
 */
static const char list[] = "for f in *; do [ -d \"$f\" ] || [ \"$f\" = removed.tar ] || "
			   "{ case $f in l[0-9]) continue;; esac; "
			   "stat -c '%n %f %u:%g %s %y %x %h' \"$f\"; "
			   "getfattr -d -m - -e hex \"$f\"; sha256sum <\"$f\"; }; done";

static void listing(const struct scratch *dir, const char *to)
{
	CLEANUP(ctm_buf_done) struct ctm_buf command = { 0 };

	/*
	 * sha256sum reads, so the times of access have to be listed first: relatime is not enough
	 */
	(void)ctm_buf_addf(&command, "%s >%s", list, to);
	run(command.p, dir->path);
}

static void restore(struct scratch *dir, struct ctm_archive_reader *r, const struct ctm_entry *was)
{
	struct ctm_entry e = *was;
	struct ctm_effects fx;
	struct ctm_saved saved;
	struct ctm_err err = { 0 };

	e.kind = CTM_ENTRY_RESTORE;
	e.after = was->before;
	cr_assert_eq(ctm_archive_find(r, &e, &saved, &err), 0, "%s: %s", was->ref.path, err.msg);
	cr_assert_eq(ctm_effects_init(&fx, dir->fd, false, &err), 0);
	cr_assert_eq(ctm_effects_ops.restore(&fx, dir->fd, e.ref.path, &saved), 0, "%s",
		     was->ref.path);
	cr_assert_eq(ctm_effects_ops.restore(&fx, dir->fd, e.ref.path, &saved), -EEXIST);
	ctm_effects_done(&fx);
}

static void same_files(const struct scratch *dir, const char *a, const char *b)
{
	CLEANUP(ctm_buf_done) struct ctm_buf command = { 0 };

	(void)ctm_buf_addf(&command, "diff %s %s >&2", a, b);
	run(command.p, dir->path);
}

Test(archive, there_and_back)
{
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_entry entries[ARRAY_LEN(samples)];
	uint8_t sha[32];
	struct ctm_err err = { 0 };

	need_root();
	save_all(dir.fd, entries, sha);
	cr_assert_eq(ctm_archive_verify(dir.fd, CTM_ARCHIVE_REMOVED, sha, &err), 0, "%s", err.msg);
	listing(&dir, "l1");
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		cr_assert_eq(unlinkat(dir.fd, samples[i].name, 0), 0);
	}
	cr_assert_eq(ctm_archive_open(dir.fd, CTM_ARCHIVE_REMOVED, &r, &err), 0, "%s", err.msg);
	/* From the last to the first: the reader has to start over each time. */
	for (size_t i = ARRAY_LEN(samples); i-- > 0;) {
		restore(&dir, r, &entries[i]);
	}
	listing(&dir, "l2");
	same_files(&dir, "l1", "l2");
}

/* What is promised is enough, and not so much that little fits. */
Test(archive, room)
{
	SCRATCH(dir);
	struct ctm_entry entries[ARRAY_LEN(samples)];
	uint8_t sha[32];
	struct stat st;
	uint64_t all = 0;

	need_root();
	save_all(dir.fd, entries, sha);
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		CLEANUP_CLOSE int fd = openat(dir.fd, samples[i].name, O_RDONLY | O_NOATIME);
		uint64_t room = 0;

		cr_assert_eq(ctm_archive_room(fd, &entries[i], UINT64_MAX, &room), 0);
		cr_expect_geq(room, samples[i].size + 512, "%s", samples[i].name);
		cr_expect_leq(room, samples[i].size + 3584, "%s: %ju", samples[i].name,
			      (uintmax_t)room);
		all += room;
	}
	cr_assert_eq(fstatat(dir.fd, CTM_ARCHIVE_REMOVED, &st, 0), 0);
	/* The archive ends with two blocks of zeros. */
	cr_assert_leq((uint64_t)st.st_size, all + 1024);
}

Test(archive, bsdtar_reads_it)
{
	SCRATCH(dir);
	struct ctm_entry entries[ARRAY_LEN(samples)];
	uint8_t sha[32];

	need_root();
	save_all(dir.fd, entries, sha);
	listing(&dir, "l1");
	run("mkdir out && bsdtar -xpf removed.tar -C out && cd out && ls >/dev/null", dir.path);
	run("bsdtar -tvf removed.tar --numeric-owner | grep -q '^-rw-r--r--  *0 4294967294  *"
	    "4294967294  *300001 .*large$'",
	    dir.path);
	run("getfacl -cn out/attributes | grep -qx 'user:33:rw-'", dir.path);
	run("getcap -n out/attributes | grep -q 'cap_net_raw=ep .*rootid=100000'", dir.path);
	run("test \"$(getfattr --only-values -n user.test out/large | od -An -tx1)\" = ' 61 00 62'",
	    dir.path);
	run("test \"$(stat -c '%a %u:%g %y' out/small)\" = "
	    "\"4755 42:43 2017-07-14 02:40:00.123456789 +0000\"",
	    dir.path);
	run("for f in *; do [ -d \"$f\" ] || case $f in l1|removed.tar) ;; *) "
	    "cmp \"$f\" \"out/$f\" || exit 1;; esac; done",
	    dir.path);
}

/* Makes the file, the sum by reading every byte of it as the definition has it, and the entry. */
static struct ctm_entry make_sparse(int dir, size_t i)
{
	static const struct timespec times[2] = { { 1600000000, 1 }, { 1500000000, 123456789 } };
	struct ctm_entry e = {
		.kind = CTM_ENTRY_REMOVE,
		.ref = { .path = sparse[i].name, .path_len = strlen(sparse[i].name) },
		.size = sparse[i].size,
		.mtime = times[1],
		.rule = "",
		.before = { .mode = S_IFREG | 0600, .uid = { 0 }, .gid = { 0 } },
	};
	CLEANUP_CLOSE int fd = openat(dir, sparse[i].name, O_RDWR | O_CREAT | O_EXCL, 0600);
	char data[4096];

	for (size_t k = 0; k < sparse[i].n; k++) {
		memset(data, 'a' + (int)k, sizeof(data));
		cr_assert_eq(pwrite(fd, data, sizeof(data), (off_t)sparse[i].at[k]),
			     (ssize_t)sizeof(data));
	}
	cr_assert_eq(ftruncate(fd, (off_t)sparse[i].size), 0);
	cr_assert_eq(ctm_contentsum_of(fd, UINT64_MAX, e.sha256), 0);
	cr_assert_eq(futimens(fd, times), 0);
	return e;
}

/* Of each file its length, its blocks on the disk, and where du(1) and cmp(1) see data. */
static void sparse_listing(const struct scratch *dir, const char *to)
{
	CLEANUP(ctm_buf_done) struct ctm_buf command = { 0 };

	(void)ctm_buf_addf(&command,
			   "for f in *hole* *long*; do stat -c '%%n %%s %%b %%y' \"$f\"; "
			   "[ $(stat -c %%s \"$f\") -gt 1000000000 ] || sha256sum <\"$f\"; "
			   "xfs_io -rc 'seek -a -r 0' \"$f\" 2>/dev/null; done >%s",
			   to);
	run(command.p, dir->path);
}

Test(archive, holes_there_and_back)
{
	SCRATCH(dir);
	WRITER *w = NULL;
	READER *r = NULL;
	struct ctm_entry entries[ARRAY_LEN(sparse)];
	uint8_t sha[32];
	uint64_t all = 0;
	struct stat st;
	struct ctm_err err = { 0 };

	need_root();
	cr_assert_eq(ctm_archive_create(dir.fd, &w, &err), 0, "%s", err.msg);
	for (size_t i = 0; i < ARRAY_LEN(sparse); i++) {
		CLEANUP_CLOSE int fd = -1;
		uint64_t room = 0;

		entries[i] = make_sparse(dir.fd, i);
		fd = openat(dir.fd, sparse[i].name, O_RDONLY | O_NOATIME);
		cr_assert_eq(ctm_archive_room(fd, &entries[i], 65536, &room), 0, "%s",
			     sparse[i].name);
		cr_assert_eq(ctm_archive_room(fd, &entries[i], room - 1, &room), -EFBIG);
		all += room;
		cr_assert_eq(ctm_archive_save(w, fd, &entries[i], &err), 0, "%s: %s",
			     sparse[i].name, err.msg);
	}
	cr_assert_eq(ctm_archive_close(w, sha, &err), 0, "%s", err.msg);
	cr_assert_eq(fstatat(dir.fd, CTM_ARCHIVE_REMOVED, &st, 0), 0);
	cr_assert_leq((uint64_t)st.st_size, all + 1024);
	cr_assert_lt(st.st_size, 100000, "%jd", (intmax_t)st.st_size);
	sparse_listing(&dir, "l1");
	run("bsdtar -tvf removed.tar | grep -q ' 267386880 .* nothing but a hole$'", dir.path);
	run("mkdir out && bsdtar -xpf removed.tar -C out && for f in *hole*; do "
	    "cmp \"$f\" \"out/$f\" || exit 1; done && [ $(du -s out | cut -f1) -lt 1000 ] && "
	    "rm -r out",
	    dir.path);
	for (size_t i = 0; i < ARRAY_LEN(sparse); i++) {
		cr_assert_eq(unlinkat(dir.fd, sparse[i].name, 0), 0);
	}
	cr_assert_eq(ctm_archive_open(dir.fd, CTM_ARCHIVE_REMOVED, &r, &err), 0, "%s", err.msg);
	for (size_t i = ARRAY_LEN(sparse); i-- > 0;) {
		restore(&dir, r, &entries[i]);
	}
	sparse_listing(&dir, "l2");
	same_files(&dir, "l1", "l2");
}

static const struct {
	const char *name;
	int grow; /* bytes, after it was hashed */
	bool other_hash;
} changed[] = {
	{ "grew", 1, false },
	{ "grew by a lot", 200000, false },
	{ "shrank", -3, false },
	{ "other content", 0, true },
};

/* Not what the record would say of it: not saved, told apart from an error. */
CASES(archive, changed_while_saving, changed)
{
	static const struct sample s = { "f", 1000, 0644, 0, 0, false, false, false };
	SCRATCH(dir);
	WRITER *w = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct ctm_entry e;
	struct ctm_err err = { 0 };

	need_root();
	e = make(dir.fd, &s);
	e.sha256[0] ^= changed[*i].other_hash;
	fd = openat(dir.fd, "f", O_RDWR);
	cr_assert_eq(ftruncate(fd, 1000 + changed[*i].grow), 0);
	cr_assert_eq(ctm_archive_create(dir.fd, &w, &err), 0);
	cr_assert_eq(ctm_archive_save(w, fd, &e, &err), -ESTALE, "%s: %s", changed[*i].name,
		     err.msg);
	cr_assert_eq(err.code, CTM_OK, "%s", changed[*i].name);
}

static void poke(int dir, off_t at)
{
	CLEANUP_CLOSE int fd = openat(dir, CTM_ARCHIVE_REMOVED, O_RDWR);
	unsigned char c;

	cr_assert_eq(pread(fd, &c, 1, at), 1);
	c ^= 0x10;
	cr_assert_eq(pwrite(fd, &c, 1, at), 1);
}

/* All bytes, one by one: never the hash that the record has. */
Test(archive, every_flipped_byte_is_seen)
{
	static const struct sample s = { "f", 100, 0644, 0, 0, false, false, true };
	SCRATCH(dir);
	WRITER *w = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct ctm_entry e;
	struct stat st;
	uint8_t sha[32];

	need_root();
	e = make(dir.fd, &s);
	fd = openat(dir.fd, "f", O_RDONLY);
	cr_assert_eq(ctm_archive_create(dir.fd, &w, NULL), 0);
	cr_assert_eq(ctm_archive_save(w, fd, &e, NULL), 0);
	cr_assert_eq(ctm_archive_close(w, sha, NULL), 0);
	cr_assert_eq(fstatat(dir.fd, CTM_ARCHIVE_REMOVED, &st, 0), 0);
	for (off_t at = 0; at < st.st_size; at++) {
		struct ctm_err err = { 0 };

		poke(dir.fd, at);
		cr_assert_eq(ctm_archive_verify(dir.fd, CTM_ARCHIVE_REMOVED, sha, &err), -EBADMSG,
			     "byte %jd", (intmax_t)at);
		cr_assert_eq(err.code, CTM_CORRUPT);
		poke(dir.fd, at);
	}
	cr_assert_eq(ctm_archive_verify(dir.fd, CTM_ARCHIVE_REMOVED, sha, NULL), 0);
}

/* A content that is not the recorded one never gets a name. */
Test(archive, wrong_content_does_not_appear)
{
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_entry entries[ARRAY_LEN(samples)];
	struct ctm_effects fx;
	struct ctm_saved saved;
	struct stat st;
	uint8_t sha[32];

	need_root();
	save_all(dir.fd, entries, sha);
	cr_assert_eq(unlinkat(dir.fd, "small", 0), 0);
	cr_assert_eq(ctm_archive_open(dir.fd, CTM_ARCHIVE_REMOVED, &r, NULL), 0);
	entries[1].sha256[5] ^= 1;
	cr_assert_eq(ctm_archive_find(r, &entries[1], &saved, NULL), 0);
	cr_assert_eq(ctm_effects_init(&fx, dir.fd, false, NULL), 0);
	cr_assert_eq(ctm_effects_ops.restore(&fx, dir.fd, "small", &saved), -EBADMSG);
	cr_assert_eq(fstatat(dir.fd, "small", &st, 0), -1);
	ctm_effects_done(&fx);
}

Test(archive, not_there)
{
	static const struct ctm_entry e = { .ref = { .path = "nothing", .path_len = 7 } };
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_entry entries[ARRAY_LEN(samples)];
	struct ctm_saved saved;
	struct ctm_err err = { 0 };
	uint8_t sha[32];

	need_root();
	cr_assert_eq(ctm_archive_open(dir.fd, CTM_ARCHIVE_REMOVED, &r, &err), -ENOENT);
	save_all(dir.fd, entries, sha);
	cr_assert_eq(ctm_archive_open(dir.fd, CTM_ARCHIVE_REMOVED, &r, &err), 0);
	cr_assert_eq(ctm_archive_find(r, &e, &saved, &err), -ENOENT);
}
