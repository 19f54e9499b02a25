/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the record of a run: written, read back, and never believed when a byte is wrong. */
#include "run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "entries.h"
#include "run/codec.h"
#include "scratch.h"

#define READER CLEANUP(ctm_reader_freep) struct ctm_reader
#define WRITER CLEANUP(ctm_journal_freep) struct ctm_journal

static const struct ctm_run_header header = {
	.version = "0.1.0",
	.target = "115",
	.volume = "rootfs",
	.identity = "volume local-lvm:vm-115-disk-0\nfs ext4\n",
	.map = "u 0 100000 65536, g 0 100000 65536",
	.time = 1700000000,
	.user = "admin",
	.options = "--clean all",
	.kind = CTM_RUN_UNDO,
	.undoes = "0003-20250101T000000Z",
	.digest = "00112233445566778899aabbccddeeff",
	.run = "0004-20250101T000001Z",
	.caller = "hook",
	.from = "u 0 165536 65536",
	.part = "/etc /srv",
};

static const struct ctm_run_seal hashes = { .removed_sha256 = { 1 },
					    .restore_sha256 = { [31] = 2 } };
static const struct ctm_run_came_back came_back = {
	.entry = 8,
	.dev = 2049,
	.ino = UINT64_MAX,
	.handle = { .type = -2, .len = 3, .bytes = { 1, 2, 3 } }
};
static const struct ctm_run_counts counts = { .done = 5, .already = 1, .failed = 1 };

/* The end of write_ended(): length, kind, four counts, time, checksum. */
#define END_LEN (1 + 1 + 4 + 5 + 4)

/* A sealed record with n entries, the samples over and over. */
static void write_sealed(int dir, size_t n)
{
	WRITER *j = NULL;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_journal_create(dir, &header, &j, &err), 0, "%s", err.msg);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(ctm_journal_add(j, &sample_entries[i % sample_entries_n], &err), 0,
			     "%s", err.msg);
	}
	cr_assert_eq(ctm_journal_entries(j), n);
	cr_assert_eq(ctm_journal_seal(j, &hashes, &err), 0, "%s", err.msg);
}

/* What a run would change has no end, the host's disk has one. */
Test(journal, half_of_the_disk_is_left)
{
	SCRATCH(dir);
	WRITER *j = NULL;
	struct ctm_err err = { 0 };
	CLEANUP_CLOSE int disk = -1;
	struct stat st;
	size_t n = 0;

	if (geteuid() != 0) {
		cr_skip("needs root");
	}
	/* gone with this process, whatever becomes of the test */
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", dir.path, "tmpfs", 0, "size=4m"), 0, "%s", strerror(errno));
	disk = open(dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(ctm_journal_create(disk, &header, &j, &err), 0, "%s", err.msg);
	while (ctm_journal_add(j, &sample_entries[n % sample_entries_n], &err) == 0) {
		n++;
	}
	cr_expect_eq(err.num, ENOSPC, "%s", err.msg);
	cr_assert_eq(fstatat(disk, CTM_JOURNAL_FILE, &st, 0), 0);
	cr_expect_leq(st.st_size, 2 << 20);
	cr_expect_geq(st.st_size, (2 << 20) - (128 << 10));
	cr_expect_lt(ctm_journal_seal(j, &hashes, &err), 0);
}

static struct ctm_journal *reopen(int dir)
{
	READER *r = NULL;
	struct ctm_journal *j = NULL;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_reader_open(dir, &r, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_journal_append(dir, r, &j, &err), 0, "%s", err.msg);
	return j;
}

/* The whole life of a run with as many entries as there are samples. */
static void write_ended(int dir)
{
	WRITER *j = NULL;

	write_sealed(dir, sample_entries_n);
	j = reopen(dir);
	cr_assert_eq(ctm_journal_failed(j, 2, EPERM, "chown", NULL), 0);
	cr_assert_eq(ctm_journal_ctime(j, &(struct ctm_run_ctime){ 3, { 5, 6 } }, NULL), 0);
	cr_assert_eq(ctm_journal_ctime(j, &(struct ctm_run_ctime){ 1, { -7, 8 } }, NULL), 0);
	cr_assert_eq(ctm_journal_ctime(j, &(struct ctm_run_ctime){ 3, { 9, 10 } }, NULL), 0);
	cr_assert_eq(ctm_journal_came_back(j, &came_back, NULL), 0);
	cr_assert_eq(ctm_journal_done(j, 0, 4, NULL), 0);
	cr_assert_eq(ctm_journal_continued(j, 1700000005, "0.1.1", "root", NULL), 0);
	cr_assert_eq(ctm_journal_done(j, 4, sample_entries_n - 4, NULL), 0);
	cr_assert_eq(ctm_journal_end(j, &counts, 1700000009, NULL), 0);
}

static off_t file_size(int dir)
{
	struct stat st;

	cr_assert_eq(fstatat(dir, CTM_JOURNAL_FILE, &st, 0), 0);
	return st.st_size;
}

static void poke(int dir, off_t at, unsigned char mask)
{
	CLEANUP_CLOSE int fd = openat(dir, CTM_JOURNAL_FILE, O_RDWR);
	unsigned char c;

	cr_assert_eq(pread(fd, &c, 1, at), 1);
	c ^= mask;
	cr_assert_eq(pwrite(fd, &c, 1, at), 1);
}

static void expect_entries(struct ctm_reader *r, size_t n)
{
	struct ctm_err err = { 0 };
	struct ctm_entry e;
	uint64_t index;
	char name[40];

	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(ctm_reader_next(r, &e, &index, &err), 1, "%s", err.msg);
		cr_assert_eq(index, i);
		(void)snprintf(name, sizeof(name), "entry %zu", i);
		entries_equal(&sample_entries[i % sample_entries_n], &e, name);
	}
	cr_assert_eq(ctm_reader_next(r, &e, &index, &err), 0);
	cr_assert_eq(ctm_reader_next(r, &e, &index, &err), 0, "the end stays the end");
}

