/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of where a file has data. */
#include "run/holes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

#define MiB ((uint64_t)1 << 20)

/* Data stands in whole MiB, so that every file system has a hole between. */
static const struct {
	const char *name;
	uint64_t size;
	uint64_t at[3]; /* of 1 MiB of data each; UINT64_MAX: none */
	size_t n;
} rows[] = {
	{ "empty", 0, { 0 }, 0 },
	{ "a hole", 255 * MiB, { 0 }, 0 },
	{ "data", MiB, { 0 }, 1 },
	{ "data, and a hole", 100 * MiB, { 0 }, 1 },
	{ "a hole, and data", 5 * MiB, { 4 * MiB }, 1 },
	{ "several", 1000 * MiB + 1, { 2 * MiB, 4 * MiB, 900 * MiB }, 3 },
};

static int file_of(const struct scratch *dir, size_t row)
{
	CLEANUP_FREE char *data = malloc(MiB);
	int fd = openat(dir->fd, "f", O_RDWR | O_CREAT | O_TRUNC, 0600);

	cr_assert_geq(fd, 0);
	memset(data, 'x', MiB);
	for (size_t k = 0; k < rows[row].n; k++) {
		cr_assert_eq(pwrite(fd, data, MiB, (off_t)rows[row].at[k]), (ssize_t)MiB);
	}
	cr_assert_eq(ftruncate(fd, (off_t)rows[row].size), 0);
	return fd;
}

CASES(holes, extents, rows)
{
	SCRATCH(dir);
	CLEANUP_CLOSE int fd = file_of(&dir, *i);
	CLEANUP(ctm_extents_done) struct ctm_extents got = { 0 };

	cr_assert_eq(ctm_extents_find(fd, rows[*i].n * MiB, &got), 0, "%s", rows[*i].name);
	cr_assert_eq(got.size, rows[*i].size, "%s", rows[*i].name);
	cr_assert_eq(got.bytes, rows[*i].n * MiB, "%s", rows[*i].name);
	cr_assert_eq(got.v.n, rows[*i].n, "%s", rows[*i].name);
	for (size_t k = 0; k < got.v.n; k++) {
		cr_assert_eq(got.v.v[k].at, rows[*i].at[k], "%s", rows[*i].name);
		cr_assert_eq(got.v.v[k].len, MiB, "%s", rows[*i].name);
	}
	if (rows[*i].n > 0) {
		cr_assert_eq(ctm_extents_find(fd, rows[*i].n * MiB - 1, &got), -EFBIG, "%s",
			     rows[*i].name);
	}
}

/* A file system that knows of no holes: all is data. */
Test(holes, not_known)
{
	CLEANUP_CLOSE int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	CLEANUP(ctm_extents_done) struct ctm_extents got = { 0 };

	cr_assert_eq(ctm_extents_find(fd, 0, &got), 0, "its length is said to be 0");
	cr_assert_eq(got.bytes, 0);
}
