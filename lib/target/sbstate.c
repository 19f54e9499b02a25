/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Superblocks of ext2, ext3, ext4 and btrfs. */
#include "target/sbstate.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* ext: offsets within the superblock, which begins at byte 1024 */
#define EXT_SB              1024
#define EXT_LEN             1024
#define EXT_MAGIC           0x38
#define EXT_STATE           0x3a
#define EXT_LOG_BLOCK       0x18
#define EXT_INCOMPAT        0x60
#define EXT_RO_COMPAT       0x64
#define EXT_LAST_ORPHAN     0xe8
#define EXT_MMP_INTERVAL    0x166
#define EXT_MMP_BLOCK       0x168
#define EXT_MAGIC_VALUE     0xef53
#define EXT_STATE_ERRORS    0x2u
#define EXT_RECOVER         0x4u
#define EXT_MMP             0x100u
#define EXT_ORPHANS_PRESENT 0x10000u
#define EXT_MAX_LOG_BLOCK   6 /* 64 KiB */

/* the block of the multi-mount protection */
#define MMP_MAGIC          0x0
#define MMP_SEQ            0x4
#define MMP_CHECK_INTERVAL 0x70
#define MMP_LEN            0x80
#define MMP_MAGIC_VALUE    0x004d4d50u
#define MMP_SEQ_CLEAN      0xff4d4d50u
#define MMP_SEQ_FSCK       0xe24d4d50u

/*
 * The kernel watches the sequence number twice, each time at least this long
 * (EXT4_MMP_MIN_CHECK_INTERVAL).
 */
#define MMP_MIN_CHECK 5u

#define BTRFS_SB          65536
#define BTRFS_LEN         4096
#define BTRFS_MAGIC       0x40
#define BTRFS_MAGIC_VALUE "_BHRfS_M"
#define BTRFS_LOG_ROOT    0x60

static uint16_t le16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static uint32_t le32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t le64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static int read_at(int fd, unsigned char *to, size_t len, uint64_t at)
{
	ssize_t n;

	if (at > INT64_MAX - len) {
		return -EUCLEAN;
	}
	do {
		n = pread(fd, to, len, (off_t)at);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		return -errno;
	}
	return (size_t)n == len ? 0 : -EUCLEAN;
}

/*
 * fs/ext4/mmp.c: it sleeps min(2c + 1, c + 60), looks, claims the block, sleeps and looks once
 * more.
 */
static unsigned int mmp_wait(unsigned int interval, unsigned int in_block)
{
	unsigned int c = interval > in_block ? interval : in_block;

	c = c > MMP_MIN_CHECK ? c : MMP_MIN_CHECK;
	return 2 * (2 * c + 1 < c + 60 ? 2 * c + 1 : c + 60);
}

static int read_mmp(int fd, const unsigned char *sb, struct ctm_sbstate *ret)
{
	unsigned char block[MMP_LEN];
	uint32_t log = le32(sb + EXT_LOG_BLOCK);
	uint64_t at;
	int r;

	if (log > EXT_MAX_LOG_BLOCK ||
	    __builtin_mul_overflow(le64(sb + EXT_MMP_BLOCK), UINT64_C(1024) << log, &at)) {
		return -EUCLEAN;
	}
	r = read_at(fd, block, sizeof(block), at);
	if (r < 0) {
		return r;
	}
	if (le32(block + MMP_MAGIC) != MMP_MAGIC_VALUE) {
		return -EUCLEAN;
	}
	switch (le32(block + MMP_SEQ)) {
	case MMP_SEQ_CLEAN:
		ret->mmp = CTM_MMP_CLEAN;
		break;
	case MMP_SEQ_FSCK:
		ret->mmp = CTM_MMP_FSCK;
		break;
	default:
		ret->mmp = CTM_MMP_UNCLEAN;
		ret->mmp_wait =
			mmp_wait(le16(sb + EXT_MMP_INTERVAL), le16(block + MMP_CHECK_INTERVAL));
		break;
	}
	return 0;
}

static int read_ext(int fd, struct ctm_sbstate *ret)
{
	unsigned char sb[EXT_LEN];
	int r = read_at(fd, sb, sizeof(sb), EXT_SB);

	if (r < 0) {
		return r;
	}
	if (le16(sb + EXT_MAGIC) != EXT_MAGIC_VALUE) {
		return -EUCLEAN;
	}
	ret->errors = le16(sb + EXT_STATE) & EXT_STATE_ERRORS;
	ret->dirty = (le32(sb + EXT_INCOMPAT) & EXT_RECOVER) || le32(sb + EXT_LAST_ORPHAN) != 0 ||
		     (le32(sb + EXT_RO_COMPAT) & EXT_ORPHANS_PRESENT);
	return le32(sb + EXT_INCOMPAT) & EXT_MMP ? read_mmp(fd, sb, ret) : 0;
}

static int read_btrfs(int fd, struct ctm_sbstate *ret)
{
	unsigned char sb[BTRFS_LEN];
	int r = read_at(fd, sb, sizeof(sb), BTRFS_SB);

	if (r < 0) {
		return r;
	}
	if (memcmp(sb + BTRFS_MAGIC, BTRFS_MAGIC_VALUE, strlen(BTRFS_MAGIC_VALUE)) != 0) {
		return -EUCLEAN;
	}
	ret->dirty = le64(sb + BTRFS_LOG_ROOT) != 0;
	return 0;
}

int ctm_sbstate_read(int fd, const char *type, struct ctm_sbstate *ret)
{
	static const struct {
		const char *type;
		int (*read)(int fd, struct ctm_sbstate *ret);
	} readers[] = {
		{ "ext2", read_ext },
		{ "ext3", read_ext },
		{ "ext4", read_ext },
		{ "btrfs", read_btrfs },
	};
	struct ctm_sbstate state = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
		if (strcmp(readers[i].type, type) == 0) {
			int r = readers[i].read(fd, &state);

			if (r < 0) {
				return r;
			}
		}
	}
	*ret = state;
	return 0;
}
