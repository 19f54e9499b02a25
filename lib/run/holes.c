/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a file has data, and where holes. */
#include "run/holes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"

void ctm_extents_done(struct ctm_extents *extents)
{
	ctm_vec_done(&extents->v);
}

/* 1 and the next data at or behind this place, 0: there is none, or it is behind the size. */
static int next_data(int fd, uint64_t from, uint64_t size, struct ctm_extent *ret)
{
	off_t data = lseek(fd, (off_t)from, SEEK_DATA);
	off_t hole;

	if (data < 0 && errno == ENXIO) {
		return 0;
	}
	hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
	if (hole < 0 && errno != EINVAL && errno != EOPNOTSUPP && errno != ENXIO) {
		return -errno;
	}
	if (hole < 0) {
		/* not known here, or the file was cut off in between */
		data = (off_t)from;
		hole = (off_t)size;
	}
	if ((uint64_t)data >= size) {
		return 0;
	}
	ret->at = (uint64_t)data;
	ret->len = ((uint64_t)hole < size ? (uint64_t)hole : size) - ret->at;
	return ret->len > 0;
}

int ctm_extents_find(int fd, uint64_t max, struct ctm_extents *ret)
{
	CLEANUP(ctm_extents_done) struct ctm_extents all = { 0 };
	struct stat st;
	uint64_t at = 0;
	int r;

	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	all.size = (uint64_t)st.st_size;
	for (;;) {
		struct ctm_extent one = { 0 };

		r = next_data(fd, at, all.size, &one);
		if (r <= 0) {
			break;
		}
		all.bytes += one.len;
		if (all.bytes > max) {
			return -EFBIG;
		}
		if (ctm_vec_push(&all.v, &one) < 0) {
			return -ENOMEM;
		}
		at = one.at + one.len;
	}
	if (r < 0) {
		return r;
	}
	*ret = all;
	memset(&all, 0, sizeof(all));
	return 0;
}
