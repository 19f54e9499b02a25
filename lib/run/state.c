/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The directory of a target's records, and who may write there. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/state_parts.h"
#include "target/hostlock.h"

CTM_HOST_PATHS

void ctm_state_free(struct ctm_state *state)
{
	if (!state) {
		return;
	}
	ctm_closep(&state->dir); /* gives the lock back */
	free(state->shown);
	free(state);
}

static int check_owner(int fd, const char *shown, struct ctm_err *err)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "stat '%s'", shown);
	}
	if (st.st_uid != geteuid()) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' belongs to uid %u, not to uid %u", shown,
				st.st_uid, geteuid());
		ctm_err_hint(err, "look at what is in it, then: chown %u:%u '%s' && chmod 700 '%s'",
			     geteuid(), getegid(), shown, shown);
		return r;
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' may be written by others (mode %04o)",
				shown, st.st_mode & 07777);
		ctm_err_hint(err, "look at what is in it, then: chmod 700 '%s'", shown);
		return r;
	}
	return 0;
}

/* What stands in the place of a directory goes out of the way, a link itself: nothing is lost. */
static int not_a_directory(const char *shown, bool link, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, 0, "'%s' is no directory of its own%s", shown,
			    link ? ", but a symbolic link" : "");

	ctm_err_hint(err, "look at what it is, then: mv -nT '%s' '%s.away'", shown, shown);
	return r;
}

int ctm_state_open_own(int dir, const char *name, const char *shown, bool make, int *ret,
		       struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = -1;
	int r;

	if (make && mkdirat(dir, name, 0700) == 0) {
		if (fsync(dir) < 0) {
			return ctm_err_set(err, CTM_SYS, errno, "sync the directory of '%s'",
					   shown);
		}
	} else if (make && errno != EEXIST) {
		return ctm_err_set(err, CTM_SYS, errno, "make '%s'", shown);
	}
	fd = openat(dir, name, CTM_STATE_FLAGS | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT && !make) {
		return -ENOENT;
	}
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
		struct stat st;

		return not_a_directory(shown,
				       fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
					       S_ISLNK(st.st_mode),
				       err);
	}
	if (fd < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "open '%s'", shown);
	}
	r = check_owner(fd, shown, err);
	if (r == 0) {
		*ret = TAKE_FD(fd);
	}
	return r;
}

/*
 * The directory above the state directory is the system's; links on the way there are the admin's.
 */
static int open_above(const struct ctm_host *host, bool make, int *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	char *slash;
	int fd;

	if (ctm_host_path(host, &path, "%s", CTM_PLACE_STATE) < 0) {
		return ctm_err_nomem(err);
	}
	for (char *p = strchr(path.p + strlen(host->sysroot) + 1, '/'); make && p;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path.p, 0755) < 0 && errno != EEXIST) {
			return ctm_err_set(err, CTM_SYS, errno, "make '%s'", path.p);
		}
		*p = '/';
	}
	slash = strrchr(path.p, '/');
	*slash = '\0';
	fd = open(path.p, CTM_STATE_FLAGS);
	if (fd < 0) {
		return errno == ENOENT && !make ?
			       -ENOENT :
			       ctm_err_set(err, CTM_SYS, errno, "open '%s'", path.p);
	}
	*ret = fd;
	return 0;
}

/* The directory of all targets; its path in shown. */
static int open_all(const struct ctm_host *host, bool make, struct ctm_buf *shown, int *ret,
		    struct ctm_err *err)
{
	static const char place[] = CTM_PLACE_STATE;
	CLEANUP_CLOSE int above = -1;
	int r;

	if (ctm_host_path(host, shown, "%s", place) < 0) {
		return ctm_err_nomem(err);
	}
	r = open_above(host, make, &above, err);
	return r < 0 ? r :
		       ctm_state_open_own(above, strrchr(place, '/') + 1, shown->p, make, ret, err);
}