Test(journal, life_of_a_run)
{
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_err err = { 0 };
	const struct ctm_run_header *h;
	const struct ctm_run_failure *f;
	const struct ctm_run_came_back *b;
	int64_t time = 0;

	write_ended(dir.fd);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), 0, "%s", err.msg);
	h = ctm_reader_header(r);
	cr_expect_str_eq(h->version, header.version);
	cr_expect_str_eq(h->target, header.target);
	cr_expect_str_eq(h->volume, header.volume);
	cr_expect_str_eq(h->identity, header.identity);
	cr_expect_str_eq(h->map, header.map);
	cr_expect_eq(h->time, header.time);
	cr_expect_str_eq(h->user, header.user);
	cr_expect_str_eq(h->options, header.options);
	cr_expect_eq(h->kind, CTM_RUN_UNDO);
	cr_expect_str_eq(h->undoes, header.undoes);
	cr_expect_str_eq(h->digest, header.digest);
	cr_expect_str_eq(h->run, header.run);
	cr_expect_str_eq(h->caller, header.caller);
	cr_expect_str_eq(h->from, header.from);
	cr_expect_str_eq(h->part, header.part);
	cr_expect_eq(ctm_reader_seal(r)->entries, sample_entries_n);
	cr_expect(memcmp(ctm_reader_seal(r)->removed_sha256, hashes.removed_sha256, 32) == 0);
	cr_expect(memcmp(ctm_reader_seal(r)->restore_sha256, hashes.restore_sha256, 32) == 0);
	cr_expect_eq(ctm_reader_count(r, CTM_ENTRY_REMOVE), 1);
	cr_expect_eq(ctm_reader_count(r, CTM_ENTRY_RESTORE), 1);
	cr_expect_eq(ctm_reader_count(r, CTM_ENTRY_WRITABLE), 1);
	cr_expect_eq(ctm_reader_count(r, CTM_ENTRY_READONLY), 1);
	cr_expect_eq(ctm_reader_count(r, CTM_ENTRY_SET), sample_entries_n - 4);
	cr_expect_eq(ctm_reader_size(r), (uint64_t)file_size(dir.fd));
	cr_expect_not(ctm_reader_torn(r));
	cr_assert_not_null(ctm_reader_end(r, &time));
	cr_assert_eq(ctm_journal_has_end(dir.fd), 1);
	cr_expect_eq(time, 1700000009);
	cr_expect_eq(ctm_reader_end(r, NULL)->done, counts.done);
	cr_expect_eq(ctm_reader_end(r, NULL)->already, counts.already);
	cr_expect_eq(ctm_reader_end(r, NULL)->failed, counts.failed);
	for (size_t i = 0; i < sample_entries_n; i++) {
		cr_expect(ctm_reader_is_done(r, i), "entry %zu", i);
	}
	cr_expect_not(ctm_reader_is_done(r, sample_entries_n));
	f = ctm_reader_failure(r, 2);
	cr_assert_not_null(f);
	cr_expect_eq(f->errnum, EPERM);
	cr_expect_str_eq(f->what, "chown");
	cr_expect_null(ctm_reader_failure(r, 1));
	cr_assert_not_null(ctm_reader_ctime(r, 1));
	cr_expect_eq(ctm_reader_ctime(r, 1)->ctime.tv_sec, -7);
	cr_expect_eq(ctm_reader_ctime(r, 1)->ctime.tv_nsec, 8);
	cr_assert_not_null(ctm_reader_ctime(r, 3));
	cr_expect_eq(ctm_reader_ctime(r, 3)->ctime.tv_sec, 9, "the last mark counts");
	cr_expect_null(ctm_reader_ctime(r, 2));
	cr_expect_null(ctm_reader_came_back(r, 3));
	b = ctm_reader_came_back(r, 8);
	cr_assert_not_null(b);
	cr_expect_eq(b->dev, came_back.dev);
	cr_expect_eq(b->ino, came_back.ino);
	cr_expect_eq(b->handle.type, -2);
	cr_expect_eq(b->handle.len, 3);
	cr_expect(memcmp(b->handle.bytes, came_back.handle.bytes, 3) == 0);
	expect_entries(r, sample_entries_n);
	ctm_reader_rewind(r);
	expect_entries(r, sample_entries_n);
}

