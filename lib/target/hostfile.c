/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configuration files of the host, read whole.
 */
#include "target/hostfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/lines.h"

CTM_HOST_PATHS

static int read_all(int fd, struct ctm_buf *ret)
{
	size_t total = 0;
	char chunk[16384];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : 0;
		}
		total += (size_t)n;
		if (total > CTM_CONFIG_MAX) {
			return -EFBIG;
		}
		if (ctm_buf_add(ret, chunk, (size_t)n) < 0) {
			return -ENOMEM;
		}
	}
}

int ctm_hostfile_read(const char *path, struct ctm_buf *ret, struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "read '%s'", path);
	}
	if (!S_ISREG(st.st_mode)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' is no regular file", path);
	}
	r = read_all(fd, ret);
	if (r == -EFBIG) {
		return ctm_err_set(err, CTM_REFUSED, EFBIG, "'%s' is larger than %zu bytes", path,
				   CTM_CONFIG_MAX);
	}
	return r < 0 ? ctm_err_set(err, CTM_SYS, r, "read '%s'", path) : 0;
}

bool ctm_hostfile_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool ctm_hostfile_is_mount(const char *path)
{
	struct statx sx;

	return statx(AT_FDCWD, path, 0, STATX_TYPE, &sx) == 0 &&
	       (sx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

int ctm_hostfile_mode(const char *path, mode_t *ret)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		return -errno;
	}
	*ret = st.st_mode;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* LXC takes them in the folder's own order; by name the result is at least the same every time. */
static int list_folder(const char *path, struct ctm_lxcconf_source *ret, struct ctm_err *err)
{
	DIR *dir = opendir(path);
	int r = 0;

	if (!dir) {
		return ctm_err_set(err, CTM_SYS, errno, "read '%s'", path);
	}
	while (r == 0) {
		CLEANUP(ctm_buf_done) struct ctm_buf file = { 0 };
		const struct dirent *entry;
		size_t len;

		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			r = -errno;
			break;
		}
		len = strlen(entry->d_name);
		if (len < 6 || strcmp(entry->d_name + len - 5, ".conf") != 0) {
			continue;
		}
		r = ret->files.n < CTM_LXCCONF_FILES ?
			    ctm_buf_addf(&file, "%s/%s", path, entry->d_name) :
			    -E2BIG;
		if (r == 0) {
			r = ctm_vec_push(&ret->files, &file.p);
		}
		if (r == 0) {
			file = (struct ctm_buf){ 0 };
		}
	}
	(void)closedir(dir);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "read '%s'", path);
	}
	if (ret->files.n > 0) {
		qsort(ret->files.v, ret->files.n, sizeof(ret->files.v[0]), by_name);
	}
	return 0;
}

int ctm_hostfile_lxc(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		     struct ctm_err *err)
{
	mode_t mode = 0;
	int r = ctm_hostfile_mode(path, &mode);

	(void)arg;
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "read '%s'", path);
	}
	return S_ISDIR(mode) ? list_folder(path, ret, err) :
			       ctm_hostfile_read(path, &ret->text, err);
}
