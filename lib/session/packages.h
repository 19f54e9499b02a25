/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the package database of a container says of the paths that are wrong.
 */
#ifndef CTM_SESSION_PACKAGES_H
#define CTM_SESSION_PACKAGES_H

#include "base/err.h"
#include "plan/pkgfiles.h"

/**
 * Holds the paths of own.host against dpkg's lists in the tree at root. The container wrote these:
 * no link is followed, only regular files are read, and of those only so many and so much. What
 * cannot be read says nothing. Only -ENOMEM fails.
 */
int ctm_packages_look(const struct ctm_plan *plan, int root, struct ctm_pkgfiles_found *ret,
		      struct ctm_err *err);

#endif
