/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regular files through the door of target/rootfd.h: made so that they appear at once, and all
 * their attributes.
 */
#ifndef CTM_TARGET_ROOTFD_FILE_H
#define CTM_TARGET_ROOTFD_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"

/**
 * A new empty regular file (mode 0600) in the directory, open for reading and writing. Without a
 * name until ctm_rootfd_name_file(); where the file system has no such files (O_TMPFILE) it is
 * made under its name at once, and *ret_named says so. -EEXIST: something has that name, also
 * checked for a nameless one.
 */
int ctm_rootfd_make_file(int dir, const char *name, int *ret, bool *ret_named);
/** Gives the nameless file its name; never replaces: -EEXIST. */
int ctm_rootfd_name_file(int fd, int dir, const char *name);

/** Every attribute of an open file, once each; fn's negative errno stops. Values in the arena. */
typedef int (*ctm_rootfd_xattr_fn)(const char *name, struct ctm_bytes value, void *arg);
int ctm_rootfd_each_xattr(int fd, struct ctm_arena *arena, ctm_rootfd_xattr_fn fn, void *arg);

#endif
