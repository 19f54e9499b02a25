/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open directories that only root may write to. */
#include "target/hostdir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"

CTM_HOST_PATHS

/* Makes the directories of an absolute path that are missing. */
static int make_dirs(char *path, mode_t mode)
{
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0') {
			continue;
		}
		*p = '\0';
		if (mkdir(path, mode) < 0 && errno != EEXIST) {
			return -errno;
		}
		*p = c;
		if (c == '\0') {
			return 0;
		}
	}
}

int ctm_hostdir_open(const struct ctm_host *host, const char *place, mode_t mode, int *ret,
		     struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP_CLOSE int fd = -1;
	struct stat st;
	int r = ctm_host_path(host, &path, "%s", place);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	r = mode ? make_dirs(path.p, mode) : 0;
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "make '%s'", path.p);
	}
	fd = open(path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "open '%s'", path.p);
	}
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH))) {
		r = ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s' can be written by others than root, so what is in it means nothing",
			path.p);
		ctm_err_hint(err, "see who made it: ls -ld %s", path.p);
		return r;
	}
	*ret = TAKE_FD(fd);
	return 0;
}
