/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much removed files may take.
 */
#include "run/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "run/archive.h"
#include "run/state_parts.h"

CTM_HOST_PATHS

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t ctm_budget_of(uint64_t free, uint64_t saved)
{
	uint64_t all = least(CTM_BUDGET_TARGET, (free + saved) / 10);
	uint64_t run = least(CTM_BUDGET_RUN, free / 10);

	return all > saved ? least(run, all - saved) : 0;
}

/* An undo has the saved files of its run under a second name: each name has its share. */
static uint64_t saved_in(int dir, const char *run)
{
	static const char *const files[] = { CTM_ARCHIVE_REMOVED, CTM_ARCHIVE_RESTORE };
	CLEANUP_CLOSE int fd = openat(dir, run, CTM_STATE_FLAGS | O_NOFOLLOW);
	uint64_t n = 0;
	struct stat st;

	for (size_t i = 0; fd >= 0 && i < ARRAY_LEN(files); i++) {
		if (fstatat(fd, files[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink > 0) {
			n += (uint64_t)st.st_blocks * 512 / st.st_nlink;
		}
	}
	return n;
}

static uint64_t saved_in_all(int dir, const struct ctm_run_names *names)
{
	uint64_t n = 0;

	for (size_t i = 0; dir >= 0 && i < names->names.n; i++) {
		n += saved_in(dir, names->names.v[i]);
	}
	return n;
}

uint64_t ctm_budget_saved(struct ctm_state *state)
{
	CLEANUP(ctm_run_names_done) struct ctm_run_names runs = { 0 };
	CLEANUP(ctm_run_names_done) struct ctm_run_names aside = { 0 };
	CLEANUP_CLOSE int aside_dir =
		openat(state->dir, CTM_STATE_ASIDE, CTM_STATE_FLAGS | O_NOFOLLOW);

	(void)ctm_state_runs(state, &runs, NULL);
	(void)ctm_state_aside(state, &aside, NULL);
	return saved_in_all(state->dir, &runs) + saved_in_all(aside_dir, &aside);
}

/* Cuts the last component off; false when only the root is left. */
static bool to_parent(struct ctm_buf *path)
{
	char *slash = strrchr(path->p, '/');

	if (!slash || path->len <= 1) {
		return false;
	}
	path->len = slash == path->p ? 1 : (size_t)(slash - path->p);
	path->p[path->len] = '\0';
	return true;
}

int ctm_budget(const struct ctm_host *host, struct ctm_state *state, uint64_t *ret,
	       struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	struct statvfs st;

	if (ctm_host_path(host, &path, "%s", CTM_PLACE_STATE) < 0) {
		return ctm_err_nomem(err);
	}
	while (statvfs(path.p, &st) < 0) {
		if (errno != ENOENT || !to_parent(&path)) {
			return ctm_err_set(err, CTM_SYS, errno, "ask for the free space of '%s'",
					   path.p);
		}
	}
	*ret = ctm_budget_of((uint64_t)st.f_bavail * st.f_frsize,
			     state ? ctm_budget_saved(state) : 0);
	return 0;
}
