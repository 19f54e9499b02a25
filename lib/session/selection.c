/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a volume that a session looks at.
 */
#include "session/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "rules/rules.h"
#include "target/rootfd.h"

/* 0, -ENOENT, or why it cannot be said: a link is in the way (-ELOOP) ... */
static int look(int rootfd, const char *path)
{
	CLEANUP_CLOSE int fd = -1;

	return ctm_rootfd_open(rootfd, path, strlen(path), &fd);
}

/* Whether the first path is the second one or above it. */
static bool covers(const char *above, const char *path)
{
	size_t n = strlen(above);

	return strncmp(above, path, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/*
 * How a directory of the container is called on the volume that is mounted at mp (relative, "" for
 * the rootfs); "" for the whole volume, NULL when it is not on it.
 */
static const char *on_volume(const char *mp, const char *path)
{
	if (mp[0] == '\0') {
		return path;
	}
	if (covers(path, mp)) {
		return "";
	}
	return covers(mp, path) ? path + strlen(mp) + 1 : NULL;
}

static size_t count_required(void)
{
	const struct ctm_rules *of;
	size_t n = 0;

	while (ctm_required_dir(n, &of)) {
		n++;
	}
	return n;
}

/*
 * One that a link hides is kept, and the scan reports it; but not that of a manager which this root
 * does not have: where lib is a link, apk's lib/apk is behind it.
 */
static void select_required(int rootfd, const char *mp, struct ctm_selection *sel)
{
	const struct ctm_rules *of;
	const char *dir;

	for (size_t i = 0; (dir = ctm_required_dir(i, &of)); i++) {
		const char *path = on_volume(mp, dir);
		int r = path ? look(rootfd, path) : -ENOENT;
		bool absent = of && mp[0] == '\0' && look(rootfd, of->present_if) == -ENOENT;

		if (r == 0 || (r != -ENOENT && !absent)) {
			sel->starts[sel->n_starts++] = path;
		}
	}
}

static int select_parts(const struct ctm_session_opts *opts, const struct ctm_volume *vol,
			int rootfd, struct ctm_selection *sel)
{
	const bool rootfs = strcmp(vol->mp, "/") == 0;
	int r;

	if (opts->scope_required) {
		r = rootfs ? 0 : ctm_path_normalise(vol->mp, &sel->mp);
		if (r < 0) {
			return r;
		}
		select_required(rootfd, sel->mp.p ? sel->mp.p : "", sel);
	} else {
		for (size_t i = 0; i < opts->n_paths; i++) {
			sel->starts[sel->n_starts++] = opts->paths[i];
		}
	}
	for (size_t i = 0; i < ctm_rules_n; i++) {
		sel->rules_on[i] = rootfs && look(rootfd, ctm_rules_all[i]->present_if) == 0;
	}
	return 0;
}

int ctm_selection_make(const struct ctm_session_opts *opts, const struct ctm_volume *vol,
		       int rootfd, struct ctm_selection *ret, struct ctm_err *err)
{
	CLEANUP(ctm_selection_done) struct ctm_selection sel = { 0 };
	size_t n = opts->scope_required ? count_required() : opts->n_paths;
	int r;

	sel.whole = n == 0;
	sel.starts = calloc(n + 1, sizeof(*sel.starts));
	sel.rules_on = calloc(ctm_rules_n + 1, sizeof(*sel.rules_on));
	if (!sel.starts || !sel.rules_on) {
		return ctm_err_nomem(err);
	}
	r = select_parts(opts, vol, rootfd, &sel);
	if (r < 0) {
		return r == -ENOMEM ? ctm_err_nomem(err) :
				      ctm_err_set(err, CTM_REFUSED, r, "mount point '%s': %s",
						  vol->mp, strerrordesc_np(-r));
	}
	*ret = sel;
	sel = (struct ctm_selection){ 0 };
	return 0;
}

void ctm_selection_done(struct ctm_selection *sel)
{
	free(sel->starts);
	free(sel->rules_on);
	ctm_buf_done(&sel->mp);
	*sel = (struct ctm_selection){ 0 };
}
