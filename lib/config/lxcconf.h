/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configuration of a plain LXC container, read as liblxc reads it (confile.c parse_line).
 *
 * "lxc.key = value" with blanks anywhere around; one pair of quotes around the value goes away;
 * a line that does not start with "lxc." is ignored, one that does and has no "=" makes the
 * file invalid. A carriage return is part of a value. lxc.include is followed in place, through
 * a callback, so that this file does no input of its own.
 */
#ifndef CTM_CONFIG_LXCCONF_H
#define CTM_CONFIG_LXCCONF_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

#define CTM_LXCCONF_DEPTH 16  /* files that include files */
#define CTM_LXCCONF_FILES 256 /* in all */

/** What stands behind a path: a file's bytes, or the files of a folder. Zero-initialise. */
struct ctm_lxcconf_source {
	struct ctm_buf text;
	CTM_VEC(char *) files; /* full paths of a folder's *.conf, in order; each to be freed */
};
void ctm_lxcconf_source_done(struct ctm_lxcconf_source *source);

/** Fills in *ret, or sets *err and returns a negative errno. */
typedef int (*ctm_lxcconf_read_fn)(void *arg, const char *path, struct ctm_lxcconf_source *ret,
				   struct ctm_err *err);

struct ctm_lxcconf_entry {
	const char *key; /* "lxc.idmap" */
	const char *value;
	const char *file;
	unsigned int line;
};

/** Zero-initialise; strings live in the arena. */
struct ctm_lxcconf {
	struct ctm_arena arena;
	CTM_VEC(struct ctm_lxcconf_entry) entries; /* in the order in which LXC sees them */
};

/**
 * Reads path and all that it includes. CTM_REFUSED for a line that LXC does not take and when the
 * includes have no end; else what the callback says. ctm_lxcconf_done() in any case.
 */
int ctm_lxcconf_read(const char *path, ctm_lxcconf_read_fn read, void *arg, struct ctm_lxcconf *ret,
		     struct ctm_err *err);
void ctm_lxcconf_done(struct ctm_lxcconf *conf);

/** The last entry of a key, or NULL. An empty value is an entry. */
const struct ctm_lxcconf_entry *ctm_lxcconf_find(const struct ctm_lxcconf *conf, const char *key);

#endif
