/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/sbstate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "mkimage.h"
#include "scratch.h"

#define MKE2FS           "truncate -s 8M i && mke2fs -q -F "
#define DEBUGFS(request) " && debugfs -w -R '" request "' i"
/* debugfs would mark the block clean again when it ends, so its bytes are written by hand. */
#define MMP(offset, bytes)                                                 \
	" && at=$(dumpe2fs -h i | awk '/^MMP block number/ { print $4 }')" \
	" && size=$(dumpe2fs -h i | awk '/^Block size/ { print $3 }')"     \
	" && printf '" bytes "' | dd of=i bs=1 seek=$((at * size + " offset ")) conv=notrunc"
#define MMP_IN_USE MMP("4", "\\005\\0\\0\\0")

/* The states that e2fsprogs' own tools write, as they would be after a crash. */
static const struct {
	const char *name;
	const char *make;
	const char *type;
	struct ctm_sbstate want;
} rows[] = {
	{ "ext4", MKE2FS "-t ext4 i", "ext4", { .mmp = CTM_MMP_NONE } },
	{ "ext2", MKE2FS "-t ext2 i", "ext2", { .mmp = CTM_MMP_NONE } },
	{ "journal",
	  MKE2FS "-t ext3 i" DEBUGFS("feature needs_recovery"),
	  "ext3",
	  { .dirty = true } },
	{ "orphan", MKE2FS "-t ext4 i" DEBUGFS("ssv last_orphan 12"), "ext4", { .dirty = true } },
	{ "errors", MKE2FS "-t ext4 i" DEBUGFS("ssv state 3"), "ext4", { .errors = true } },
	{ "unclean but replayed",
	  MKE2FS "-t ext4 i" DEBUGFS("ssv state 0"),
	  "ext4",
	  { .dirty = false } },
	{ "mmp", MKE2FS "-t ext4 -O mmp i", "ext4", { .mmp = CTM_MMP_CLEAN } },
	{ "mmp, blocks of 4 KiB",
	  MKE2FS "-t ext4 -b 4096 -O mmp i",
	  "ext4",
	  { .mmp = CTM_MMP_CLEAN } },
	{ "mmp in use",
	  MKE2FS "-t ext4 -O mmp i" MMP_IN_USE,
	  "ext4",
	  /* 5 s is the least interval: 2 * (2 * 5 + 1) */
	  { .mmp = CTM_MMP_UNCLEAN, .mmp_wait = 22 } },
	{ "mmp with the interval of its last user",
	  MKE2FS "-t ext4 -b 4096 -O mmp i" MMP_IN_USE MMP("112", "\\012\\0"),
	  "ext4",
	  { .mmp = CTM_MMP_UNCLEAN, .mmp_wait = 42 } },
	{ "mmp with a long interval",
	  MKE2FS "-t ext4 -O mmp -E mmp_update_interval=100 i" MMP_IN_USE,
	  "ext4",
	  /* beyond 60 s it is the interval and a minute */
	  { .mmp = CTM_MMP_UNCLEAN, .mmp_wait = 320 } },
	{ "mmp under e2fsck",
	  MKE2FS "-t ext4 -O mmp i" MMP("4", "\\120\\115\\115\\342"),
	  "ext4",
	  { .mmp = CTM_MMP_FSCK } },
	{ "xfs is not looked into",
	  MKE2FS "-t ext4 i" DEBUGFS("feature needs_recovery"),
	  "xfs",
	  { .dirty = false } },
};
CASES(sbstate, read, rows)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	struct ctm_sbstate got;

	run_in(s.path, rows[*i].make);
	fd = openat(s.fd, "i", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(ctm_sbstate_read(fd, rows[*i].type, &got), 0, "%s", rows[*i].name);
	cr_assert_eq(got.dirty, rows[*i].want.dirty, "%s: dirty", rows[*i].name);
	cr_assert_eq(got.errors, rows[*i].want.errors, "%s: errors", rows[*i].name);
	cr_assert_eq(got.mmp, rows[*i].want.mmp, "%s: mmp %d", rows[*i].name, (int)got.mmp);
	cr_assert_eq(got.mmp_wait, rows[*i].want.mmp_wait, "%s: %u s", rows[*i].name, got.mmp_wait);
}

static const struct {
	const char *name;
	const char *make;
	const char *type;
} bad[] = {
	{ "no superblock", "truncate -s 8M i", "ext4" },
	{ "an empty file", ": >i", "ext4" },
	{ "a short file", "truncate -s 1500 i", "ext4" },
	{ "no btrfs", "truncate -s 8M i", "btrfs" },
	{ "a short btrfs", "truncate -s 66000 i", "btrfs" },
	{ "no block for mmp", MKE2FS "-t ext4 -O mmp i" DEBUGFS("ssv mmp_block 0"), "ext4" },
	{ "a block for mmp that is not there",
	  MKE2FS "-t ext4 -O mmp i" DEBUGFS("ssv mmp_block 99999999"), "ext4" },
	{ "one beyond all", MKE2FS "-t ext4 -O mmp i" DEBUGFS("ssv mmp_block 0xffffffffffffffff"),
	  "ext4" },
	{ "blocks of no size",
	  MKE2FS "-t ext4 -O mmp i && printf '\\200' | dd of=i bs=1 seek=1048 conv=notrunc",
	  "ext4" },
};
CASES(sbstate, damage, bad)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	struct ctm_sbstate got = { .mmp_wait = 77 };

	run_in(s.path, bad[*i].make);
	fd = openat(s.fd, "i", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(ctm_sbstate_read(fd, bad[*i].type, &got), -EUCLEAN, "%s", bad[*i].name);
	cr_assert_eq(got.mmp_wait, 77, "%s: result written", bad[*i].name);
}

/*
 * The log tree's root is the u64 at 0x60 of the superblock, not zero after a crash behind an
 * fsync.
 */
Test(sbstate, btrfs)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	struct ctm_sbstate got;

	run_in(s.path, "truncate -s 128M i && mkfs.btrfs -q i");
	fd = openat(s.fd, "i", O_RDWR | O_CLOEXEC);
	cr_assert_eq(ctm_sbstate_read(fd, "btrfs", &got), 0);
	cr_assert(!got.dirty);
	cr_assert_eq(pwrite(fd, "\1", 1, 65536 + 0x60 + 2), 1);
	cr_assert_eq(ctm_sbstate_read(fd, "btrfs", &got), 0);
	cr_assert(got.dirty);
}
