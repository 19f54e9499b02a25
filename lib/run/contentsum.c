/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SHA-256 of a file's content, at a cost that goes by its data and not by its holes. */
#include "run/contentsum.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define BLOCK ((size_t)64 << 10)

struct ctm_contentsum {
	struct sha256_ctx content;
	struct sha256_ctx runs; /* of blocks that were left out */
	bool any;               /* run was */
	uint64_t run_at;        /* of the last one, which may go on */
	uint64_t run_len;
	uint64_t block_at; /* what is in the block, and how much */
	size_t fill;
	unsigned char block[BLOCK];
};

struct ctm_contentsum *ctm_contentsum_new(void)
{
	struct ctm_contentsum *sum = calloc(1, sizeof(*sum));

	if (sum) {
		sha256_init(&sum->content);
		sha256_init(&sum->runs);
	}
	return sum;
}

void ctm_contentsum_free(struct ctm_contentsum *sum)
{
	free(sum);
}

static void put_number(struct sha256_ctx *ctx, uint64_t n)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(n >> (8 * i));
	}
	sha256_update(ctx, sizeof(bytes), bytes);
}

static void end_run(struct ctm_contentsum *sum)
{
	if (sum->run_len > 0) {
		put_number(&sum->runs, sum->run_at);
		put_number(&sum->runs, sum->run_len);
		sum->any = true;
		sum->run_len = 0;
	}
}

/* Whole blocks of zeros, from where the sum stands. */
static void leave_out(struct ctm_contentsum *sum, uint64_t len)
{
	if (sum->run_len == 0) {
		sum->run_at = sum->block_at;
	}
	sum->run_len += len;
	sum->block_at += len;
}

static bool all_zero(const unsigned char block[static BLOCK])
{
	return block[0] == 0 && memcmp(block, block + 1, BLOCK - 1) == 0;
}

static void end_block(struct ctm_contentsum *sum)
{
	if (sum->fill == BLOCK && all_zero(sum->block)) {
		sum->fill = 0;
		leave_out(sum, BLOCK);
		return;
	}
	end_run(sum);
	sha256_update(&sum->content, sum->fill, sum->block);
	sum->block_at += sum->fill;
	sum->fill = 0;
}

/* p NULL: zeros. */
static void put_some(struct ctm_contentsum *sum, const unsigned char *p, uint64_t len)
{
	while (len > 0) {
		size_t n = len < BLOCK - sum->fill ? (size_t)len : BLOCK - sum->fill;

		if (!p && sum->fill == 0 && len >= BLOCK) {
			uint64_t whole = len - len % BLOCK;

			leave_out(sum, whole);
			len -= whole;
			continue;
		}
		if (p) {
			memcpy(sum->block + sum->fill, p, n);
			p += n;
		} else {
			memset(sum->block + sum->fill, 0, n);
		}
		sum->fill += n;
		len -= n;
		if (sum->fill == BLOCK) {
			end_block(sum);
		}
	}
}

static uint64_t where(const struct ctm_contentsum *sum)
{
	return sum->block_at + sum->fill;
}

void ctm_contentsum_put(struct ctm_contentsum *sum, uint64_t at, const void *p, size_t len)
{
	put_some(sum, NULL, at > where(sum) ? at - where(sum) : 0);
	put_some(sum, p, len);
}

void ctm_contentsum_end(struct ctm_contentsum *sum, uint64_t size, uint8_t ret_sha256[static 32])
{
	uint8_t runs[32];

	put_some(sum, NULL, size > where(sum) ? size - where(sum) : 0);
	if (sum->fill > 0) {
		end_block(sum);
	}
	end_run(sum);
	if (sum->any) {
		sha256_digest(&sum->runs, sizeof(runs), runs);
		sha256_update(&sum->content, sizeof(runs), runs);
	}
	sha256_digest(&sum->content, 32, ret_sha256);
}

static int read_extent(int fd, const struct ctm_extent *extent, struct ctm_contentsum *sum,
		       ctm_contentsum_fn fn, void *arg)
{
	unsigned char buf[16384];
	uint64_t done = 0;
	int r = 0;

	while (r == 0 && done < extent->len) {
		uint64_t left = extent->len - done;
		ssize_t n = pread(fd, buf, left < sizeof(buf) ? (size_t)left : sizeof(buf),
				  (off_t)(extent->at + done));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : -ESTALE;
		}
		ctm_contentsum_put(sum, extent->at + done, buf, (size_t)n);
		r = fn ? fn(extent->at + done, buf, (size_t)n, arg) : 0;
		done += (uint64_t)n;
	}
	return r;
}

int ctm_contentsum_read(int fd, const struct ctm_extents *extents, ctm_contentsum_fn fn, void *arg,
			uint8_t ret_sha256[static 32])
{
	CLEANUP(ctm_contentsum_freep) struct ctm_contentsum *sum = ctm_contentsum_new();
	struct stat st;
	int r = sum ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < extents->v.n; i++) {
		r = read_extent(fd, &extents->v.v[i], sum, fn, arg);
	}
	if (r == 0 && fstat(fd, &st) < 0) {
		r = -errno;
	}
	if (r < 0) {
		return r;
	}
	if ((uint64_t)st.st_size != extents->size) {
		return -ESTALE;
	}
	ctm_contentsum_end(sum, extents->size, ret_sha256);
	return 0;
}

int ctm_contentsum_of(int fd, uint64_t max, uint8_t ret_sha256[static 32])
{
	CLEANUP(ctm_extents_done) struct ctm_extents extents = { 0 };
	int r = ctm_extents_find(fd, max, &extents);

	if (r < 0) {
		return r;
	}
	return extents.size > max ? -EFBIG :
				    ctm_contentsum_read(fd, &extents, NULL, NULL, ret_sha256);
}
