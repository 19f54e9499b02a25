/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading configuration files of the host.
 */
#include "target/hostfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "config/lines.h"
#include "sysroot.h"

static const char *in(const struct scratch *s, const char *name, char buf[static 512])
{
	(void)snprintf(buf, 512, "%s/%s", s->path, name);
	return buf;
}

Test(hostfile, read)
{
	SCRATCH(s);
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err err = { 0 };
	char path[512];

	sysroot_bytes(&s, "file", "a\0b", 3);
	cr_assert_eq(ctm_hostfile_read(in(&s, "file", path), &text, &err), 0, "%s", err.msg);
	cr_assert_eq(text.len, 3);
	cr_assert_eq(memcmp(text.p, "a\0b", 3), 0);

	sysroot_file(&s, "empty", "");
	ctm_buf_done(&text);
	cr_assert_eq(ctm_hostfile_read(in(&s, "empty", path), &text, &err), 0, "%s", err.msg);
	cr_assert_eq(text.len, 0);
}

Test(hostfile, what_cannot_be_read)
{
	SCRATCH(s);
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err err = { 0 };
	char path[512];

	cr_assert_eq(ctm_hostfile_read(in(&s, "gone", path), &text, &err), -ENOENT);
	cr_assert_eq(err.code, CTM_SYS);
	cr_assert_eq(err.num, ENOENT);

	cr_assert_eq(ctm_hostfile_read(s.path, &text, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);

	/* nobody writes to it: a read that waits would never end */
	cr_assert_eq(mkfifo(in(&s, "fifo", path), 0600), 0);
	cr_assert_eq(ctm_hostfile_read(path, &text, &err), -EPERM);
	cr_assert_not_null(strstr(err.msg, "no regular file"), "%s", err.msg);
}

Test(hostfile, size_limit)
{
	SCRATCH(s);
	CLEANUP(ctm_buf_done) struct ctm_buf at = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf over = { 0 };
	CLEANUP_FREE char *bytes = malloc(CTM_CONFIG_MAX + 1);
	struct ctm_err err = { 0 };
	char path[512];

	memset(bytes, 'x', CTM_CONFIG_MAX + 1);
	sysroot_bytes(&s, "at", bytes, CTM_CONFIG_MAX);
	sysroot_bytes(&s, "over", bytes, CTM_CONFIG_MAX + 1);
	cr_assert_eq(ctm_hostfile_read(in(&s, "at", path), &at, &err), 0, "%s", err.msg);
	cr_assert_eq(at.len, CTM_CONFIG_MAX);
	cr_assert_eq(ctm_hostfile_read(in(&s, "over", path), &over, &err), -EFBIG);
	cr_assert_eq(err.code, CTM_REFUSED);
}

Test(hostfile, exists_and_mode)
{
	SCRATCH(s);
	char path[512];
	mode_t mode = 0;

	sysroot_file(&s, "file", "");
	sysroot_link(&s, "link", "file");
	sysroot_link(&s, "dangling", "gone");
	cr_assert(ctm_hostfile_exists(in(&s, "file", path)));
	cr_assert(ctm_hostfile_exists(in(&s, "link", path)));
	cr_assert_not(ctm_hostfile_exists(in(&s, "dangling", path)));
	cr_assert_eq(ctm_hostfile_mode(in(&s, "link", path), &mode), 0);
	cr_assert(S_ISREG(mode));
	cr_assert_eq(ctm_hostfile_mode(s.path, &mode), 0);
	cr_assert(S_ISDIR(mode));
	cr_assert_eq(ctm_hostfile_mode(in(&s, "gone", path), &mode), -ENOENT);
}

Test(hostfile, folder_of_an_lxc_include)
{
	static const char *const want[] = { "/d/a.conf", "/d/b.conf" };
	SCRATCH(s);
	struct ctm_lxcconf_source source = { 0 };
	struct ctm_err err = { 0 };
	char path[512];

	sysroot_file(&s, "d/b.conf", "b");
	sysroot_file(&s, "d/a.conf", "a");
	sysroot_file(&s, "d/.conf", "no name");
	sysroot_file(&s, "d/a.conf.bak", "another suffix");
	cr_assert_eq(ctm_hostfile_lxc(NULL, in(&s, "d", path), &source, &err), 0, "%s", err.msg);
	cr_assert_eq(source.files.n, ARRAY_LEN(want));
	for (size_t i = 0; i < source.files.n; i++) {
		cr_assert_str_eq(source.files.v[i] + strlen(s.path), want[i]);
	}
	ctm_lxcconf_source_done(&source);

	cr_assert_eq(ctm_hostfile_lxc(NULL, in(&s, "d/a.conf", path), &source, &err), 0);
	cr_assert_eq(source.files.n, 0);
	cr_assert_str_eq(source.text.p, "a");
	ctm_lxcconf_source_done(&source);

	cr_assert_eq(ctm_hostfile_lxc(NULL, in(&s, "gone", path), &source, &err), -ENOENT);
	ctm_lxcconf_source_done(&source);
}
