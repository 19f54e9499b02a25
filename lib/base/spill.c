/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that moves into unlinked files where there is much of it.
 *
 * What is given out whole lies in one file, piece after piece; what grows has a file of its own, so
 * that it can grow without being copied. All of it stands in a table, which is short: pieces are
 * asked for by the dozen megabytes.
 */
#include "base/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/localfs.h"
#include "base/log.h"

CTM_HOST_PATHS

#define GROW_STEP  ((size_t)32 << 20) /* of an array in a file */
#define PASS_EVERY 4096U              /* a fault maps 16 pages: at most 256 MiB at a time */

struct area {
	unsigned char *p;
	size_t len;   /* whole pages */
	off_t offset; /* in the common file */
	int fd;       /* its own file; -1: it lies in the common one */
};

struct ctm_spill {
	char *dir;
	size_t memory;
	size_t heap; /* bytes given out of the heap */
	uint64_t room;
	uint64_t filed;
	int fd; /* the common file; -1: there is none yet */
	off_t end;
	CTM_VEC(struct area) areas;
	unsigned int passed;
	int error;
};

int ctm_spill_new(const char *dir, size_t memory, struct ctm_spill **ret)
{
	struct ctm_spill *spill = calloc(1, sizeof(*spill));

	if (!spill) {
		return -ENOMEM;
	}
	spill->fd = -1;
	spill->memory = memory;
	spill->dir = dir ? strdup(dir) : NULL;
	if (dir && !spill->dir) {
		free(spill);
		return -ENOMEM;
	}
	*ret = spill;
	return 0;
}

static void forget(struct ctm_spill *spill, struct area *area)
{
	(void)munmap(area->p, area->len);
	spill->filed -= area->len;
	if (area->fd >= 0) {
		ctm_closep(&area->fd);
		return;
	}
	/* Where no hole can be made, the room comes back with the file. */
	(void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, area->offset,
			(off_t)area->len);
}

void ctm_spill_free(struct ctm_spill *spill)
{
	if (!spill) {
		return;
	}
	for (size_t i = 0; i < spill->areas.n; i++) {
		forget(spill, &spill->areas.v[i]);
	}
	ctm_vec_done(&spill->areas);
	ctm_closep(&spill->fd);
	free(spill->dir);
	free(spill);
}

/* --- files --- */

/* NULL, and the reason is kept. */
static void *refused(struct ctm_spill *spill, int error)
{
	spill->error = error;
	return NULL;
}

static int open_unlinked(const char *dir)
{
	char *name = NULL;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
		return fd;
	}
	/* NFS and some FUSE file systems */
	if (asprintf(&name, "%s/.ctmend-XXXXXX", dir) < 0) {
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0 && unlink(name) < 0) {
		ctm_closep(&fd);
	}
	free(name);
	return fd;
}

static int new_file(struct ctm_spill *spill)
{
	CLEANUP_CLOSE int fd = -1;
	struct statvfs st;

	if (!spill->dir) {
		return -EFBIG;
	}
	fd = open_unlinked(spill->dir);
	if (fd < 0) {
		return -errno;
	}
	if (!ctm_localfs(fd)) {
		return -EMEDIUMTYPE;
	}
	if (spill->room == 0) {
		if (fstatvfs(fd, &st) < 0) {
			return -errno;
		}
		spill->room = (uint64_t)st.f_bavail * st.f_frsize / 2;
		CTM_DEBUG("spill", "files in '%s', at most %llu MiB", spill->dir,
			  (unsigned long long)spill->room >> 20);
	}
	return TAKE_FD(fd);
}

static int write_zeros(int fd, off_t offset, size_t len)
{
	static const unsigned char zeros[64 << 10];

	while (len > 0) {
		ssize_t n = pwrite(fd, zeros, len < sizeof(zeros) ? len : sizeof(zeros), offset);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : -EIO;
		}
		len -= (size_t)n;
		offset += n;
	}
	return 0;
}

/* Room on the disk for these bytes of a file. */
static int reserve(struct ctm_spill *spill, int fd, off_t offset, size_t len)
{
	int r;

	if (len > spill->room || spill->filed > spill->room - len) {
		return -ENOSPC;
	}
	do {
		r = fallocate(fd, 0, offset, (off_t)len) < 0 ? -errno : 0;
	} while (r == -EINTR);
	return r == -EOPNOTSUPP ? write_zeros(fd, offset, len) : r;
}

static size_t whole_pages(size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t all;

	return len && !__builtin_add_overflow(len, page - 1, &all) ? all / page * page : page;
}

/* The fd is the area's if all goes well and it is not the common one. */
static void *map_area(struct ctm_spill *spill, int fd, off_t offset, size_t len)
{
	struct area area = { .len = len, .offset = offset, .fd = fd == spill->fd ? -1 : fd };
	int r = reserve(spill, fd, offset, len);

	if (r < 0) {
		return refused(spill, r);
	}
	area.p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (area.p == MAP_FAILED) {
		return refused(spill, -errno);
	}
	if (madvise(area.p, len, MADV_DONTFORK) < 0) {
		r = -errno;
	}
	if (r == 0) {
		r = ctm_vec_push(&spill->areas, &area);
	}
	if (r < 0) {
		(void)munmap(area.p, len);
		return refused(spill, r);
	}
	spill->filed += len;
	return area.p;
}

