/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stat(2) and statfs(2) by a child. */
#include "target/hostask.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "target/bounded.h"

CTM_HOST_PATHS

#define ANSWER_MS 3000

/*
 * What a network file system knows of an inode it remembers for a while; how much room it has it
 * asks its server each time.
 */
static int ask(int out, void *arg)
{
	const char *path = arg;
	struct statfs fs;
	struct stat st;

	if (stat(path, &st) < 0 || statfs(path, &fs) < 0) {
		return -errno;
	}
	return ctm_bounded_say(out, &st.st_mode, sizeof(st.st_mode));
}

int ctm_hostask_mode(const char *path, mode_t *ret)
{
	const struct ctm_bounded limits = { .total_ms = ANSWER_MS };
	CLEANUP(ctm_buf_done) struct ctm_buf said = { 0 };
	int r = ctm_bounded_ask(ask, (void *)(uintptr_t)path, &limits, &said);

	if (r < 0 || said.len != sizeof(*ret)) {
		return r < 0 ? r : -EPIPE;
	}
	memcpy(ret, said.p, sizeof(*ret));
	return 0;
}

int ctm_hostask_silent(const char *path, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, ETIME, "the storage at '%s' does not answer", path);
	ctm_err_hint(err, "see whether its server or its program runs, with: findmnt -T '%s'",
		     path);
	return r;
}

static int answers(const char *path, struct ctm_err *err)
{
	mode_t mode;

	return path && path[0] == '/' && ctm_hostask_mode(path, &mode) == -ETIME ?
		       ctm_hostask_silent(path, err) :
		       0;
}

int ctm_hostask_volume(const struct ctm_volume *vol, struct ctm_err *err)
{
	/* of a mount point alone, when the volume is not there yet */
	int r = answers(vol->mount_root, err);

	return r < 0 ? r : answers(vol->path, err);
}
