/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Write, find and remove the notes of what was made active. */
#include "target/activenote.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/lines.h"
#include "target/hostdir.h"

CTM_HOST_PATHS

#define PLACE CTM_PLACE_RUN "/active"

/* Longer than any that this version writes. */
#define NOTE_MAX 16384

static const char first_line[] = "ctmend-active 1";

void ctm_activenote_done(struct ctm_activenote *note)
{
	free(note->volid);
	free(note->path);
	*note = (struct ctm_activenote){ 0 };
}

void ctm_activenote_names_done(struct ctm_activenote_names *names)
{
	for (size_t i = 0; i < names->v.n; i++) {
		free(names->v.v[i]);
	}
	ctm_vec_done(&names->v);
}

/* --- text ----------------------------------------------------------------------------------- */

int ctm_activenote_name(const char *volid, struct ctm_buf *ret)
{
	if (volid[0] == '\0') {
		return -EINVAL;
	}
	for (const char *p = volid; *p != '\0'; p++) {
		bool plain = isascii(*p) && (isalnum((unsigned char)*p) || strchr("._-", *p));

		if (ctm_buf_addf(ret, plain ? "%c" : "%%%02X", (unsigned char)*p) < 0) {
			return -ENOMEM;
		}
	}
	/* room for the name it has while it is made */
	return ret->len < 240 ? 0 : -ENAMETOOLONG;
}

/* "KEY VALUE" with something for a value */
static bool is_value(struct ctm_bytes line, const char *key, struct ctm_bytes *ret)
{
	const size_t len = strlen(key);

	if (!ctm_bytes_starts(line, key) || line.len < len + 2 ||
	    ((const char *)line.p)[len] != ' ') {
		return false;
	}
	*ret = (struct ctm_bytes){ (const char *)line.p + len + 1, line.len - len - 1 };
	return true;
}

static bool read_vmid(struct ctm_bytes value, unsigned int *ret)
{
	char digits[16];

	if (value.len >= 10) {
		return false;
	}
	memcpy(digits, value.p, value.len);
	digits[value.len] = '\0';
	if (digits[0] == '0' || digits[strspn(digits, "0123456789")] != '\0') {
		return false;
	}
	*ret = (unsigned int)strtoul(digits, NULL, 10);
	return true;
}

int ctm_activenote_parse(struct ctm_bytes text, struct ctm_activenote *ret)
{
	CLEANUP(ctm_activenote_done) struct ctm_activenote note = { 0 };
	struct ctm_lines lines = { .text = text };
	struct ctm_bytes line;
	struct ctm_bytes vmid;
	struct ctm_bytes volid;
	struct ctm_bytes path = { 0 };

	if (text.len == 0 || memchr(text.p, '\0', text.len) ||
	    ((const char *)text.p)[text.len - 1] != '\n' || !ctm_lines_next(&lines, &line) ||
	    !ctm_bytes_is(line, first_line) || !ctm_lines_next(&lines, &line) ||
	    !is_value(line, "vmid", &vmid) || !read_vmid(vmid, &note.vmid) ||
	    !ctm_lines_next(&lines, &line) || !is_value(line, "volume", &volid)) {
		return -EBADMSG;
	}
	while (ctm_lines_next(&lines, &line)) {
		if (!is_value(line, "path", &path) || ((const char *)path.p)[0] != '/') {
			return -EBADMSG;
		}
	}
	note.volid = ctm_bytes_dup(volid);
	note.path = path.p ? ctm_bytes_dup(path) : NULL;
	if (!note.volid || (path.p && !note.path)) {
		return -ENOMEM;
	}
	*ret = (struct ctm_activenote){
		.vmid = note.vmid,
		.volid = TAKE_PTR(note.volid),
		.path = TAKE_PTR(note.path),
	};
	return 0;
}

/* --- files ---------------------------------------------------------------------------------- */

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

int ctm_activenote_add_path(int fd, const char *path)
{
	CLEANUP(ctm_buf_done) struct ctm_buf line = { 0 };
	int r = ctm_buf_addf(&line, "path %s\n", path);

	return r < 0 ? r : write_all(fd, line.p, line.len);
}

