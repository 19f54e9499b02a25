/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A storage that does not answer: tests/root/150-dead-storage.sh. */
#include "target/hostask.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

Test(hostask, the_mode_of_what_is_there)
{
	SCRATCH(s);
	mode_t mode = 0;

	cr_assert_eq(ctm_hostask_mode(s.path, &mode), 0);
	cr_assert(S_ISDIR(mode));
	cr_assert_eq(ctm_hostask_mode("/dev/null", &mode), 0);
	cr_assert(S_ISCHR(mode));
	cr_assert_eq(ctm_hostask_mode("/nowhere/at/all", &mode), -ENOENT);
	cr_assert_eq(ctm_hostask_mode("/dev/null/x", &mode), -ENOTDIR);
}

static const struct {
	const char *name;
	const char *path;
	const char *mount_root;
} rows[] = {
	{ "there", "/dev", "/" },
	{ "not there", "/nowhere/at/all", NULL },
	{ "a path that only Proxmox VE's library knows", NULL, NULL },
	{ "no path of the host", "rbd/image", NULL },
};
CASES(hostask, volume, rows)
{
	struct ctm_volume vol = {
		.path = (char *)(uintptr_t)rows[*i].path,
		.mount_root = (char *)(uintptr_t)rows[*i].mount_root,
	};
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_hostask_volume(&vol, &err), 0, "%s: %s", rows[*i].name, err.msg);
}

Test(hostask, the_words_for_silence)
{
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_hostask_silent("/mnt/nfs", &err), -ETIME);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_str_eq(err.msg, "the storage at '/mnt/nfs' does not answer");
}
