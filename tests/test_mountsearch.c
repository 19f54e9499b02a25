/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/mountsearch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "cases.h"

static const struct {
	const char *name;
	const char *line;
	const char *inside;
	const char *home;
	bool want;
} rows[] = {
	{ "the device", "41 27 254:3 / /mnt rw - ext4 /dev/x rw\n", NULL, NULL, true },
	{ "the second of the devices", "41 27 7:9 / /mnt rw - ext4 /dev/x rw\n", NULL, NULL, true },
	{ "a part of the device", "41 27 254:3 /etc /mnt rw - ext4 /dev/x rw\n", NULL, NULL, true },
	{ "another device", "41 27 254:4 / /mnt rw - ext4 /dev/x rw\n", NULL, NULL, false },
	{ "another major", "41 27 253:3 / /mnt rw - ext4 /dev/x rw\n", NULL, NULL, false },
	{ "the directory", "41 27 254:3 /images/115 /mnt rw - ext4 /dev/x rw\n", "/images/115",
	  NULL, true },
	{ "below the directory", "41 27 254:3 /images/115/etc /mnt rw - ext4 /dev/x rw\n",
	  "/images/115", NULL, true },
	{ "beside the directory", "41 27 254:3 /images/1156 /mnt rw - ext4 /dev/x rw\n",
	  "/images/115", NULL, false },
	{ "above the directory", "41 27 254:3 /images /mnt rw - ext4 /dev/x rw\n", "/images/115",
	  NULL, false },
	{ "the same place elsewhere", "41 27 254:4 /images/115 /mnt rw - ext4 /dev/x rw\n",
	  "/images/115", NULL, false },
	{ "at home", "41 27 254:3 / /rpool/sub rw - zfs rpool/sub rw\n", "/", "/rpool/sub", false },
	{ "away from home", "41 27 254:3 / /mnt rw - zfs rpool/sub rw\n", "/", "/rpool/sub", true },
	{ "below home", "41 27 254:3 /etc /rpool/sub/x rw - zfs rpool/sub rw\n", "/", "/rpool/sub",
	  true },
	{ "a btrfs by a source that is no device", "41 27 0:55 / /mnt rw - btrfs /dev/null rw\n",
	  NULL, NULL, false },
};
CASES(mountsearch, matches, rows)
{
	const dev_t devs[] = { makedev(254, 3), makedev(7, 9) };
	const struct ctm_mount_query query = {
		.devs = devs,
		.n_devs = ARRAY_LEN(devs),
		.inside = rows[*i].inside,
		.home = rows[*i].home,
	};
	CLEANUP_FCLOSE FILE *f =
		fmemopen((void *)(uintptr_t)rows[*i].line, strlen(rows[*i].line), "r");
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	struct libmnt_fs *fs;

	cr_assert_eq(ctm_mounttab_parse(f, &table), 0, "%s", rows[*i].name);
	cr_assert_eq(ctm_mounttab_by_id(table, 41, &fs), 0);
	cr_assert_eq(ctm_mountsearch_matches(&query, fs), rows[*i].want, "%s", rows[*i].name);
}

static const struct ctm_bounded no_limits;

/* Without privileges at least our own processes can be looked into. */
Test(mountsearch, finds_proc_itself)
{
	CLEANUP(ctm_mount_hit_done) struct ctm_mount_hit hit = { 0 };
	struct ctm_mount_query query = { .n_devs = 1, .inside = "/" };
	struct stat st;

	cr_assert_eq(stat("/proc", &st), 0);
	query.devs = &st.st_dev;
	cr_assert_eq(ctm_mountsearch(&query, &no_limits, &hit), 1);
	cr_assert_eq(hit.kind, CTM_HIT_MOUNT);
	cr_assert_str_eq(hit.point.p, "/proc");
	cr_assert_gt(hit.pid, 0);
}

Test(mountsearch, what_is_mounted_nowhere)
{
	struct ctm_mount_hit hit = { 0 };
	const dev_t dev = makedev(4095, 1048575);
	const struct ctm_mount_query query = { .devs = &dev, .n_devs = 1 };

	cr_assert_eq(ctm_mountsearch(&query, &no_limits, &hit), 0);
	cr_assert_null(hit.point.p);
}
