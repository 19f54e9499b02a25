/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Go through /sys/block. */
#include "target/loopsearch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "target/bounded.h"

CTM_HOST_PATHS

static void closedirp(DIR **dir)
{
	if (*dir) {
		(void)closedir(*dir);
	}
}

/* How long all devices together may say nothing. */
#define SILENT_MS 1000
#define STACK     ((size_t)128 << 10)

/* One device, asked by a thread of the child. */
struct asking {
	unsigned int num;
	const struct ctm_rawvol *raw;
	int out;
};

/* What it says, in one write. */
struct answer {
	struct ctm_loop_row row;
	bool on; /* raw */
	int err; /* negative errno */
};

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
static struct answer ask(unsigned int num, const struct ctm_rawvol *raw)
{
	struct answer answer = { .row.num = num };
	CLEANUP_CLOSE int fd = -1;
	struct loop_info64 info;
	struct stat st;
	char path[64];

	(void)snprintf(path, sizeof(path), "/dev/loop%u", num);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 || ioctl(fd, LOOP_GET_STATUS64, &info) < 0) {
		answer.err = errno == ENXIO ? 0 : -errno;
		return answer;
	}
	answer.row.dev = st.st_rdev;
	answer.row.readonly = info.lo_flags & LO_FLAGS_READ_ONLY;
	answer.on = is_on(&info, raw);
	return answer;
}

static void *ask_one(void *arg)
{
	const struct asking *asking = arg;
	const struct answer answer = ask(asking->num, asking->raw);

	(void)ctm_bounded_say(asking->out, &answer, sizeof(answer));
	return NULL;
}

struct numbers {
	CTM_VEC(unsigned int) v;
};

static void numbers_done(struct numbers *numbers)
{
	ctm_vec_done(&numbers->v);
}

struct question {
	const struct ctm_rawvol *raw;
	const struct numbers *numbers;
};

/*
 * In the child (target/bounded.h). All at once: each that does not answer would else cost the time
 * of a deadline of its own.
 */
static int ask_all(int out, void *arg)
{
	const struct question *question = arg;
	const size_t n = question->numbers->v.n;
	struct asking *asking = calloc(n, sizeof(*asking));
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;

	if (!asking || !threads || pthread_attr_init(&attr) != 0 ||
	    pthread_attr_setstacksize(&attr, STACK) != 0) {
		free(asking);
		free(threads);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		asking[i] = (struct asking){ question->numbers->v.v[i], question->raw, out };
		if (pthread_create(&threads[i], &attr, ask_one, &asking[i]) != 0) {
			return -EAGAIN;
		}
	}
	for (size_t i = 0; i < n; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	free(asking);
	free(threads);
	return 0;
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

static int backing_file(unsigned int num, char *path, size_t size)
{
	return snprintf(path, size, "/sys/block/loop%u/loop/backing_file", num);
}

/* The devices that stand on something. */
static int list(struct numbers *ret)
{
	CLEANUP(closedirp) DIR *dir = opendir("/sys/block");
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		return -errno;
	}
	while (r == 0 && (entry = readdir(dir))) {
		char path[64];
		unsigned int num;

		if (!is_loop(entry->d_name, &num)) {
			continue;
		}
		/* to open an unattached device would make the kernel load what it can for it */
		(void)backing_file(num, path, sizeof(path));
		if (access(path, F_OK) == 0) {
			r = ctm_vec_push(&ret->v, &num);
		}
	}
	return r;
}

/* What sysfs calls it, for one that does not answer. */
static bool is_called(unsigned int num, const char *name)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[64];
	char line[PATH_MAX + 1];

	(void)backing_file(num, path, sizeof(path));
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f)) {
		return false;
	}
	line[strcspn(line, "\n")] = '\0';
	return strcmp(line, name) == 0;
}

bool ctm_loopsearch_path(const char *path)
{
	CLEANUP(numbers_done) struct numbers numbers = { 0 };
	int r = list(&numbers);

	for (size_t i = 0; r == 0 && i < numbers.v.n; i++) {
		if (is_called(numbers.v.v[i], path)) {
			return true;
		}
	}
	return false;
}

static int take(const struct ctm_buf *said, const struct numbers *numbers,
		const struct ctm_rawvol *raw, struct ctm_loop_rows *rows)
{
	for (size_t i = 0; i < numbers->v.n; i++) {
		const unsigned int num = numbers->v.v[i];
		struct answer answer = { 0 };
		bool answered = false;
		int r = 0;

		for (size_t at = 0; !answered && at + sizeof(answer) <= said->len;
		     at += sizeof(answer)) {
			memcpy(&answer, said->p + at, sizeof(answer));
			answered = answer.row.num == num;
		}
		if (!answered) {
			CTM_DEBUG("guard", "/dev/loop%u does not answer", num);
			r = raw->node && is_called(num, raw->node) ? -ETIME : 0;
		} else if (answer.err < 0) {
			r = answer.err;
		} else if (answer.on) {
			r = ctm_vec_push(&rows->rows, &answer.row);
		}
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

int ctm_loopsearch(const struct ctm_rawvol *raw, struct ctm_loop_rows *ret)
{
	CLEANUP(ctm_loop_rows_done) struct ctm_loop_rows rows = { 0 };
	CLEANUP(numbers_done) struct numbers numbers = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf said = { 0 };
	const struct ctm_bounded limits = { .silent_ms = SILENT_MS };
	struct question question = { .raw = raw, .numbers = &numbers };
	int r = list(&numbers);

	if (r == 0 && numbers.v.n > 0) {
		r = ctm_bounded_ask(ask_all, &question, &limits, &said);
		r = r == -ETIME ? 0 : r;
		r = r < 0 ? r : take(&said, &numbers, raw, &rows);
	}
	if (r < 0) {
		return r;
	}
	*ret = rows;
	rows = (struct ctm_loop_rows){ 0 };
	return 0;
}
