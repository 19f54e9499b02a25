/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a volume that a session looks at.
 */
#include "session/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "rules/rules.h"
#include "target/rootfd.h"

static bool exists(int rootfd, const char *path)
{
	CLEANUP_CLOSE int fd = -1;

	return ctm_rootfd_open(rootfd, path, strlen(path), &fd) == 0;
}

/* A path that a link hides is kept: the scan reports it. */
static bool is_missing(int rootfd, const char *path)
{
	CLEANUP_CLOSE int fd = -1;

	return ctm_rootfd_open(rootfd, path, strlen(path), &fd) == -ENOENT;
}

int ctm_selection_make(const struct ctm_session_opts *opts, int rootfd, struct ctm_selection *ret,
		       struct ctm_err *err)
{
	size_t n = opts->scope_required ? ctm_required_n : opts->n_paths;
	struct ctm_selection sel = { .whole = n == 0 };

	sel.starts = calloc(n + 1, sizeof(*sel.starts));
	sel.rules_on = calloc(ctm_rules_n + 1, sizeof(*sel.rules_on));
	if (!sel.starts || !sel.rules_on) {
		ctm_selection_done(&sel);
		return ctm_err_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		const char *path = opts->scope_required ? ctm_required_dirs[i] : opts->paths[i];

		if (opts->scope_required && is_missing(rootfd, path)) {
			continue;
		}
		sel.starts[sel.n_starts++] = path;
	}
	for (size_t i = 0; i < ctm_rules_n; i++) {
		sel.rules_on[i] = exists(rootfd, ctm_rules_all[i]->present_if);
	}
	*ret = sel;
	return 0;
}

void ctm_selection_done(struct ctm_selection *sel)
{
	free(sel->starts);
	free(sel->rules_on);
	*sel = (struct ctm_selection){ 0 };
}
