/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs in a target's directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/state_parts.h"

CTM_HOST_PATHS

#define NEW_NAME_MAX   (CTM_RUN_NAME_MAX + sizeof(CTM_STATE_NEW))
#define RUN_NUMBER_MAX 1000000000ul

/* A second descriptor, because a DIR closes the one it has. */
int ctm_state_list(struct ctm_state *state, DIR **ret, struct ctm_err *err)
{
	int fd = openat(state->dir, ".", CTM_STATE_FLAGS);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		int e = errno;

		ctm_closep(&fd);
		return ctm_err_set(err, CTM_SYS, e, "read '%s'", state->shown);
	}
	*ret = dir;
	return 0;
}

void ctm_state_close_dir(DIR **dir)
{
	if (*dir) {
		(void)closedir(*dir);
	}
}

/* Run directories hold files only. */
int ctm_state_remove(struct ctm_state *state, const char *name)
{
	CLEANUP(ctm_state_close_dir) DIR *dir = NULL;
	CLEANUP_CLOSE int fd = openat(state->dir, name, CTM_STATE_FLAGS | O_NOFOLLOW);
	int copy = fd < 0 ? -1 : openat(fd, ".", CTM_STATE_FLAGS);
	const struct dirent *d;

	dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir) {
		int r = -errno;

		ctm_closep(&copy);
		return r;
	}
	while ((d = readdir(dir))) {
		if (d->d_name[0] != '.') {
			(void)unlinkat(fd, d->d_name, 0);
		}
	}
	return unlinkat(state->dir, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

unsigned long ctm_state_run_number(const char *name)
{
	unsigned long n = 0;
	size_t digits = strspn(name, "0123456789");

	if (digits < 4 || digits > 9 || name[digits] != '-' || strlen(name) >= CTM_RUN_NAME_MAX) {
		return 0;
	}
	for (size_t i = 0; i < digits; i++) {
		n = n * 10 + (unsigned long)(name[i] - '0');
	}
	return n;
}

static int by_number(const void *a, const void *b)
{
	unsigned long x = ctm_state_run_number(*(char *const *)a);
	unsigned long y = ctm_state_run_number(*(char *const *)b);

	return x < y ? -1 : x > y;
}

void ctm_run_names_done(struct ctm_run_names *names)
{
	for (size_t i = 0; i < names->names.n; i++) {
		free(names->names.v[i]);
	}
	ctm_vec_done(&names->names);
}

static int collect(DIR *dir, bool (*wanted)(const char *name), struct ctm_run_names *all)
{
	const struct dirent *d;

	for (errno = 0; (d = readdir(dir)); errno = 0) {
		char *name;

		if (wanted ? !wanted(d->d_name) : d->d_name[0] == '.') {
			continue;
		}
		name = strdup(d->d_name);
		if (!name || ctm_vec_push(&all->names, &name) < 0) {
			free(name);
			return -ENOMEM;
		}
	}
	return -errno;
}

int ctm_state_collect(struct ctm_state *state, bool (*wanted)(const char *name),
		      struct ctm_run_names *ret, struct ctm_err *err)
{
	CLEANUP(ctm_state_close_dir) DIR *dir = NULL;
	int r = ctm_state_list(state, &dir, err);

	if (r == 0 && dir) {
		r = collect(dir, wanted, ret);
		r = r < 0 ? ctm_err_set(err, CTM_SYS, r, "read '%s'", state->shown) : 0;
	}
	return r;
}

static bool is_run(const char *name)
{
	return ctm_state_run_number(name) != 0;
}

int ctm_state_runs(struct ctm_state *state, struct ctm_run_names *ret, struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names all = { 0 };
	int r = ctm_state_collect(state, is_run, &all, err);

	if (r < 0) {
		return r;
	}
	if (all.names.v) {
		qsort(all.names.v, all.names.n, sizeof(*all.names.v), by_number);
	}
	ctm_run_names_done(ret);
	*ret = all;
	all = (struct ctm_run_names){ 0 };
	return 0;
}

int64_t ctm_run_time(const char *run)
{
	const char *stamp = strchr(run, '-');
	struct tm tm = { 0 };
	const char *end = ctm_state_run_number(run) ? strptime(stamp + 1, "%Y%m%dT%H%M%SZ", &tm) :
						      NULL;

	return end && !*end ? (int64_t)timegm(&tm) : -EINVAL;
}

int ctm_state_find(struct ctm_state *state, const char *typed, char ret[static CTM_RUN_NAME_MAX],
		   struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names all = { 0 };
	size_t digits = strspn(typed, "0123456789");
	unsigned long n = 0;
	int r = ctm_state_runs(state, &all, err);

	if (r < 0) {
		return r;
	}
	if (typed[digits] == '\0' && digits > 0 && digits <= 9) {
		n = strtoul(typed, NULL, 10);
	}
	for (size_t i = 0; i < all.names.n; i++) {
		const char *name = all.names.v[i];

		if (strcmp(name, typed) == 0 || (n > 0 && ctm_state_run_number(name) == n)) {
			(void)snprintf(ret, CTM_RUN_NAME_MAX, "%s", name);
			return 0;
		}
	}
	(void)ctm_err_set(err, CTM_REFUSED, ENOENT, "there is no run '%s'", typed);
	ctm_err_hint(err, "ctmend history shows which there are");
	return -ENOENT;
}

int ctm_state_run_open(struct ctm_state *state, const char *run, int *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf shown = { 0 };
	int r = ctm_buf_addf(&shown, "%s/%s", state->shown, run);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	r = ctm_state_open_own(state->dir, run, shown.p, false, ret, err);
	return r == -ENOENT ? ctm_err_set(err, CTM_SYS, ENOENT, "open '%s/%s'", state->shown, run) :
			      r;
}

static void new_name(char name[static NEW_NAME_MAX], const char *run)
{
	(void)snprintf(name, NEW_NAME_MAX, "%s%.*s", CTM_STATE_NEW, CTM_RUN_NAME_MAX - 1, run);
}

static unsigned long newest(const struct ctm_run_names *names)
{
	return names->names.n > 0 ? ctm_state_run_number(names->names.v[names->names.n - 1]) : 0;
}

int ctm_state_begin(struct ctm_state *state, char ret_run[static CTM_RUN_NAME_MAX], int *ret_dirfd,
		    struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names all = { 0 };
	CLEANUP(ctm_run_names_done) struct ctm_run_names aside = { 0 };
	char run[CTM_RUN_NAME_MAX];
	char name[NEW_NAME_MAX];
	char stamp[20];
	time_t now = time(NULL);
	unsigned long last;
	struct tm tm;
	int r = ctm_state_runs(state, &all, err);

	if (r < 0) {
		return r;
	}
	last = newest(&all);
	r = ctm_state_aside(state, &aside, err);
	if (r < 0) {
		return r;
	}
	/* "7" is to mean one run alone */
	last = newest(&aside) > last ? newest(&aside) : last;
	(void)gmtime_r(&now, &tm);
	(void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	(void)snprintf(run, sizeof(run), "%04lu-%s", (last + 1) % RUN_NUMBER_MAX, stamp);
	new_name(name, run);
	(void)ctm_state_remove(state, name);
	if (mkdirat(state->dir, name, 0700) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "make '%s/%s'", state->shown, name);
	}
	r = ctm_state_open_own(state->dir, name, name, false, ret_dirfd, err);
	if (r < 0) {
		(void)ctm_state_remove(state, name);
		return r;
	}
	memcpy(ret_run, run, sizeof(run));
	return 0;
}

int ctm_state_commit(struct ctm_state *state, const char *run, int dirfd, struct ctm_err *err)
{
	char name[NEW_NAME_MAX];

	new_name(name, run);
	if (fsync(dirfd) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "sync '%s/%s'", state->shown, name);
	}
	if (renameat2(state->dir, name, state->dir, run, RENAME_NOREPLACE) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "rename '%s/%s'", state->shown, name);
	}
	if (fsync(state->dir) < 0) {
		int r = ctm_err_set(err, CTM_SYS, errno, "sync '%s'", state->shown);

		/* So that the caller can still give it up. */
		(void)renameat2(state->dir, run, state->dir, name, RENAME_NOREPLACE);
		return r;
	}
	return 0;
}

void ctm_state_abandon(struct ctm_state *state, const char *run)
{
	char name[NEW_NAME_MAX];

	new_name(name, run);
	(void)ctm_state_remove(state, name);
}

int ctm_state_forget(struct ctm_state *state, const char *run, struct ctm_err *err)
{
	char name[NEW_NAME_MAX];
	int r;

	(void)snprintf(name, sizeof(name), "%s%.*s", CTM_STATE_OLD, CTM_RUN_NAME_MAX - 1, run);
	if (renameat2(state->dir, run, state->dir, name, RENAME_NOREPLACE) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "rename '%s/%s'", state->shown, run);
	}
	/*
	 * No file of it goes before its name is gone for certain: half a record is a damaged one.
	 */
	if (fsync(state->dir) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "sync '%s'", state->shown);
	}
	r = ctm_state_remove(state, name);
	return r < 0 ? ctm_err_set(err, CTM_SYS, r, "remove '%s/%s'", state->shown, name) : 0;
}