/* Under another name until it is whole and locked. */
static int make(int dir, const char *name, const struct ctm_activenote *note, int *ret_fd)
{
	CLEANUP(ctm_buf_done) struct ctm_buf unfinished = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	CLEANUP_CLOSE int fd = -1;
	int r = ctm_buf_addf(&unfinished, ".new-%s", name);

	r = r < 0 ? r :
		    ctm_buf_addf(&text, "%s\nvmid %u\nvolume %s\n", first_line, note->vmid,
				 note->volid);
	if (r < 0) {
		return r;
	}
	fd = openat(dir, unfinished.p,
		    O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		return -errno;
	}
	r = lock(fd);
	r = r < 0 ? r : write_all(fd, text.p, text.len);
	if (r == 0 && note->path) {
		r = ctm_activenote_add_path(fd, note->path);
	}
	if (r == 0 && renameat(dir, unfinished.p, dir, name) < 0) {
		r = -errno;
	}
	if (r < 0) {
		(void)unlinkat(dir, unfinished.p, 0);
		return r;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int open_note(int dir, const char *name, int *ret_fd)
{
	int fd = openat(dir, name,
			O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		return -errno;
	}
	*ret_fd = fd;
	return 0;
}

static int claim(int dir, const char *name, int *ret_fd)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat st;
	int r = open_note(dir, name, &fd);

	r = r < 0 ? r : lock(fd);
	if (r < 0) {
		return r;
	}
	/* Its holder removed it between the two. */
	if (fstat(fd, &st) < 0 || st.st_nlink == 0) {
		return -ENOENT;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int ctm_activenote_take(const struct ctm_host *host, const struct ctm_activenote *note, int *ret_fd,
			struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	CLEANUP_CLOSE int dir = -1;
	int r = ctm_hostdir_open(host, PLACE, 0700, &dir, err);

	if (r < 0) {
		return r;
	}
	r = ctm_activenote_name(note->volid, &name);
	if (r == 0) {
		r = claim(dir, name.p, ret_fd);
	}
	if (r == -ENOENT) {
		r = make(dir, name.p, note, ret_fd);
	}
	if (r == -EWOULDBLOCK) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"a program of an earlier run is still activating '%s'",
				note->volid);
		ctm_err_hint(err, "try again when it has ended; it has this file open: %s/%s",
			     PLACE, name.p);
		return r;
	}
	return r < 0 ? ctm_err_set(err, CTM_SYS, r, "note in %s that '%s' is activated", PLACE,
				   note->volid) :
		       0;
}

void ctm_activenote_drop(const struct ctm_host *host, const char *volid, int *fd)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	CLEANUP_CLOSE int dir = -1;

	if (*fd >= 0 && ctm_activenote_name(volid, &name) == 0 &&
	    ctm_hostdir_open(host, PLACE, 0, &dir, NULL) == 0) {
		(void)unlinkat(dir, name.p, 0);
	}
	ctm_closep(fd);
}

int ctm_activenote_list(const struct ctm_host *host, struct ctm_activenote_names *ret,
			struct ctm_err *err)
{
	const struct dirent *entry;
	DIR *dir;
	int fd;
	int r = ctm_hostdir_open(host, PLACE, 0, &fd, err);

	if (r < 0) {
		return r == -ENOENT ? 0 : r;
	}
	dir = fdopendir(fd);
	if (!dir) {
		r = -errno;
		(void)close(fd);
		return ctm_err_set(err, CTM_SYS, r, "read '%s'", PLACE);
	}
	while (r == 0 && (entry = readdir(dir))) {
		char *name;

		if (entry->d_name[0] == '.') {
			continue;
		}
		name = strdup(entry->d_name);
		r = name ? ctm_vec_push(&ret->v, &name) : -ENOMEM;
		if (r < 0) {
			free(name);
		}
	}
	(void)closedir(dir);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

static int read_note(int fd, struct ctm_activenote *ret)
{
	char text[NOTE_MAX];
	ssize_t n = pread(fd, text, sizeof(text), 0);

	if (n < 0) {
		return -errno;
	}
	return n < NOTE_MAX ? ctm_activenote_parse((struct ctm_bytes){ text, (size_t)n }, ret) :
			      -EBADMSG;
}

int ctm_activenote_read(const struct ctm_host *host, const char *name, struct ctm_activenote *ret)
{
	CLEANUP_CLOSE int dir = -1;
	CLEANUP_CLOSE int fd = -1;
	int r = ctm_hostdir_open(host, PLACE, 0, &dir, NULL);

	r = r < 0 ? r : open_note(dir, name, &fd);
	return r < 0 ? r : read_note(fd, ret);
}

int ctm_activenote_claim(const struct ctm_host *host, const char *name, int *ret_fd)
{
	CLEANUP_CLOSE int dir = -1;
	int r = ctm_hostdir_open(host, PLACE, 0, &dir, NULL);

	return r < 0 ? r : claim(dir, name, ret_fd);
}