/* A piece of the common file. */
static void *piece(struct ctm_spill *spill, size_t len)
{
	void *p;

	len = whole_pages(len);
	if (spill->fd < 0) {
		int fd = new_file(spill);

		if (fd < 0) {
			return refused(spill, fd);
		}
		spill->fd = fd;
	}
	p = map_area(spill, spill->fd, spill->end, len);
	if (p) {
		spill->end += (off_t)len;
	}
	return p;
}

/* A file of its own. */
static void *growing(struct ctm_spill *spill, size_t len)
{
	CLEANUP_CLOSE int fd = new_file(spill);
	void *p = fd < 0 ? refused(spill, fd) : map_area(spill, fd, 0, whole_pages(len));

	if (p) {
		(void)TAKE_FD(fd);
	}
	return p;
}

static struct area *area_of(const struct ctm_spill *spill, const void *p)
{
	for (size_t i = spill->areas.n; i-- > 0;) {
		if (spill->areas.v[i].p == p) {
			return &spill->areas.v[i];
		}
	}
	return NULL;
}

static void *lengthen(struct ctm_spill *spill, struct area *area, size_t len)
{
	void *p;
	int r;

	len = whole_pages(len);
	if (len <= area->len) {
		return area->p;
	}
	r = reserve(spill, area->fd, (off_t)area->len, len - area->len);
	if (r < 0) {
		return refused(spill, r);
	}
	p = mremap(area->p, area->len, len, MREMAP_MAYMOVE);
	if (p == MAP_FAILED) {
		return refused(spill, -errno);
	}
	spill->filed += len - area->len;
	area->p = p;
	area->len = len;
	return p;
}

/* --- either --- */

bool ctm_spill_fits(const struct ctm_spill *spill, size_t len)
{
	return !spill || (spill->heap <= spill->memory && len <= spill->memory - spill->heap);
}

void *ctm_spill_alloc(struct ctm_spill *spill, size_t len)
{
	void *p;

	if (!ctm_spill_fits(spill, len)) {
		return piece(spill, len);
	}
	p = malloc(len ? len : 1);
	if (p && spill) {
		spill->heap += len;
	}
	return p;
}

void *ctm_spill_zeros(struct ctm_spill *spill, size_t n, size_t size)
{
	size_t len;
	void *p;

	if (__builtin_mul_overflow(n, size, &len)) {
		return NULL;
	}
	if (!ctm_spill_fits(spill, len)) {
		return piece(spill, len); /* a new part of a file */
	}
	p = calloc(n ? n : 1, size);
	if (p && spill) {
		spill->heap += len;
	}
	return p;
}

/* It was given out for old bytes, and the heap will not do any more. */
static void *move_to_file(struct ctm_spill *spill, void *p, size_t old, size_t len)
{
	void *moved = growing(spill, len);

	if (moved && p) {
		memcpy(moved, p, old < len ? old : len);
		ctm_spill_drop(spill, p, old);
	}
	return moved;
}

void *ctm_spill_grow(struct ctm_spill *spill, void *p, size_t old, size_t len)
{
	struct area *area = spill && p ? area_of(spill, p) : NULL;
	void *moved;

	if (area) {
		return area->fd >= 0 ? lengthen(spill, area, len) :
				       move_to_file(spill, p, old, len);
	}
	if (spill && len > old && !ctm_spill_fits(spill, len - old)) {
		return move_to_file(spill, p, old, len);
	}
	moved = realloc(p, len ? len : 1);
	if (moved && spill) {
		spill->heap += len - old;
	}
	return moved;
}

void ctm_spill_drop(struct ctm_spill *spill, void *p, size_t len)
{
	struct area *area = spill && p ? area_of(spill, p) : NULL;

	if (area) {
		forget(spill, area);
		*area = spill->areas.v[--spill->areas.n];
		return;
	}
	free(p);
	if (spill && p) {
		spill->heap -= len;
	}
}

int ctm_spill_error(const struct ctm_spill *spill)
{
	return spill ? spill->error : 0;
}

uint64_t ctm_spill_filed(const struct ctm_spill *spill)
{
	return spill ? spill->filed : 0;
}

const char *ctm_spill_dir(const struct ctm_spill *spill)
{
	return spill ? spill->dir : NULL;
}

void ctm_spill_scattered(struct ctm_spill *spill, const void *p)
{
	const struct area *area = spill && p ? area_of(spill, p) : NULL;

	if (area) {
		(void)madvise(area->p, area->len, MADV_RANDOM);
	}
}

void ctm_spill_rest(struct ctm_spill *spill)
{
	/* Of a shared mapping that is the page table alone: what was written stays in the file. */
	for (size_t i = 0; spill && i < spill->areas.n; i++) {
		(void)madvise(spill->areas.v[i].p, spill->areas.v[i].len, MADV_DONTNEED);
	}
}

void ctm_spill_pass(struct ctm_spill *spill)
{
	if (spill && ++spill->passed % PASS_EVERY == 0) {
		ctm_spill_rest(spill);
	}
}

/* Doubles on the heap; in a file there is nothing to be copied, and room on the disk to be saved.
 */
void *ctm_spill_vec_grow_(struct ctm_spill *spill, void *v, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap < 4 ? 8 : 2 * *cap;
	size_t bytes;
	void *p;

	if (n < *cap) {
		return v;
	}
	if (*cap > GROW_STEP / size && spill && !ctm_spill_fits(spill, *cap * size)) {
		want = *cap + GROW_STEP / size;
	}
	if (*cap > SIZE_MAX / 4 || __builtin_mul_overflow(want, size, &bytes)) {
		return NULL;
	}
	p = ctm_spill_grow(spill, v, *cap * size, bytes);
	if (p) {
		*cap = want;
	}
	return p;
}
