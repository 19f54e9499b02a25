/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The content of files: copied and hashed in one go. */
#include "run/content.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/contentsum.h"

#define CHUNK ((size_t)64 << 10)

int ctm_content_read(int fd, uint64_t max, ctm_content_fn fn, void *arg,
		     uint8_t ret_sha256[static 32])
{
	CLEANUP_FREE unsigned char *chunk = malloc(CHUNK);
	struct sha256_ctx ctx;
	uint64_t at = 0;
	int r = 0;

	if (!chunk) {
		return -ENOMEM;
	}
	sha256_init(&ctx);
	for (;;) {
		ssize_t n = pread(fd, chunk, CHUNK, (off_t)at);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return -errno;
		}
		if (n == 0) {
			break;
		}
		at += (uint64_t)n;
		if (at > max) {
			return -EFBIG;
		}
		sha256_update(&ctx, (size_t)n, chunk);
		if (fn) {
			r = fn(chunk, (size_t)n, arg);
		}
		if (r < 0) {
			return r;
		}
	}
	sha256_digest(&ctx, 32, ret_sha256);
	return 0;
}

int ctm_content_hash(const struct ctm_ops *ops, void *fs, const struct ctm_ref *ref, uint64_t max,
		     uint8_t ret_sha256[static 32])
{
	CLEANUP_CLOSE int fd = -1;
	int r = ops->content(fs, ref, &fd);

	return r < 0 ? r : ctm_contentsum_of(fd, max, ret_sha256);
}

int ctm_content_write(int fd, const void *p, size_t len)
{
	const char *at = p;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : -EIO;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}
