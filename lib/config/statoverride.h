/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dpkg's database of owners and modes that the administrator has set (dpkg-statoverride(1),
 * /var/lib/dpkg/statoverride). One line a path, without comments:
 *
 *	USER SP GROUP SP MODE SP PATH
 *
 * A user or group is a name or "#" and a number, the mode octal, the path absolute. Written by the
 * container's root, so nothing is believed here: what a line says is compared with the inode.
 */
#ifndef CTM_CONFIG_STATOVERRIDE_H
#define CTM_CONFIG_STATOVERRIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "id/idmap.h"

struct ctm_statoverride {
	/*
	 * CTM_ID_INVALID for a name that is not resolved: accounts are the container's own files.
	 * Of users root is 0; of groups also those few that have the same number on every Debian
	 * (its policy, 9.2.2) and own programs.
	 */
	ctm_cid uid;
	ctm_cid gid;
	bool exact;            /* both are numbers, or root: nothing was resolved */
	uint32_t mode;         /* 0 to 07777 */
	struct ctm_bytes path; /* in the text, with its first slash */
};

/**
 * Calls fn for each line. Lines that are none are skipped, and what dpkg itself refuses: a mode
 * over 7777, a path that is not absolute. Stops when fn returns other than 0, and returns that.
 */
int ctm_statoverride_each(struct ctm_bytes text,
			  int (*fn)(const struct ctm_statoverride *line, void *arg), void *arg);

#endif
