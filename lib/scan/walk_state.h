/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the walk share inside its process.
 *
 *	walk.c        the parent: starts the process, hands its facts on, reports how it ended
 *	walk_child.c  the process: what it keeps of the parent, then ctm_walk_tree()
 *	walk_tree.c   one walk from the root's descriptor to the last record: threads, totals
 *	walk_start.c  the way to the start paths
 *	walk_pool.c   the list of directories that wait, and who takes the next
 *	walk_open.c   opening a directory below another one
 *	walk_dir.c    reading one directory, block by block
 *	walk_entry.c  one entry: what it is, whether it matters
 *	walk_tell.c   what is said about it
 *
 * Every worker has a working directory of its own (unshare(CLONE_FS)), so that entries are named by
 * their last component alone, also in the calls on attributes, which take no directory descriptor.
 */
#ifndef CTM_SCAN_WALK_STATE_H
#define CTM_SCAN_WALK_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "scan/dirfds.h"
#include "scan/dirnode.h"
#include "scan/feed.h"
#include "scan/leash.h"
#include "scan/scan.h"
#include "scan/sieve.h"
#include "scan/totals.h"

/**
 * Deeper directories are counted and not entered, nor are those at a path longer than
 * CTM_FEED_PATH_MAX: what a path costs must stay bounded, in bytes, and in steps of whoever opens
 * each entry from the root. They are told of the last directory above them whose path is short, so
 * that ten thousand of them are one line, and need no room.
 */
#define CTM_WALK_DEPTH_MAX 4096u

/**
 * A directory is read in blocks. When many directories wait, the blocks become small: a hostile
 * tree could have a block's worth of sub-directories at every level of its depth.
 */
#define CTM_WALK_BLOCK       65536u
#define CTM_WALK_BLOCK_SMALL 512u
#define CTM_WALK_MANY_NODES  65536u

/** XATTR_LIST_MAX of linux/limits.h. */
#define CTM_WALK_LIST_MAX 65536u

struct ctm_walk {
	const struct ctm_scan_request *req;
	uint64_t mnt_id; /* of the root */
	bool has_mnt_id;
	bool is_btrfs;
	unsigned int jobs;
	pthread_mutex_t out_lock; /* of the pipe */

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t more;  /* a directory waits, or all is done */
	struct ctm_dirnode *root;
	struct ctm_dirnode *pending; /* the last in is the first out: depth before breadth */
	size_t nodes;                /* that exist */
	unsigned int active;         /* workers with a directory */
	unsigned int waiting;        /* workers without */
	struct ctm_dirfds fds;
	struct ctm_tally tally;
	int failed; /* positive errno: everybody stops */
	const char *failed_op;
};

struct ctm_worker {
	struct ctm_walk *walk;
	pthread_t thread;
	struct ctm_sieve sieve;
	struct ctm_tally tally;
	struct ctm_feed_out out;

	struct ctm_dirnode *node;   /* the directory in work; a reference is held */
	struct ctm_dirnode *anchor; /* pinned: an open directory at or above node */
	int fd;                     /* of node */
	bool own_fd;                /* not handed to walk->fds: then anchor is above node */
	size_t block;               /* how much of node to read at once */

	struct ctm_dirnode *found; /* sub-directories met, in order, not yet given to the pool */
	struct ctm_dirnode **found_end;
	size_t n_found;

	struct ctm_buf path;         /* of an entry that becomes a fact */
	struct ctm_dirnode *path_of; /* the directory that path begins with; a reference is held */
	struct ctm_buf step;
	bool no_noatime; /* the kernel refused O_NOATIME: not ours to ask */
	bool no_xattrs;  /* the file system has none */

	struct ctm_pulse *pulse; /* the parent looks at it */
	struct ctm_pulse unseen; /* where there is no parent */

	struct statx stx;
	char *list;    /* names of attributes */
	char *values;  /* of one entry's */
	char *entries; /* CTM_WALK_BLOCK bytes of linux_dirent64 */
};

/* Functions that return an int: 0, or a negative errno that ends the walk as a whole. */

/**
 * walk_tree.c: the whole of it. rootfd and out are borrowed; one stream for each of jobs, and one
 * pulse, or NULL.
 */
