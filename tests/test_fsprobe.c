/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/fsprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "mkimage.h"
#include "scratch.h"

#define UUID "0e3cf2a8-5dc1-4b0f-9f0e-0123456789ab"

static const struct {
	const char *name;
	const char *make;
	const char *type;
	const char *uuid;
} rows[] = {
	{ "ext4", "truncate -s 8M i && mke2fs -q -F -t ext4 -U " UUID " i", "ext4", UUID },
	{ "ext2", "truncate -s 8M i && mke2fs -q -F -t ext2 -U " UUID " i", "ext2", UUID },
	{ "btrfs", "truncate -s 128M i && mkfs.btrfs -q -U " UUID " i", "btrfs", UUID },
	{ "xfs", "truncate -s 320M i && mkfs.xfs -q -m uuid=" UUID " i", "xfs", UUID },
	{ "by content, not by name",
	  "truncate -s 8M i.xfs && mke2fs -q -F -t ext4 -U " UUID " i.xfs && mv i.xfs i", "ext4",
	  UUID },
};
CASES(fsprobe, finds, rows)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	struct ctm_fsprobe got;
	struct ctm_err err = { 0 };

	run_in(s.path, rows[*i].make);
	fd = openat(s.fd, "i", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(ctm_fsprobe(fd, "i", &got, &err), 0, "%s: %s", rows[*i].name, err.msg);
	cr_assert_str_eq(got.type, rows[*i].type, "%s", rows[*i].name);
	cr_assert_str_eq(got.uuid, rows[*i].uuid, "%s", rows[*i].name);
}

static const struct {
	const char *name;
	const char *make;
	const char *says;
} bad[] = {
	{ "nothing", "truncate -s 8M i", "no file system found on 'i'" },
	{ "swap", "truncate -s 8M i && mkswap i", "'i' holds no file system but swap" },
	{ "partitions",
	  "truncate -s 8M i && printf '\\0\\0\\0\\0\\203\\0\\0\\0\\0\\010\\0\\0\\0\\020\\0\\0' |"
	  " dd of=i bs=1 seek=446 conv=notrunc &&"
	  " printf '\\125\\252' | dd of=i bs=1 seek=510 conv=notrunc",
	  "'i' holds a partition table (dos), no file system" },
	{ "two file systems",
	  "truncate -s 320M i && mkfs.xfs -q i && truncate -s 8M e && mke2fs -q -F -t ext4 e &&"
	  " dd if=e of=i bs=1k skip=1 seek=1 count=1 conv=notrunc",
	  "'i' carries the signatures of more than one file system" },
};
CASES(fsprobe, refuses, bad)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	struct ctm_fsprobe got = { .type = "untouched" };
	struct ctm_err err = { 0 };

	run_in(s.path, bad[*i].make);
	fd = openat(s.fd, "i", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(ctm_fsprobe(fd, "i", &got, &err), -EPERM, "%s", bad[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", bad[*i].name);
	cr_assert_str_eq(err.msg, bad[*i].says, "%s", bad[*i].name);
	cr_assert_str_eq(got.type, "untouched", "%s", bad[*i].name);
}

Test(fsprobe, a_device_that_cannot_be_read)
{
	SCRATCH(s);
	CLEANUP_CLOSE int fd = -1;
	struct ctm_fsprobe got = { .type = "untouched" };
	struct ctm_err err = { 0 };

	run_in(s.path, rows[0].make);
	fd = openat(s.fd, "i", O_WRONLY | O_CLOEXEC);
	cr_assert_eq(ctm_fsprobe(fd, "i", &got, &err), -EBADF, "%s", err.msg);
	cr_assert_eq(err.code, CTM_SYS);
	cr_assert_str_eq(got.type, "untouched");
}
