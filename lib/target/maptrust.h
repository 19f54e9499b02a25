/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the ids that a map gives away are its author's to give.
 *
 * A repair makes the files of a container, setuid programs among them, files of the ids that the
 * map names. Root may name any. Somebody else who can write the configuration would get files of
 * root, or of other users, in a tree of his own; he may name what the host grants him, as
 * newuidmap(1) and newgidmap(1) do: his ranges in /etc/subuid and /etc/subgid, and alone, as a
 * range of one, his own uid and his primary group. Never 0.
 */
#ifndef CTM_TARGET_MAPTRUST_H
#define CTM_TARGET_MAPTRUST_H

#include "base/err.h"
#include "config/lxcconf.h"
#include "id/idmap.h"
#include "target/host.h"
#include "target/pathwriters.h"

/** Who may have written what was read, all files together. Zero-initialise. */
struct ctm_mapauthors {
	struct ctm_pathwriters writers;
};
void ctm_mapauthors_done(struct ctm_mapauthors *authors);

/** Adds who can change this file, or this folder of files. */
int ctm_mapauthors_add(struct ctm_mapauthors *authors, const char *path, struct ctm_err *err);
/** A ctm_lxcconf_read_fn, as ctm_hostfile_lxc(), that adds each file; arg: the authors. */
int ctm_mapauthors_lxc(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		       struct ctm_err *err);

/**
 * Forgets the author who is the root of the container itself, by this map: lxc-create(1) gives him
 * the folder with its configuration. That is so only where no account of the host has his id, and
 * no user but root may use it (subuid(5)), so that nothing but the container runs as it. An author
 * of whom that could not be found out stays.
 */
int ctm_mapauthors_pass_root(struct ctm_mapauthors *authors, const struct ctm_host *host,
			     const struct ctm_idmap *map, struct ctm_err *err);

/**
 * 0 when every author may give every id of the map, and always when root is the only one, or when
 * we are not root: then nothing can be changed. Else CTM_REFUSED, which names the file (for the
 * message alone), the author and the first such id. A map without ranges gives each id itself, and
 * so 0.
 */
int ctm_maptrust_check(const struct ctm_host *host, const struct ctm_mapauthors *authors,
		       const char *file, const struct ctm_idmap *map, struct ctm_err *err);
/** CTM_REFUSED unless root is the only author: for what else a file decides, in these words. */
int ctm_maptrust_roots_own(const struct ctm_mapauthors *authors, const char *file,
			   const char *decides, struct ctm_err *err);

#endif
