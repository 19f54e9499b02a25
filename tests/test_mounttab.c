/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/mounttab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "target/rootfd.h"

/* As the kernel writes them: blanks in names as \040, optional fields before the dash. */
static const char table_text[] =
	"27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
	"40 27 0:30 / /srv/a\\040b rw shared:9 master:1 - tmpfs none rw\n"
	"41 27 254:3 /images/115/sub /mnt rw,nosuid,idmapped - xfs /dev/mapper/pve-data rw\n"
	"42 27 0:35 /@sub /pool rw - btrfs /dev/sdb rw,subvolid=256,subvol=/@sub\n"
	"43 40 0:31 / /srv/a\\040b/deep/er rw - tmpfs none rw\n"
	"44 43 0:32 / /srv/a\\040b/deep/er rw - tmpfs over rw\n"
	"45 27 0:33 / /srv/a\\040beside rw - tmpfs none rw\n";

static struct libmnt_table *parse(const char *text, size_t len)
{
	CLEANUP_FCLOSE FILE *f = fmemopen((void *)(uintptr_t)text, len, "r");
	struct libmnt_table *table = NULL;
	int r = ctm_mounttab_parse(f, &table);

	cr_assert_eq(r, 0, "returned %d", r);
	return table;
}

static struct libmnt_fs *row(struct libmnt_table *table, uint64_t id)
{
	struct libmnt_fs *fs = NULL;

	cr_assert_eq(ctm_mounttab_by_id(table, id, &fs), 0, "no row %d", (int)id);
	return fs;
}

Test(mounttab, rows_by_id)
{
	CLEANUP(ctm_mounttab_unrefp)
	struct libmnt_table *table = parse(table_text, sizeof(table_text) - 1);
	struct libmnt_fs *fs = NULL;

	cr_assert_str_eq(mnt_fs_get_target(row(table, 40)), "/srv/a b");
	cr_assert_str_eq(mnt_fs_get_fstype(row(table, 42)), "btrfs");
	cr_assert_eq(ctm_mounttab_by_id(table, 1, &fs), -ENOENT);
	cr_assert_null(fs);
	cr_assert(ctm_mounttab_idmapped(row(table, 41)));
	cr_assert(!ctm_mounttab_idmapped(row(table, 40)));
}

static const struct {
	uint64_t id;
	const char *path;
	int r;
	const char *inside;
} insides[] = {
	{ 27, "/srv/x", 0, "/srv/x" },
	{ 27, "/", 0, "/" },
	{ 40, "/srv/a b", 0, "/" },
	{ 40, "/srv/a b/c", 0, "/c" },
	{ 40, "/srv/a beside", -EXDEV, NULL },
	{ 40, "/srv", -EXDEV, NULL },
	{ 40, "relative", -EXDEV, NULL },
	{ 41, "/mnt", 0, "/images/115/sub" },
	{ 41, "/mnt/etc", 0, "/images/115/sub/etc" },
	{ 42, "/pool/one", 0, "/@sub/one" },
};
CASES(mounttab, inside, insides)
{
	CLEANUP(ctm_mounttab_unrefp)
	struct libmnt_table *table = parse(table_text, sizeof(table_text) - 1);
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	const char *path = insides[*i].path;

	cr_assert_eq(ctm_mounttab_inside(row(table, insides[*i].id), path, &got), insides[*i].r,
		     "%s", path);
	if (insides[*i].inside) {
		cr_assert_str_eq(got.p, insides[*i].inside, "%s", path);
	}
}

static const struct {
	uint64_t id;
	const char *dir;
	bool shows;
} shown[] = {
	{ 27, "/", true },
	{ 27, "/srv", false },
	{ 41, "/", true },
	{ 41, "/images", true },
	{ 41, "/images/115/sub", true },
	{ 41, "/images/115/su", false },
	{ 41, "/images/115/sub/etc", false },
	{ 42, "/@sub", true },
	{ 42, "/@", false },
};
CASES(mounttab, shows, shown)
{
	CLEANUP(ctm_mounttab_unrefp)
	struct libmnt_table *table = parse(table_text, sizeof(table_text) - 1);

	cr_assert_eq(ctm_mounttab_shows(row(table, shown[*i].id), shown[*i].dir), shown[*i].shows,
		     "row %d, %s", (int)shown[*i].id, shown[*i].dir);
}

static int collect(const char *path, void *arg)
{
	return ctm_buf_addf(arg, "[%s]", path);
}

static int stop(const char *path, void *arg)
{
	(void)path;
	++*(int *)arg;
	return 7;
}

Test(mounttab, mounts_below)
{
	CLEANUP(ctm_mounttab_unrefp)
	struct libmnt_table *table = parse(table_text, sizeof(table_text) - 1);
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	int calls = 0;

	cr_assert_eq(ctm_mounttab_each_below(table, "/srv/a b", collect, &got), 0);
	cr_assert_str_eq(got.p, "[deep/er]", "each once, not itself, not what only begins so");
	ctm_buf_done(&got);
	cr_assert_eq(ctm_mounttab_each_below(table, "/", collect, &got), 0);
	cr_assert_str_eq(got.p, "[srv/a b][mnt][pool][srv/a b/deep/er][srv/a beside]");
	cr_assert_eq(ctm_mounttab_each_below(table, "/", stop, &calls), 7);
	cr_assert_eq(calls, 1);
	cr_assert_eq(ctm_mounttab_each_below(table, "/mnt", stop, &calls), 0);
}

static const struct {
	const char *name;
	const char *text;
} bad[] = {
	{ "cut line", "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n41 27 0:30\n" },
	{ "no dash", "27 1 254:0 / / rw - ext4 /dev/root rw\n28 27 0:1 / /x rw tmpfs none rw\n" },
	{ "no number",
	  "27 1 254:0 / / rw - ext4 /dev/root rw\nx 27 0:1 / /x rw - tmpfs none rw\n" },
};
CASES(mounttab, a_bad_line_is_not_passed_over, bad)
{
	CLEANUP_FCLOSE FILE *f =
		fmemopen((void *)(uintptr_t)bad[*i].text, strlen(bad[*i].text), "r");
	struct libmnt_table *table = NULL;

	cr_assert_lt(ctm_mounttab_parse(f, &table), 0, "%s", bad[*i].name);
	cr_assert_null(table, "%s", bad[*i].name);
}

/* This host's own table: the mount of /proc is where the kernel says the directory is. */
Test(mounttab, own_table)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	CLEANUP_CLOSE int fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ctm_inode inode;

	cr_assert_eq(ctm_rootfd_stat(fd, &inode), 0);
	cr_assert_eq(ctm_mounttab_read("/proc/self/mountinfo", &table), 0);
	cr_assert_str_eq(mnt_fs_get_target(row(table, inode.mnt_id)), "/proc");
	cr_assert_str_eq(mnt_fs_get_fstype(row(table, inode.mnt_id)), "proc");
}

Test(mounttab, a_process_that_is_gone)
{
	struct libmnt_table *table = NULL;

	cr_assert_eq(ctm_mounttab_read("/proc/4194305/mountinfo", &table), -ENOENT);
	cr_assert_null(table);
}