Test(journal, nobody_else_may_read_it)
{
	SCRATCH(dir);
	struct stat st;

	write_sealed(dir.fd, 1);
	cr_assert_eq(fstatat(dir.fd, CTM_JOURNAL_FILE, &st, 0), 0);
	cr_assert_eq(st.st_mode & 07777, 0600);
}

/* Several blocks, one of them not full: both ways, and turning round anywhere. */
Test(journal, both_ways)
{
	const size_t n = 3 * CTM_CODEC_BLOCK + 5;
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_err err = { 0 };
	struct ctm_entry e;
	uint64_t index;

	write_sealed(dir.fd, n);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), 0, "%s", err.msg);
	cr_assert_null(ctm_reader_end(r, NULL));
	cr_assert_eq(ctm_reader_prev(r, &e, &index, &err), 0, "nothing before the first");
	expect_entries(r, n);
	for (size_t i = n; i-- > 0;) {
		cr_assert_eq(ctm_reader_prev(r, &e, &index, &err), 1, "%s", err.msg);
		cr_assert_eq(index, i);
		entries_equal(&sample_entries[i % sample_entries_n], &e, "backwards");
		if (i % 50 == 0) {
			cr_assert_eq(ctm_reader_next(r, &e, &index, &err), 1);
			cr_assert_eq(index, i);
			entries_equal(&sample_entries[i % sample_entries_n], &e, "turned");
			cr_assert_eq(ctm_reader_prev(r, &e, &index, &err), 1);
			cr_assert_eq(index, i);
		}
	}
	cr_assert_eq(ctm_reader_prev(r, &e, &index, &err), 0);
	ctm_reader_to_end(r);
	cr_assert_eq(ctm_reader_prev(r, &e, &index, &err), 1);
	cr_assert_eq(index, n - 1);
}

Test(journal, empty_record)
{
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_entry e;
	uint64_t index;

	write_sealed(dir.fd, 0);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, NULL), 0);
	cr_assert_eq(ctm_reader_next(r, &e, &index, NULL), 0);
	cr_assert_eq(ctm_reader_prev(r, &e, &index, NULL), 0);
}

