/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged records that a person has moved out of the way: they are kept, and are no runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/state_parts.h"

CTM_HOST_PATHS

#define SAME_NAME_MAX 1000

const char *ctm_state_path(const struct ctm_state *state)
{
	return state->shown;
}

/* The directory for them, and its path in shown. -ENOENT (err untouched): there is none. */
static int open_aside(struct ctm_state *state, bool make, struct ctm_buf *shown, int *ret,
		      struct ctm_err *err)
{
	if (ctm_buf_addf(shown, "%s/%s", state->shown, CTM_STATE_ASIDE) < 0) {
		return ctm_err_nomem(err);
	}
	return ctm_state_open_own(state->dir, CTM_STATE_ASIDE, shown->p, make, ret, err);
}

/* Under its own name, or with a number behind it. */
static int move(struct ctm_state *state, const char *run, int to, char *name, size_t size)
{
	(void)snprintf(name, size, "%s", run);
	for (int i = 2; renameat2(state->dir, run, to, name, RENAME_NOREPLACE) < 0; i++) {
		if (errno != EEXIST || i > SAME_NAME_MAX) {
			return -errno;
		}
		(void)snprintf(name, size, "%s.%d", run, i);
	}
	return 0;
}

int ctm_state_set_aside(struct ctm_state *state, const char *run, struct ctm_buf *ret,
			struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf shown = { 0 };
	CLEANUP_CLOSE int aside = -1;
	char name[CTM_RUN_NAME_MAX + 8];
	int r = open_aside(state, true, &shown, &aside, err);

	if (r < 0) {
		return r;
	}
	r = move(state, run, aside, name, sizeof(name));
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "move '%s/%s' to '%s'", state->shown, run,
				   shown.p);
	}
	/* The new name first: the record is to be under one of them at least. */
	if (fsync(aside) < 0 || fsync(state->dir) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "sync '%s'", shown.p);
	}
	return ctm_buf_addf(ret, "%s/%s", shown.p, name) < 0 ? ctm_err_nomem(err) : 0;
}

static bool is_aside(const char *name)
{
	char run[CTM_RUN_NAME_MAX];

	(void)snprintf(run, sizeof(run), "%.*s", (int)strcspn(name, "."), name);
	return ctm_state_run_number(run) != 0;
}

static int by_number(const void *a, const void *b)
{
	const char *x = *(char *const *)a;
	const char *y = *(char *const *)b;
	unsigned long n = ctm_state_run_number(x);
	unsigned long m = ctm_state_run_number(y);

	return n != m ? (n > m ? 1 : -1) : strcmp(x, y);
}

int ctm_state_aside(struct ctm_state *state, struct ctm_run_names *ret, struct ctm_err *err)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names all = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf shown = { 0 };
	struct ctm_state dir = { .dir = -1 };
	int r = open_aside(state, false, &shown, &dir.dir, err);

	if (r < 0) {
		return r == -ENOENT ? 0 : r;
	}
	dir.shown = shown.p;
	r = ctm_state_collect(&dir, is_aside, &all, err);
	ctm_closep(&dir.dir);
	if (r < 0) {
		return r;
	}
	if (all.names.n) {
		qsort(all.names.v, all.names.n, sizeof(*all.names.v), by_number);
	}
	ctm_run_names_done(ret);
	*ret = all;
	all = (struct ctm_run_names){ 0 };
	return 0;
}