static int open_target(const struct ctm_host *host, const char *name, bool make,
		       struct ctm_state *state, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf shown = { 0 };
	CLEANUP_CLOSE int all = -1;
	int r = open_all(host, make, &shown, &all, err);

	if (r < 0) {
		return r;
	}
	if (ctm_buf_addf(&shown, "/%s", name) < 0) {
		return ctm_err_nomem(err);
	}
	r = ctm_state_open_own(all, name, shown.p, make, &state->dir, err);
	if (r == 0) {
		state->shown = TAKE_PTR(shown.p);
	}
	return r;
}

static struct ctm_state *new_state(struct ctm_err *err)
{
	struct ctm_state *state = calloc(1, sizeof(*state));

	if (!state) {
		(void)ctm_err_nomem(err);
		return NULL;
	}
	state->dir = -1;
	return state;
}

static int take_lock(struct ctm_state *state, unsigned int wait, struct ctm_err *err)
{
	int r = ctm_hostlock_within(state->dir, wait);

	if (r == -EWOULDBLOCK) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "another repair or undo of it is going on");
		ctm_err_hint(err, "wait for it, or use --wait SECONDS");
		return r;
	}
	return r < 0 ? ctm_err_set(err, CTM_SYS, r, "lock '%s'", state->shown) : 0;
}

static int sweep(struct ctm_state *state, struct ctm_err *err)
{
	CLEANUP(ctm_state_close_dir) DIR *dir = NULL;
	const struct dirent *d;
	int r = ctm_state_list(state, &dir, err);

	while (r == 0 && (d = readdir(dir))) {
		if (strncmp(d->d_name, CTM_STATE_NEW, strlen(CTM_STATE_NEW)) == 0 ||
		    strncmp(d->d_name, CTM_STATE_OLD, strlen(CTM_STATE_OLD)) == 0) {
			(void)ctm_state_remove(state, d->d_name);
		}
	}
	return r;
}

static int open_locked(const struct ctm_host *host, const char *name, bool make, unsigned int wait,
		       struct ctm_state **ret, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = new_state(err);
	int r = state ? open_target(host, name, make, state, err) : -ENOMEM;

	if (r == 0) {
		r = take_lock(state, wait, err);
	}
	if (r == 0) {
		r = sweep(state, err);
	}
	if (r == 0) {
		*ret = TAKE_PTR(state);
	}
	return r;
}

int ctm_state_open(const struct ctm_host *host, const char *name, unsigned int wait,
		   struct ctm_state **ret, struct ctm_err *err)
{
	return open_locked(host, name, true, wait, ret, err);
}

int ctm_state_open_kept(const struct ctm_host *host, const char *name, unsigned int wait,
			struct ctm_state **ret, struct ctm_err *err)
{
	return open_locked(host, name, false, wait, ret, err);
}

int ctm_state_open_read(const struct ctm_host *host, const char *name, struct ctm_state **ret,
			struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = new_state(err);
	int r = state ? open_target(host, name, false, state, err) : -ENOMEM;

	if (r == 0) {
		*ret = TAKE_PTR(state);
	}
	return r;
}

bool ctm_state_busy(struct ctm_state *state)
{
	if (flock(state->dir, LOCK_SH | LOCK_NB) < 0) {
		return errno == EWOULDBLOCK;
	}
	(void)flock(state->dir, LOCK_UN);
	return false;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int ctm_state_targets(const struct ctm_host *host, struct ctm_run_names *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf shown = { 0 };
	CLEANUP(ctm_run_names_done) struct ctm_run_names all = { 0 };
	struct ctm_state dir = { .dir = -1 };
	int r = open_all(host, false, &shown, &dir.dir, err);

	dir.shown = shown.p;
	if (r == 0) {
		r = ctm_state_collect(&dir, NULL, &all, err);
	}
	ctm_closep(&dir.dir);
	if (r < 0 && r != -ENOENT) {
		return r;
	}
	if (all.names.n) {
		qsort(all.names.v, all.names.n, sizeof(*all.names.v), by_bytes);
	}
	*ret = all;
	all = (struct ctm_run_names){ 0 };
	return 0;
}
