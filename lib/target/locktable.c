/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of /proc/locks. */
#include "target/locktable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"

CTM_HOST_PATHS

#define ROW_MAX 256

static enum ctm_lock_kind kind_of(const char *word)
{
	return strcmp(word, "FLOCK") == 0  ? CTM_LOCK_FLOCK :
	       strcmp(word, "POSIX") == 0  ? CTM_LOCK_POSIX :
	       strcmp(word, "OFDLCK") == 0 ? CTM_LOCK_OFD :
					     CTM_LOCK_OTHER;
}

/* What follows the number and the arrow: fs/locks.c indents a waiter's waiters. */
static const char *skip_head(const char *p, bool *ret_waits)
{
	size_t digits = strspn(p, "0123456789");

	if (digits == 0 || p[digits] != ':') {
		return NULL;
	}
	p += digits + 1;
	p += strspn(p, " ");
	*ret_waits = strncmp(p, "->", 2) == 0;
	return *ret_waits ? p + 2 : p;
}

bool ctm_lock_row_parse(const char *line, size_t len, struct ctm_lock_row *ret)
{
	char text[ROW_MAX];
	char kind[16];
	unsigned int maj;
	unsigned int min;
	uint64_t ino;
	bool waits;
	int pid;
	const char *p;

	if (len >= sizeof(text)) {
		return false;
	}
	memcpy(text, line, len);
	text[len] = '\0';
	p = skip_head(text, &waits);
	/* of numbers that do not fit sscanf makes others: the kernel prints none */
	if (!p || sscanf(p, " %15s %*s %*s %d %x:%x:%" SCNu64, kind, &pid, &maj, &min, &ino) != 5) {
		return false;
	}
	*ret = (struct ctm_lock_row){
		.kind = kind_of(kind),
		.waits = waits,
		.pid = pid,
		.dev = makedev(maj, min),
		.ino = ino,
	};
	return true;
}

int ctm_locktable_each(struct ctm_bytes text, int (*fn)(const struct ctm_lock_row *row, void *arg),
		       void *arg)
{
	const char *p = text.p;
	const char *end = p + text.len;
	int r = 0;

	while (r == 0 && p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *stop = eol ? eol : end;
		struct ctm_lock_row row;

		if (ctm_lock_row_parse(p, (size_t)(stop - p), &row)) {
			r = fn(&row, arg);
		}
		p = stop + 1;
	}
	return r;
}

int ctm_locktable_read(struct ctm_buf *ret)
{
	CLEANUP_CLOSE int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		return -errno;
	}
	for (;;) {
		ssize_t n;
		int r = ctm_buf_reserve(ret, 16384);

		if (r < 0) {
			return r;
		}
		n = read(fd, ret->p + ret->len, 16384);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (n == 0) {
			return 0;
		}
		ret->len += n > 0 ? (size_t)n : 0;
	}
}

int ctm_locktable_of(int fd, struct ctm_lock_row *ret)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[64];
	char line[ROW_MAX];

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f) {
		return -errno;
	}
	while (fgets(line, sizeof(line), f)) {
		const size_t head = strlen("lock:\t");

		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "lock:\t", head) == 0 &&
		    ctm_lock_row_parse(line + head, strlen(line + head), ret)) {
			return 0;
		}
	}
	return -ENOENT;
}

struct waiting {
	const struct ctm_lock_row *file;
	pid_t pid;
};

static int stop_at_waiter(const struct ctm_lock_row *row, void *arg)
{
	struct waiting *w = arg;

	if (!row->waits || row->kind != CTM_LOCK_FLOCK || row->dev != w->file->dev ||
	    row->ino != w->file->ino) {
		return 0;
	}
	w->pid = row->pid;
	return 1;
}

int ctm_locktable_waiter(struct ctm_bytes text, const struct ctm_lock_row *file, pid_t *ret)
{
	struct waiting w = { .file = file };
	int r = ctm_locktable_each(text, stop_at_waiter, &w);

	if (r > 0) {
		*ret = w.pid;
	}
	return r;
}