/* Every bit of every byte, those of the last record too: that is no torn tail. */
Test(journal, every_flipped_byte_is_seen)
{
	SCRATCH(dir);
	off_t size;

	write_ended(dir.fd);
	size = file_size(dir.fd);
	for (off_t at = 0; at < size; at++) {
		for (int bit = 0; bit < 8; bit++) {
			bool newer = at == 15 &&
				     (CTM_JOURNAL_VERSION ^ (1 << bit)) > CTM_JOURNAL_VERSION;
			READER *r = NULL;
			struct ctm_err err = { 0 };
			int e;

			poke(dir.fd, at, (unsigned char)(1 << bit));
			e = ctm_reader_open(dir.fd, &r, &err);
			cr_assert_eq(e, newer ? -EPROTONOSUPPORT : -EBADMSG, "byte %jd bit %d: %d",
				     (intmax_t)at, bit, e);
			cr_assert(err.code == CTM_CORRUPT || newer, "byte %jd", (intmax_t)at);
			poke(dir.fd, at, (unsigned char)(1 << bit));
		}
	}
}

/* Cut anywhere: no record before the seal is whole; after that the marks that are whole count. */
Test(journal, every_truncation)
{
	SCRATCH(dir);
	off_t sealed;
	off_t size;

	write_sealed(dir.fd, sample_entries_n);
	sealed = file_size(dir.fd);
	cr_assert_eq(unlinkat(dir.fd, CTM_JOURNAL_FILE, 0), 0);
	write_ended(dir.fd);
	size = file_size(dir.fd);
	cr_assert_gt(size, sealed);
	for (off_t len = size - 1; len >= 0; len--) {
		READER *r = NULL;
		CLEANUP_CLOSE int fd = openat(dir.fd, CTM_JOURNAL_FILE, O_RDWR);
		struct ctm_err err = { 0 };
		int e;

		cr_assert_eq(ftruncate(fd, len), 0);
		e = ctm_reader_open(dir.fd, &r, &err);
		cr_assert_eq(e, len < sealed ? -EBADMSG : 0, "%jd bytes: %s", (intmax_t)len,
			     err.msg);
		if (len >= sealed) {
			cr_assert_null(ctm_reader_end(r, NULL), "%jd bytes", (intmax_t)len);
			cr_assert_eq(ctm_journal_has_end(dir.fd), 0, "%jd bytes", (intmax_t)len);
			cr_assert_eq(ctm_reader_torn(r), ctm_reader_whole(r) != (uint64_t)len);
			cr_assert_eq(ctm_reader_is_done(r, 5), len >= size - END_LEN);
			expect_entries(r, sample_entries_n);
		}
		if (len == sealed) {
			cr_assert_not(ctm_reader_torn(r));
			cr_assert_not(ctm_reader_is_done(r, 0));
		}
	}
}

Test(journal, goes_on_behind_a_torn_tail)
{
	SCRATCH(dir);
	READER *r = NULL;
	WRITER *j = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct ctm_err err = { 0 };

	write_ended(dir.fd);
	fd = openat(dir.fd, CTM_JOURNAL_FILE, O_RDWR);
	cr_assert_eq(ftruncate(fd, file_size(dir.fd) - 3), 0);
	j = reopen(dir.fd);
	cr_assert_eq(ctm_journal_end(j, &counts, 1, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), 0, "%s", err.msg);
	cr_assert_not(ctm_reader_torn(r));
	cr_assert_not_null(ctm_reader_end(r, NULL));
}

/* XFS and others may show zeros where a crash came between size and data. */
Test(journal, zeros_are_a_torn_tail)
{
	SCRATCH(dir);
	READER *r = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct ctm_err err = { 0 };
	uint64_t whole;

	write_sealed(dir.fd, 3);
	whole = (uint64_t)file_size(dir.fd);
	fd = openat(dir.fd, CTM_JOURNAL_FILE, O_RDWR);
	cr_assert_eq(ftruncate(fd, (off_t)whole + 5000), 0);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), 0, "%s", err.msg);
	cr_assert(ctm_reader_torn(r));
	cr_assert_eq(ctm_reader_whole(r), whole);
}

/*
 * A sector of the last record was written and the next one was not: a tail that is torn, even if a
 * single byte makes the difference.
 */
