/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a volume that a session looks at, and the rules that apply to it.
 */
#ifndef CTM_SESSION_SELECTION_H
#define CTM_SESSION_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "session/session.h"

/** Zero-initialise; ctm_selection_done() frees. */
struct ctm_selection {
	const char **starts; /* for ctm_scan_request and ctm_policy; the strings are borrowed */
	size_t n_starts;
	bool *rules_on;    /* for ctm_policy, by index of ctm_rules_all */
	bool whole;        /* the whole volume */
	struct ctm_buf mp; /* private: where the volume is mounted, "" for the rootfs */
};

/**
 * The required directories of a mount point's volume are the parts of them that it holds: of
 * mp=/var "lib/dpkg" and others, of mp=/srv none at all. The package managers' tables are of the
 * rootfs.
 *
 * Required directories that are not there are left out (not every root has all); paths that the
 * user named stay, so that a missing one is reported.
 */
int ctm_selection_make(const struct ctm_session_opts *opts, const struct ctm_volume *vol,
		       int rootfd, struct ctm_selection *ret, struct ctm_err *err);
void ctm_selection_done(struct ctm_selection *sel);

#endif
