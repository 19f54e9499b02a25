/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Write down that a hook had too little time, and believe it for a while. */
#include "session/hooknote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "target/hostdir.h"

CTM_HOST_PATHS

#define PLACE    CTM_PLACE_STATE "/.late"
#define NEW      ".new." /* no target is called like that: run/state.h */
#define NEW_S    60      /* one that is older was left behind */
#define NOTE_MAX 512
#define HOLDS_S  ((int64_t)CTM_HOOKNOTE_DAYS * 24 * 60 * 60)

/* --- what it says --------------------------------------------------------------------------- */

bool ctm_hooknote_holds(const struct ctm_hooknote *left, const struct ctm_hooknote *seen,
			int64_t now)
{
	if (left->time > now || now - left->time >= HOLDS_S ||
	    memcmp(left->config, seen->config, sizeof(left->config)) != 0) {
		return false;
	}
	/* a volume that did not answer then, and does now, has changed */
	return !seen->has_root || (left->has_root && left->root.tv_sec == seen->root.tv_sec &&
				   left->root.tv_nsec == seen->root.tv_nsec);
}

int ctm_hooknote_format(const struct ctm_hooknote *note, struct ctm_buf *ret)
{
	int r = ctm_buf_addf(ret, "ctmend-late 1\nconfig ");

	for (size_t i = 0; i < sizeof(note->config); i++) {
		r = r < 0 ? r : ctm_buf_addf(ret, "%02x", note->config[i]);
	}
	if (note->has_root) {
		r = r < 0 ? r :
			    ctm_buf_addf(ret, "\nroot %" PRId64 ".%09ld",
					 (int64_t)note->root.tv_sec, note->root.tv_nsec);
	} else {
		r = r < 0 ? r : ctm_buf_addf(ret, "\nroot -");
	}
	return r < 0 ? r : ctm_buf_addf(ret, "\ntime %" PRId64 "\n", note->time);
}

/* What stands between a key and the end of its line; *at goes behind it. NULL: another line. */
static const char *take_line(char **at, const char *key)
{
	const size_t len = strlen(key);
	char *value = *at + len;
	char *end;

	if (strncmp(*at, key, len) != 0) {
		return NULL;
	}
	end = strchr(value, '\n');
	if (!end) {
		return NULL;
	}
	*end = '\0';
	*at = end + 1;
	return value;
}

static int parse_number(const char *text, char end, int64_t *ret, const char **ret_end)
{
	char *stop;

	errno = 0;
	*ret = strtoll(text, &stop, 10);
	if (errno != 0 || stop == text || *stop != end) {
		return -EBADMSG;
	}
	*ret_end = stop;
	return 0;
}

static int parse_config(const char *text, struct ctm_hooknote *note)
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != 2 * sizeof(note->config)) {
		return -EBADMSG;
	}
	for (size_t i = 0; i < 2 * sizeof(note->config); i++) {
		const char *digit = strchr(digits, text[i]);

		if (!digit) {
			return -EBADMSG;
		}
		note->config[i / 2] = (uint8_t)(note->config[i / 2] << 4 | (digit - digits));
	}
	return 0;
}

static int parse_root(const char *text, struct ctm_hooknote *note)
{
	int64_t sec;
	int64_t nsec;
	const char *end;

	if (strcmp(text, "-") == 0) {
		return 0;
	}
	if (parse_number(text, '.', &sec, &end) < 0 || strlen(end + 1) != 9 ||
	    strspn(end + 1, "0123456789") != 9 || parse_number(end + 1, '\0', &nsec, &end) < 0) {
		return -EBADMSG;
	}
	note->has_root = true;
	note->root = (struct timespec){ .tv_sec = (time_t)sec, .tv_nsec = (long)nsec };
	return 0;
}

int ctm_hooknote_parse(struct ctm_bytes text, struct ctm_hooknote *ret)
{
	struct ctm_hooknote note = { .has_root = false };
	char copy[NOTE_MAX];
	char *at = copy;
	const char *head;
	const char *config;
	const char *root;
	const char *when;
	const char *end;

	if (text.len >= sizeof(copy) || memchr(text.p, '\0', text.len)) {
		return -EBADMSG;
	}
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	head = take_line(&at, "ctmend-late ");
	config = head ? take_line(&at, "config ") : NULL;
	root = config ? take_line(&at, "root ") : NULL;
	when = root ? take_line(&at, "time ") : NULL;
	if (!when || *at || strcmp(head, "1") != 0 || parse_config(config, &note) < 0 ||
	    parse_root(root, &note) < 0 || parse_number(when, '\0', &note.time, &end) < 0) {
		return -EBADMSG;
	}
	*ret = note;
	return 0;
}

/* --- where it lies -------------------------------------------------------------------------- */

int ctm_hooknote_read(const struct ctm_host *host, const char *target, struct ctm_hooknote *ret)
{
	CLEANUP_CLOSE int dir = -1;
	CLEANUP_CLOSE int fd = -1;
	char text[NOTE_MAX];
	struct ctm_hooknote note;
	ssize_t n;

	if (ctm_hostdir_open(host, PLACE, 0, &dir, NULL) < 0) {
		return -ENOENT;
	}
	fd = openat(dir, target, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (n < 0 ||
	    ctm_hooknote_parse((struct ctm_bytes){ .p = text, .len = (size_t)n }, &note) < 0) {
		return -ENOENT;
	}
	(void)snprintf(note.target, sizeof(note.target), "%s", target);
	*ret = note;
	return 0;
}

static bool is_old(const char *name, int64_t age)
{
	return age > HOLDS_S || (strncmp(name, NEW, strlen(NEW)) == 0 && age > NEW_S);
}

/* Of containers that are no more, too. */
static void sweep(int dir, int64_t now)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *d;

	if (!list) {
		ctm_closep(&copy);
		return;
	}
	while ((d = readdir(list))) {
		struct stat st;

		if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		    is_old(d->d_name, now - st.st_mtim.tv_sec)) {
			(void)unlinkat(dir, d->d_name, 0);
		}
	}
	(void)closedir(list);
}

static int write_new(int dir, const char *name, const struct ctm_buf *text)
{
	CLEANUP_CLOSE int fd = -1;

	(void)unlinkat(dir, name, 0);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		return -errno;
	}
	if (write(fd, text->p, text->len) != (ssize_t)text->len) {
		return errno ? -errno : -EIO;
	}
	return 0;
}

int ctm_hooknote_write(const struct ctm_host *host, const struct ctm_hooknote *note,
		       struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	CLEANUP_CLOSE int dir = -1;
	char name[32];
	int r;

	/* two hooks may end together */
	(void)snprintf(name, sizeof(name), NEW "%d", (int)getpid());
	if (ctm_hooknote_format(note, &text) < 0) {
		return ctm_err_nomem(err);
	}
	r = ctm_hostdir_open(host, PLACE, 0700, &dir, err);
	if (r < 0) {
		return r;
	}
	r = write_new(dir, name, &text);
	if (r == 0 && renameat(dir, name, dir, note->target) < 0) {
		r = -errno;
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "write a note in '%s'", PLACE);
	}
	sweep(dir, note->time);
	return 0;
}

void ctm_hooknote_remove(const struct ctm_host *host, const char *target)
{
	CLEANUP_CLOSE int dir = -1;

	if (ctm_hostdir_open(host, PLACE, 0, &dir, NULL) == 0) {
		(void)unlinkat(dir, target, 0);
	}
}