Test(journal, zeros_behind_a_sector_are_a_torn_tail)
{
	SCRATCH(dir);
	READER *r = NULL;
	WRITER *j = NULL;
	CLEANUP_CLOSE int fd = -1;
	struct ctm_err err = { 0 };
	unsigned int n = 0;

	write_sealed(dir.fd, 3);
	j = reopen(dir.fd);
	/* Whole marks, until there is one whose last byte begins a sector. */
	do {
		static const char what[] = "0123456789";

		cr_assert_eq(ctm_journal_failed(j, 0, EPERM, what + n++ % 10, NULL), 0);
		cr_assert_eq(ctm_journal_done(j, 0, 1, NULL), 0);
		cr_assert_lt(n, 10000);
	} while (file_size(dir.fd) % 512 != 1);
	fd = openat(dir.fd, CTM_JOURNAL_FILE, O_RDWR);
	cr_assert_eq(pwrite(fd, "", 1, file_size(dir.fd) - 1), 1);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), 0, "%s", err.msg);
	cr_assert(ctm_reader_torn(r));
}

static void append(int dir, const void *p, size_t len)
{
	CLEANUP_CLOSE int fd = openat(dir, CTM_JOURNAL_FILE, O_WRONLY | O_APPEND);

	cr_assert_eq(write(fd, p, len), (ssize_t)len);
}

/* A mark copied to another place is not one: its checksum knows where it stood. */
Test(journal, records_stay_where_they_are)
{
	SCRATCH(dir);
	READER *r = NULL;
	WRITER *j = NULL;
	unsigned char mark[64];
	CLEANUP_CLOSE int fd = -1;
	off_t at;
	ssize_t n;

	write_sealed(dir.fd, 3);
	at = file_size(dir.fd);
	j = reopen(dir.fd);
	cr_assert_eq(ctm_journal_done(j, 0, 1, NULL), 0);
	fd = openat(dir.fd, CTM_JOURNAL_FILE, O_RDONLY);
	n = pread(fd, mark, sizeof(mark), at);
	cr_assert_gt(n, 0);
	append(dir.fd, mark, (size_t)n);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, NULL), 0);
	cr_assert(ctm_reader_torn(r));
	cr_assert_eq(ctm_reader_whole(r), (uint64_t)(at + n));
}

Test(journal, nothing_follows_the_end)
{
	SCRATCH(dir);
	READER *r = NULL;
	WRITER *j = NULL;
	struct ctm_err err = { 0 };

	write_ended(dir.fd);
	j = reopen(dir.fd);
	cr_assert_eq(ctm_journal_done(j, 0, 1, NULL), 0);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -EBADMSG);
	cr_assert_eq(err.code, CTM_CORRUPT);
}

/* Nothing was written behind the end, so nothing can be torn there. */
Test(journal, no_garbage_follows_the_end)
{
	SCRATCH(dir);
	struct ctm_err err = { 0 };
	READER *r = NULL;
	CLEANUP_CLOSE int fd = -1;
	off_t size;

	write_ended(dir.fd);
	size = file_size(dir.fd);
	for (size_t n = 1; n < 70; n++) {
		append(dir.fd, n % 2 ? "" : "x", 1);
		cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -EBADMSG, "%zu bytes", n);
	}
	fd = openat(dir.fd, CTM_JOURNAL_FILE, O_RDWR);
	cr_assert_eq(ftruncate(fd, size), 0);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), 0, "%s", err.msg);
}

static const struct {
	const char *name;
	uint64_t first, n;
} bad_marks[] = {
	{ "none", 0, 0 },
	{ "beyond the last", 7, 1 },
	{ "over the last", 6, 2 },
	{ "overflow", 1, UINT64_MAX },
};

CASES(journal, bad_mark, bad_marks)
{
	SCRATCH(dir);
	READER *r = NULL;
	WRITER *j = NULL;
	struct ctm_err err = { 0 };

	write_sealed(dir.fd, 7);
	j = reopen(dir.fd);
	cr_assert_eq(ctm_journal_done(j, bad_marks[*i].first, bad_marks[*i].n, NULL), 0);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -EBADMSG, "%s", bad_marks[*i].name);
}

