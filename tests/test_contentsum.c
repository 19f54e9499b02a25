/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the sum of a file's content. */
#include "run/contentsum.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

#define K64 ((size_t)65536)

/*
 * A content in one line: a letter is a block of 64 KiB of it, '-' one of zeros, in front of a digit
 * comes a piece of so many bytes: "a-b" or "--3x".
 */
static const char *const contents[] = {
	"",    "1a",  "10a", "a",   "ab",   "1-",    "5-",    "a1-",   "a1b",
	"-",   "--",  "---", "a-",  "-a",   "a-b",   "a--b",  "-a-",   "ab-",
	"-ab", "b-a", "-1a", "-1-", "a-1-", "a-b-c", "ab--c", "a--bc",
};

/* The bytes; *ret_len of them. */
static unsigned char *bytes_of(const char *content, size_t *ret_len)
{
	unsigned char *bytes = calloc(8, K64);
	size_t at = 0;

	while (*content) {
		size_t len = K64;

		if (*content >= '0' && *content <= '9') {
			char *end;

			len = strtoul(content, &end, 10);
			content = end;
		}
		memset(bytes + at, *content == '-' ? 0 : *content, len);
		at += len;
		content++;
	}
	*ret_len = at;
	return bytes;
}

static void put_number(struct sha256_ctx *ctx, uint64_t n)
{
	for (int i = 0; i < 8; i++) {
		const uint8_t byte = (uint8_t)(n >> (8 * i));

		sha256_update(ctx, 1, &byte);
	}
}

/* As the definition has it, in a second way: block by block, from all bytes. */
static void expected(const unsigned char *bytes, size_t len, uint8_t ret[static 32])
{
	static const unsigned char zeros[65536];
	struct sha256_ctx content, runs;
	uint8_t hash[32];
	size_t run = 0, n = 0;

	sha256_init(&content);
	sha256_init(&runs);
	for (size_t at = 0; at <= len; at += K64) {
		bool zero = len - at >= K64 && memcmp(bytes + at, zeros, K64) == 0;

		if (!zero && run > 0) {
			put_number(&runs, at - run);
			put_number(&runs, run);
			n++;
		}
		run = zero ? run + K64 : 0;
		if (!zero) {
			sha256_update(&content, len - at < K64 ? len - at : K64, bytes + at);
		}
	}
	if (n > 0) {
		sha256_digest(&runs, 32, hash);
		sha256_update(&content, 32, hash);
	}
	sha256_digest(&content, 32, ret);
}

static int file_of(const struct scratch *dir, const unsigned char *bytes, size_t len, bool holes)
{
	int fd = openat(dir->fd, "f", O_RDWR | O_CREAT | O_TRUNC, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)len), 0);
	for (size_t at = 0; at < len; at += K64) {
		size_t n = len - at < K64 ? len - at : K64;

		if (!holes || bytes[at] != 0) {
			cr_assert_eq(pwrite(fd, bytes + at, n, (off_t)at), (ssize_t)n);
		}
	}
	return fd;
}

/* It is the same with holes and without, by file and in pieces of any length. */
CASES(contentsum, as_defined, contents)
{
	SCRATCH(dir);
	size_t len;
	CLEANUP_FREE unsigned char *bytes = bytes_of(contents[*i], &len);
	uint8_t want[32];
	uint8_t got[32];

	expected(bytes, len, want);
	for (int holes = 0; holes < 2; holes++) {
		CLEANUP_CLOSE int fd = file_of(&dir, bytes, len, holes);

		cr_assert_eq(ctm_contentsum_of(fd, len, got), 0, "%s", contents[*i]);
		cr_assert(memcmp(got, want, 32) == 0, "%s, holes %d", contents[*i], holes);
		if (len > 0) {
			cr_assert_eq(ctm_contentsum_of(fd, len - 1, got), -EFBIG, "%s",
				     contents[*i]);
		}
	}
	for (size_t piece = 1000; piece < 200000; piece = piece * 3 + 1) {
		CLEANUP(ctm_contentsum_freep) struct ctm_contentsum *sum = ctm_contentsum_new();

		for (size_t at = 0; at < len; at += piece) {
			ctm_contentsum_put(sum, at, bytes + at,
					   len - at < piece ? len - at : piece);
		}
		ctm_contentsum_end(sum, len, got);
		cr_assert(memcmp(got, want, 32) == 0, "%s, pieces of %zu", contents[*i], piece);
	}
}

/* Of no two contents is it the same. */
Test(contentsum, differs)
{
	uint8_t sums[ARRAY_LEN(contents)][32];

	for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
		size_t len;
		CLEANUP_FREE unsigned char *bytes = bytes_of(contents[i], &len);
		CLEANUP(ctm_contentsum_freep) struct ctm_contentsum *sum = ctm_contentsum_new();

		ctm_contentsum_put(sum, 0, bytes, len);
		ctm_contentsum_end(sum, len, sums[i]);
		for (size_t k = 0; k < i; k++) {
			cr_assert(memcmp(sums[i], sums[k], 32) != 0, "'%s' and '%s'", contents[i],
				  contents[k]);
		}
	}
}

/* printf abc | sha256sum: without a block of zeros it is what everybody calls the SHA-256. */
Test(contentsum, of_a_usual_file)
{
	static const uint8_t want[32] = {
		0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
		0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
		0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
	};
	CLEANUP(ctm_contentsum_freep) struct ctm_contentsum *sum = ctm_contentsum_new();
	uint8_t got[32];

	ctm_contentsum_put(sum, 0, "abc", 3);
	ctm_contentsum_end(sum, 3, got);
	cr_assert(memcmp(got, want, 32) == 0);
}

/* What is no data costs nothing: an hour and more, if each byte were hashed. */
Test(contentsum, a_terabyte_of_hole)
{
	SCRATCH(dir);
	CLEANUP_CLOSE int fd = openat(dir.fd, "f", O_RDWR | O_CREAT, 0600);
	struct timespec from, to;
	uint8_t got[32];

	cr_assert_eq(pwrite(fd, "x", 1, 12345), 1);
	if (ftruncate(fd, (off_t)1 << 40) < 0) {
		cr_skip_test("no such long files here");
	}
	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &from), 0);
	cr_assert_eq(ctm_contentsum_of(fd, UINT64_MAX, got), 0);
	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &to), 0);
	cr_assert_lt(to.tv_sec - from.tv_sec, 2);
}

static int cut(uint64_t at, const void *p, size_t len, void *arg)
{
	const int *fd = arg;

	(void)at;
	(void)p;
	(void)len;
	return ftruncate(*fd, 100) < 0 ? -errno : 0;
}

/* It is another file by then. */
Test(contentsum, cut_while_it_is_read)
{
	SCRATCH(dir);
	size_t len;
	CLEANUP_FREE unsigned char *bytes = bytes_of("abc", &len);
	CLEANUP_CLOSE int fd = file_of(&dir, bytes, len, false);
	CLEANUP(ctm_extents_done) struct ctm_extents extents = { 0 };
	uint8_t got[32];

	cr_assert_eq(ctm_extents_find(fd, len, &extents), 0);
	cr_assert_eq(ctm_contentsum_read(fd, &extents, cut, &fd, got), -ESTALE);
}
