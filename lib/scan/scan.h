/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one interface between a source of facts and whoever judges them.
 */
#ifndef CTM_SCAN_SCAN_H
#define CTM_SCAN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "id/idmap.h"
#include "scan/fact.h"

struct ctm_scan_request {
	/*
	 * Entries matter, and become facts, when an id of theirs (owner, ACL entry, capability root
	 * id) is off this map's disk side, when they have a malformed ACL or capability, when a
	 * rule names their path, or when they could not be read. NULL: there is no map, nothing
	 * matters but the totals and the histogram.
	 */
	const struct ctm_idmap *map;
	/*
	 * A map that ids of the volume were written under: what would stand elsewhere under .map
	 * matters too, also when it is on that one's disk side. Borrowed; NULL: none.
	 */
	const struct ctm_idmap *from;
	/* every entry below the start paths becomes a fact (flatten) */
	bool want_all;
	bool want_none; /* totals only; errors are counted and not said */
	bool rules;     /* entries at paths of package-manager rules matter */
	/*
	 * On btrfs, what is in another subvolume than the root is not looked at, also where a start
	 * path leads there: their number is the container's to choose. Each that is met is counted.
	 */
	bool one_subvolume;
	/*
	 * Normalised relative paths (ctm_path_normalise); none: the root. Nested or repeated ones
	 * are visited once. One that does not exist, or lies behind a link or a file, is an error
	 * fact of that path; one at or behind a mount is a mount fact of the mounted place.
	 */
	const char *const *starts;
	size_t n_starts;
	unsigned int jobs; /* worker threads; 0: number of online processors */
	/*
	 * Called from the caller's thread about twice in a second, or more often: other than 0 ends
	 * the scan, below with that and with the error it has set, above with -ECANCELED. NULL:
	 * nobody asks.
	 */
	int (*interrupt)(void *arg, struct ctm_err *err);
	void *interrupt_arg;
	/*
	 * Seconds without a new entry after which the walk is given up; 0: CTM_LEASH_SILENCE
	 */
	unsigned int patience;
};

/** One id that occurs on the volume off the map, or for map NULL any id, and how often. */
struct ctm_id_count {
	uint32_t id;
	uint64_t n; /* inodes */
};

#define CTM_ID_COUNT_MAX 65536 /* distinct ids counted per kind; the rest is in .other */

struct ctm_id_histogram {
	struct ctm_id_count *v; /* ascending by id; owned by the totals */
	size_t n;
	uint64_t other;
};

struct ctm_scan_totals {
	uint64_t entries; /* directory entries seen, the start itself included */
	/*
	 * a hard link counts once: each of its n names adds 1/n (exact when all names are inside)
	 */
	uint64_t inodes;
	uint64_t dirs;
	/*
	 * inodes whose uid/gid (by enum ctm_idkind) is a container id of the map and off its disk
	 * side, and not one that .from says more of
	 */
	uint64_t host[2];
	/*
	 * inodes whose uid/gid is that of the container's account 65534, which a reader through a
	 * map gives to whatever that map does not hold
	 */
	uint64_t nobody[2];
	uint64_t errors;
	uint64_t subvolumes; /* that were not looked at (one_subvolume) */
	struct ctm_id_histogram ids[2];
};

void ctm_scan_totals_done(struct ctm_scan_totals *totals);

/** A source of facts. Sources differ in how they read; all use the same sieve (scan/sieve.h). */
struct ctm_source;
struct ctm_source_ops {
	const char *name; /* "walk" */
	/* Facts arrive in no particular order, one at a time, on the caller's thread. */
	int (*scan)(struct ctm_source *src, const struct ctm_scan_request *req, ctm_fact_fn fn,
		    void *arg, struct ctm_scan_totals *ret, struct ctm_err *err);
	void (*free)(struct ctm_source *src);
};
struct ctm_source {
	const struct ctm_source_ops *ops;
};

static inline int ctm_source_scan(struct ctm_source *src, const struct ctm_scan_request *req,
				  ctm_fact_fn fn, void *arg, struct ctm_scan_totals *ret,
				  struct ctm_err *err)
{
	return src->ops->scan(src, req, fn, arg, ret, err);
}
void ctm_source_free(struct ctm_source *src);
static inline void ctm_source_freep(struct ctm_source **src)
{
	ctm_source_free(*src);
}

/**
 * The source that walks a mounted tree in a child process. rootfd: a directory descriptor of the
 * volume's root (O_PATH is enough), borrowed while the source lives. -ENOMEM.
 *
 * The process is confined as scan/confine.h says; where it cannot be, the scan fails and nothing is
 * read. When it is killed, or ends early, the scan fails at once (EIO); when somebody stops it,
 * after some seconds (ETIME). One that gets nowhere (request.patience), takes more processor time
 * or more memory than any tree needs (scan/leash.h) is ended, and the scan fails with ETIME or EIO:
 * a large tree may take long, and a healthy one says nothing meanwhile. A process that the kernel
 * cannot end, because a device does not answer, is left behind after some seconds.
 */
int ctm_walk_new(int rootfd, struct ctm_source **ret, struct ctm_err *err);

#endif
