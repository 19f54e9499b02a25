/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Go through /sys/block. */
#include "target/loopsearch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"

CTM_HOST_PATHS

static void closedirp(DIR **dir)
{
	if (*dir) {
		(void)closedir(*dir);
	}
}

static bool is_on(const struct loop_info64 *info, const struct ctm_rawvol *raw)
{
	if (raw->block) {
		/*
		 * of a backing file that is no device the kernel gives the device of its file
		 * system
		 */
		return info->lo_rdevice == raw->dev && info->lo_device != raw->dev;
	}
	return info->lo_device == raw->dev && info->lo_inode == raw->ino;
}

/* A device that is cleared while we look is no loop device of anything. */
static int look_at(unsigned int num, const struct ctm_rawvol *raw, struct ctm_loop_rows *rows)
{
	CLEANUP_CLOSE int fd = -1;
	struct ctm_loop_row row = { .num = num };
	struct loop_info64 info;
	struct stat st;
	char path[64];

	/* to open an unattached device would make the kernel load what it can for it */
	(void)snprintf(path, sizeof(path), "/sys/block/loop%u/loop/backing_file", num);
	if (access(path, F_OK) < 0) {
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/dev/loop%u", num);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0) {
		return errno == ENXIO ? 0 : -errno;
	}
	if (ioctl(fd, LOOP_GET_STATUS64, &info) < 0) {
		return errno == ENXIO ? 0 : -errno;
	}
	row.dev = st.st_rdev;
	row.readonly = info.lo_flags & LO_FLAGS_READ_ONLY;
	return is_on(&info, raw) ? ctm_vec_push(&rows->rows, &row) : 0;
}

/* "loop7" */
static bool is_loop(const char *name, unsigned int *ret)
{
	unsigned long num;
	char *end;

	if (strncmp(name, "loop", 4) != 0 || name[4] < '0' || name[4] > '9') {
		return false;
	}
	errno = 0;
	num = strtoul(name + 4, &end, 10);
	*ret = (unsigned int)num;
	return errno == 0 && *end == '\0' && num <= UINT_MAX;
}

int ctm_loopsearch(const struct ctm_rawvol *raw, struct ctm_loop_rows *ret)
{
	CLEANUP(ctm_loop_rows_done) struct ctm_loop_rows rows = { 0 };
	CLEANUP(closedirp) DIR *dir = opendir("/sys/block");
	const struct dirent *entry;

	if (!dir) {
		return -errno;
	}
	while ((entry = readdir(dir))) {
		unsigned int num;

		if (is_loop(entry->d_name, &num)) {
			int r = look_at(num, raw, &rows);

			if (r < 0) {
				return r;
			}
		}
	}
	*ret = rows;
	rows = (struct ctm_loop_rows){ 0 };
	return 0;
}
