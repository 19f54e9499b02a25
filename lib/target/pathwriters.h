/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who but root can change what a path of the host leads to.
 *
 * Whoever owns a directory on the way, may write to it, owns the file, or may replace a symbolic
 * link on the way, decides in the end what a reader of the path gets.
 */
#ifndef CTM_TARGET_PATHWRITERS_H
#define CTM_TARGET_PATHWRITERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct ctm_pathwriter {
	bool anybody; /* a group, or all: nobody can say who */
	uint32_t gid; /* of that group, never 0; CTM_ID_INVALID: none */
	uint32_t uid; /* not anybody: never 0 */
	char *at;     /* what he can change: the file, a link or a directory on the way; owned */
};

/** Each once. Empty: root alone. Zero-initialise. */
struct ctm_pathwriters {
	CTM_VEC(struct ctm_pathwriter) v;
};
void ctm_pathwriters_done(struct ctm_pathwriters *writers);

/**
 * Adds those of one path, looked at component by component, the links on the way and where they
 * lead as well; a path that does not start with a slash starts where we are. A sticky directory
 * that is open to all (/tmp) gives an entry away to the entry's owner alone. Root's own group
 * counts as root, and the entries of an ACL count one by one. A link of /proc leads where no path
 * says, so that it is anybody's. Negative errno of what could not be looked at; -ELOOP; -ENOMEM.
 */
int ctm_pathwriters_add(struct ctm_pathwriters *writers, const char *path);

#endif
