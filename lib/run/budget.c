/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much removed files may take.
 */
#include "run/budget.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/bytes.h"
#include "base/cleanup.h"

CTM_HOST_PATHS

#define BUDGET_MAX ((uint64_t)256 << 20)

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

int ctm_budget(const struct ctm_host *host, uint64_t *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	struct statvfs st;
	uint64_t tenth;

	if (ctm_host_path(host, &path, "%s", CTM_PLACE_STATE) < 0) {
		return ctm_err_nomem(err);
	}
	while (statvfs(path.p, &st) < 0) {
		if (errno != ENOENT || !to_parent(&path)) {
			return ctm_err_set(err, CTM_SYS, errno, "ask for the free space of '%s'",
					   path.p);
		}
	}
	tenth = (uint64_t)st.f_bavail * st.f_frsize / 10;
	*ret = tenth < BUDGET_MAX ? tenth : BUDGET_MAX;
	return 0;
}