Test(journal, another_version_is_refused)
{
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_err err = { 0 };

	write_ended(dir.fd);
	cr_assert_eq(ctm_journal_has_end(dir.fd), 1);
	poke(dir.fd, 15, 0x09 ^ CTM_JOURNAL_VERSION);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -EPROTONOSUPPORT);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_eq(ctm_journal_has_end(dir.fd), 0, "what its last bytes mean is not known");
	cr_assert_not_null(strstr(err.msg, "format 9"), "%s", err.msg);
}

/* A bit of it has flipped: no newer program helps. */
Test(journal, a_version_below_is_damage)
{
	for (unsigned int version = 0; version < CTM_JOURNAL_VERSION; version++) {
		SCRATCH(dir);
		READER *r = NULL;
		struct ctm_err err = { 0 };

		write_ended(dir.fd);
		poke(dir.fd, 15, (unsigned char)(CTM_JOURNAL_VERSION ^ version));
		cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -EBADMSG, "%u", version);
		cr_assert_eq(err.code, CTM_CORRUPT, "%u", version);
		cr_assert_not_null(strstr(err.msg, "no release"), "%s", err.msg);
		cr_assert_eq(ctm_journal_has_end(dir.fd), 0, "%u", version);
	}
}

Test(journal, no_file_and_no_regular_file)
{
	SCRATCH(dir);
	READER *r = NULL;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -ENOENT);
	cr_assert_eq(ctm_journal_has_end(dir.fd), -ENOENT);
	cr_assert_eq(mkfifoat(dir.fd, CTM_JOURNAL_FILE, 0600), 0);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -EBADMSG);
	cr_assert_eq(unlinkat(dir.fd, CTM_JOURNAL_FILE, 0), 0);
	cr_assert_eq(symlinkat("/dev/null", dir.fd, CTM_JOURNAL_FILE), 0);
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), -ELOOP);
}

Test(journal, never_writes_over_another)
{
	SCRATCH(dir);
	WRITER *j = NULL;
	struct ctm_err err = { 0 };

	write_sealed(dir.fd, 1);
	cr_assert_eq(ctm_journal_create(dir.fd, &header, &j, &err), -EEXIST);
}

/* A full disk: every write fails, and says so. */
Test(journal, full_disk)
{
	SCRATCH(dir);
	WRITER *j = NULL;
	struct ctm_err err = { 0 };
	struct rlimit limit = { .rlim_cur = 600, .rlim_max = RLIM_INFINITY };

	(void)signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(ctm_journal_create(dir.fd, &header, &j, &err), 0);
	for (size_t i = 0; i < 100; i++) {
		cr_assert_eq(ctm_journal_add(j, &sample_entries[0], &err), 0);
	}
	cr_assert_eq(ctm_journal_seal(j, &hashes, &err), -EFBIG);
	cr_assert_eq(err.code, CTM_SYS);
}

static size_t private_kib(void)
{
	CLEANUP_FCLOSE FILE *f = fopen("/proc/self/status", "re");
	char line[200];
	size_t kib = 0;

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "RssAnon: %zu", &kib) == 1) {
			break;
		}
	}
	return kib;
}

/* A volume that has become read-only: whoever reads the record needs no memory for each entry. */
Test(journal, all_entries_may_have_failed)
{
	enum { N = 700000 };
	SCRATCH(dir);
	READER *r = NULL;
	WRITER *j = NULL;
	struct ctm_err err = { 0 };
	size_t before;
	__attribute__((unused)) size_t taken;

	write_sealed(dir.fd, N);
	j = reopen(dir.fd);
	for (uint64_t i = 0; i < N; i++) {
		cr_assert_eq(ctm_journal_failed(j, i, i % 3 ? EROFS : EPERM, "chown", &err), 0);
	}
	cr_assert_eq(ctm_journal_done(j, 0, N, &err), 0, "%s", err.msg);
	before = private_kib();
	cr_assert_eq(ctm_reader_open(dir.fd, &r, &err), 0, "%s", err.msg);
	taken = private_kib() - before;
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
	cr_expect_lt(taken, (size_t)20 << 10, "%zu KiB", taken);
#endif
	for (uint64_t i = 0; i < N; i++) {
		const struct ctm_run_failure *f = ctm_reader_failure(r, i);

		cr_assert(f && f->entry == i && f->errnum == (i % 3 ? EROFS : EPERM));
		cr_assert_str_eq(f->what, "chown");
	}
}
