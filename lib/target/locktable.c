/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of /proc/locks. */
#include "target/locktable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/number.h"

CTM_HOST_PATHS

#define ROW_MAX 256

static bool is_word(struct ctm_bytes word, const char *want)
{
	return word.len == strlen(want) && memcmp(word.p, want, word.len) == 0;
}

static enum ctm_lock_kind kind_of(struct ctm_bytes word)
{
	return is_word(word, "FLOCK")  ? CTM_LOCK_FLOCK :
	       is_word(word, "POSIX")  ? CTM_LOCK_POSIX :
	       is_word(word, "OFDLCK") ? CTM_LOCK_OFD :
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
	*ret_waits = ctm_word_take(&p, "->");
	return p;
}

/* The next word of a row, or an empty one. */
static struct ctm_bytes take_word(const char **p)
{
	struct ctm_bytes word;

	*p += strspn(*p, " ");
	word = (struct ctm_bytes){ *p, strcspn(*p, " ") };
	*p += word.len;
	return word;
}

/* A process, or -1 for none, as locks of open files have it. */
static bool take_pid(const char **p, pid_t *ret)
{
	uint64_t pid;

	*p += strspn(*p, " ");
	if (ctm_word_take(p, "-1")) {
		*ret = -1;
		return true;
	}
	if (!ctm_number_take(p, 10, INT_MAX, &pid)) {
		return false;
	}
	*ret = (pid_t)pid;
	return true;
}

/* " MAJOR:MINOR:INODE", the first two in hexadecimal digits */
static bool take_file(const char **p, dev_t *ret_dev, uint64_t *ret_ino)
{
	uint64_t maj;
	uint64_t min;

	*p += strspn(*p, " ");
	if (!ctm_number_take(p, 16, UINT_MAX, &maj) || !ctm_word_take(p, ":") ||
	    !ctm_number_take(p, 16, UINT_MAX, &min) || !ctm_word_take(p, ":") ||
	    !ctm_number_take(p, 10, UINT64_MAX, ret_ino)) {
		return false;
	}
	*ret_dev = makedev((unsigned int)maj, (unsigned int)min);
	return true;
}

bool ctm_lock_row_parse(const char *line, size_t len, struct ctm_lock_row *ret)
{
	char text[ROW_MAX];
	struct ctm_lock_row row;
	struct ctm_bytes kind;
	const char *p;

	if (len >= sizeof(text)) {
		return false;
	}
	memcpy(text, line, len);
	text[len] = '\0';
	p = skip_head(text, &row.waits);
	if (!p) {
		return false;
	}
	kind = take_word(&p);
	row.kind = kind_of(kind);
	(void)take_word(&p); /* ADVISORY */
	(void)take_word(&p); /* READ or WRITE */
	if (!take_pid(&p, &row.pid) || !take_file(&p, &row.dev, &row.ino)) {
		return false;
	}
	*ret = row;
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
