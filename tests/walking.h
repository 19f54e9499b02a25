/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks for tests: what a scan says about a directory, and what nftw(3) and lstat(2) say.
 */
#ifndef CTM_TESTS_WALKING_H
#define CTM_TESTS_WALKING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "scan/scan.h"

struct seen {
	char *path; /* as in a fact; owned */
	enum ctm_fact_kind kind;
	struct stat st; /* mode, uid, gid, dev, ino, nlink, size */
	int err;
	const char *op;
	bool acl_access, acl_default, caps;
	unsigned char head[CTM_HEAD_LEN];
	size_t head_len; /* SIZE_MAX: there is none */
};

/* Sorted by path, then kind. Zero-initialise. */
struct sight {
	struct seen *v;
	size_t n;
	size_t cap;
	struct ctm_scan_totals totals;
};
#define SIGHT(name) __attribute__((cleanup(sight_done))) struct sight name = { 0 }

void sight_done(struct sight *sight);

/* Walks in a process of its own, as the program does. Returns what the scan returns. */
int walk_dir(const char *dir, const struct ctm_scan_request *req, struct sight *sight);
/* The same with one more function that is called for each fact first, and its argument. */
int walk_dir_with(const char *dir, const struct ctm_scan_request *req, struct sight *sight,
		  ctm_fact_fn fn, void *arg, struct ctm_err *err);
/* Walks within this process (which gets another working directory). */
int walk_here(const char *dir, const struct ctm_scan_request *req, unsigned int jobs,
	      struct sight *sight);
/* Both, with two threads; fails unless they say the same. */
int walk_twice(const char *dir, const struct ctm_scan_request *req, struct sight *sight);
/* Everything below dir and dir itself, from nftw. */
void look_dir(const char *dir, struct sight *sight);

/* The first of this path, or NULL. */
const struct seen *sight_find(const struct sight *sight, const char *path);
/* Fails unless both hold the same inodes under the same paths. */
void sights_equal(const struct sight *got, const struct sight *want, const char *name);

/* mkdir -p below dir; content NULL: a directory. Fails the test on errors. */
void plant(const char *dir, const char *path, const char *content);
/*
 * Has SCRATCH make its directories in memory where it can: thousands of files take their time on a
 * disk with a journal.
 */
void in_memory(void);
/* rm -rf, for trees of any depth. */
void uproot(const char *dir);

#endif
