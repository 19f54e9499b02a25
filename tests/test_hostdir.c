/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Directories that only root may write to.
 */
#include "target/hostdir.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "sysroot.h"

static int try(const struct scratch *s, const char *place, mode_t mode, struct ctm_err *err)
{
	const struct ctm_host host = { .sysroot = s->path };
	CLEANUP_CLOSE int fd = -1;
	int r = ctm_hostdir_open(&host, place, mode, &fd, err);

	cr_assert_eq(r == 0, fd >= 0, "%s", place);
	return r;
}

static void place_of(const struct scratch *s, const char *place, char buf[static 512])
{
	(void)snprintf(buf, 512, "%s%s", s->path, place);
}

Test(hostdir, made_when_missing)
{
	SCRATCH(s);
	struct ctm_err err = { 0 };
	char path[512];
	struct stat st;

	cr_assert_eq(try(&s, "/run/a/b", 0, &err), -ENOENT);
	place_of(&s, "/run", path);
	cr_assert_lt(access(path, F_OK), 0, "mode 0 makes nothing");
	cr_assert_eq(try(&s, "/run/a/b", 0700, &err), 0, "%s", err.msg);
	place_of(&s, "/run/a/b", path);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0700);
	cr_assert_eq(try(&s, "/run/a/b", 0, &err), 0, "%s", err.msg);
}

static const struct {
	const char *name;
	mode_t mode;
	enum ctm_code code;
} rows[] = {
	{ "own", 0755, CTM_OK },
	{ "group can write", 0775, CTM_REFUSED },
	{ "all can write", 01777, CTM_REFUSED },
};
CASES(hostdir, modes, rows)
{
	SCRATCH(s);
	struct ctm_err err = { 0 };
	char path[512];

	sysroot_dir(&s, "run/x");
	place_of(&s, "/run/x", path);
	cr_assert_eq(chmod(path, rows[*i].mode), 0);
	cr_assert_eq(try(&s, "/run/x", 0700, &err) == 0, rows[*i].code == CTM_OK, "%s",
		     rows[*i].name);
	cr_assert_eq(err.code, rows[*i].code, "%s: %s", rows[*i].name, err.msg);
}

Test(hostdir, what_is_none)
{
	SCRATCH(s);
	struct ctm_err err = { 0 };

	sysroot_file(&s, "file", "");
	sysroot_dir(&s, "dir");
	sysroot_link(&s, "link", "dir");
	cr_assert_lt(try(&s, "/file", 0700, &err), 0);
	cr_assert_lt(try(&s, "/file/below", 0700, &err), 0);
	cr_assert_lt(try(&s, "/link", 0700, &err), 0, "a link was followed");
}