int ctm_walk_tree(int rootfd, int out, const struct ctm_scan_request *req, unsigned int jobs,
		  struct ctm_pulse *pulse);

#define CTM_WALK_EXIT_FAILED 1 /* the last record says why, if it could be written */
#define CTM_WALK_EXIT_SETUP  2 /* not confined, so nothing was read */

/** What a process that walks is given by the one that makes it. */
struct ctm_walk_birth {
	int rootfd; /* both are borrowed */
	int out;
	pid_t parent;            /* the process that makes it */
	uint32_t id;             /* the user and group that it becomes */
	struct ctm_pulse *pulse; /* one for each of jobs */
	unsigned int jobs;
};

/** walk_child.c: what the new process does; its exit status. */
int ctm_walk_child(const struct ctm_walk_birth *birth, const struct ctm_scan_request *req);

/* walk_pool.c */

/** Gives back what the worker holds and has found, and waits for the next. False: there is none. */
bool ctm_walk_next(struct ctm_worker *w);
/** The same without taking another. */
void ctm_walk_give(struct ctm_worker *w);
/** Makes the root the worker's node and anchor. */
void ctm_walk_begin(struct ctm_worker *w);
/** Makes a new node the worker's, whose parent is the one it has now. */
void ctm_walk_take(struct ctm_worker *w, struct ctm_dirnode *node);
/** Hands over the worker's node for others to read on from node->offset, and its descriptor. */
void ctm_walk_share(struct ctm_worker *w);
/** Keeps a descriptor of a node above, and makes it the worker's anchor. */
void ctm_walk_anchor(struct ctm_worker *w, struct ctm_dirnode *node, int fd);
/** Makes w->path_of this node, or none (NULL). */
void ctm_walk_speak_of(struct ctm_worker *w, struct ctm_dirnode *node);
/** Remembers a new node until ctm_walk_next(); the worker's reference to it moves there. */
void ctm_walk_found(struct ctm_worker *w, struct ctm_dirnode *node);
/** Closes a descriptor nobody uses, when there is one. */
bool ctm_walk_close_one(struct ctm_walk *walk);
void ctm_walk_abort(struct ctm_walk *walk, int err, const char *op);
/**
 * Frees the nodes of a list made by ctm_dirnode_unref(); their descriptors are not in walk->fds.
 */
void ctm_walk_bury(struct ctm_dirnode *dead);

/* walk_open.c */

/**
 * Opens an entry of dir, which is a descriptor, without following a link. O_CLOEXEC, O_NOATIME
 * where it is allowed. -errno
 */
int ctm_walk_openat(struct ctm_worker *w, int dir, const char *name, int flags);
/**
 * Opens w->node from w->anchor. Not of the kind that ends the walk: -errno, -ESTALE for another
 * inode.
 */
int ctm_walk_open_node(struct ctm_worker *w);

/* walk_start.c */

/** Looks at the start paths of the request and fills the pool. */
int ctm_walk_starts(struct ctm_worker *w);

/* walk_dir.c */

int ctm_walk_dir(struct ctm_worker *w);

/* walk_entry.c */

/** statx(2) of an entry of the working directory. -errno */
int ctm_walk_stat(const char *name, struct statx *ret);
bool ctm_walk_is_mount(const struct ctm_walk *walk, const struct statx *stx);
/** A directory of another btrfs subvolume than the root's, and such are not wanted. */
bool ctm_walk_is_elsewhere(const struct ctm_walk *walk, const struct statx *stx);
/** Node of the sub-directory that w->stx is about; as ctm_dirnode_new(). */
struct ctm_dirnode *ctm_walk_child_node(struct ctm_worker *w, struct ctm_dirnode *dir,
					const char *name, size_t len);

/**
 * Looks at one entry of the working directory, whose node is dir. Name "." and len 0: the root
 * itself.
 */
int ctm_walk_entry(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len);

/* walk_tell.c: facts about an entry of dir, or with len 0 about dir itself */

/** Fills in the path of the fact. */
int ctm_walk_tell(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len,
		  struct ctm_fact *fact);
int ctm_walk_error(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len,
		   int err, const char *op);
/** The fact's path is of something that has no node: a start that cannot be reached. */
int ctm_walk_tell_path(struct ctm_worker *w, struct ctm_fact *fact);

#endif
