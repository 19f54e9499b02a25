/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a walk finds. */
#include <acl/libacl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/acl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scan/feed_record.h"
#include "scan/scan.h"
#include "scan/walk_state.h"
#include "scratch.h"
#include "walking.h"

static char *below(const struct scratch *s, const char *path)
{
	char *full;

	cr_assert_geq(asprintf(&full, "%s/%s", s->path, path), 0);
	return full;
}

/* A map on which everything that this process creates is. */
static struct ctm_idmap *own_map(void)
{
	struct ctm_idmap *map = ctm_idmap_new();

	cr_assert_not_null(map);
	cr_assert_eq(ctm_idmap_add(map, CTM_UID, (struct ctm_range){ 100, geteuid(), 1 }), 0);
	cr_assert_eq(ctm_idmap_add(map, CTM_GID, (struct ctm_range){ 100, getegid(), 1 }), 0);
	return map;
}

/* One of each kind, names of every sort, hard links in two places. */
static void plant_all_kinds(const struct scratch *s)
{
	CLEANUP_FREE char *from = below(s, "usr/bin/tool"), *to = below(s, "usr/lib/same");
	CLEANUP_CLOSE int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	plant(s->path, "usr/bin/tool", "#!/bin/sh\n");
	plant(s->path, "usr/bin/.hidden", "");
	plant(s->path, "usr/lib/a b\n\xff\x1b", "x");
	plant(s->path, "usr/lib/empty", NULL);
	plant(s->path, "usr/lib/...", NULL);
	cr_assert_eq(link(from, to), 0);
	cr_assert_eq(symlinkat("/etc", s->fd, "usr/link"), 0);
	cr_assert_eq(symlinkat("nowhere", s->fd, "usr/dangling"), 0);
	cr_assert_eq(mkfifoat(s->fd, "usr/fifo", 0600), 0);
	/* bind(2) takes 108 bytes only. */
	cr_assert_eq(fchdir(s->fd), 0);
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "usr/sock");
	cr_assert_eq(bind(sock, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	cr_assert_eq(chmod(from, 06711), 0);
}

static const unsigned int jobs[] = { 1, 2, 7 };

CASES(walk, everything_that_nftw_sees, jobs)
{
	SCRATCH(s);
	SIGHT(got);
	SIGHT(want);
	SIGHT(here);
	const struct ctm_scan_request req = { .want_all = true, .jobs = jobs[*i] };

	plant_all_kinds(&s);
	look_dir(s.path, &want);
	cr_assert_eq(walk_dir(s.path, &req, &got), 0);
	sights_equal(&got, &want, "process");
	cr_assert_eq(got.totals.inodes, want.n - 1, "two names of one file");
	cr_assert_eq(got.totals.errors, 0);
	cr_assert_eq(walk_here(s.path, &req, jobs[*i], &here), 0);
	sights_equal(&here, &want, "threads");
}

CASES(walk, a_large_directory, jobs)
{
	in_memory();
	SCRATCH(s);
	SIGHT(got);
	SIGHT(want);
	const struct ctm_scan_request req = { .want_all = true, .jobs = jobs[*i] };

	/* Several blocks of files, and several of directories. */
	cr_assert_eq(mkdirat(s.fd, "big", 0755), 0);
	for (int k = 0; k < 6000; k++) {
		char name[64];
		int fd;

		(void)snprintf(name, sizeof(name), "big/%s-%d", k % 3 ? "file" : "directory", k);
		if (k % 3 == 0) {
			cr_assert_eq(mkdirat(s.fd, name, 0755), 0);
			continue;
		}
		fd = openat(s.fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		cr_assert_geq(fd, 0);
		cr_assert_eq(close(fd), 0);
	}
	look_dir(s.path, &want);
	cr_assert_eq(walk_twice(s.path, &req, &got), 0);
	sights_equal(&got, &want, "large");
}

Test(walk, only_what_is_off_the_map)
{
	SCRATCH(s);
	SIGHT(none);
	SIGHT(all);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = own_map();
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *other = ctm_idmap_new();
	struct ctm_scan_request req = { .map = map };

	plant_all_kinds(&s);
	cr_assert_eq(walk_twice(s.path, &req, &none), 0);
	cr_assert_eq(none.n, 0);
	cr_assert_gt(none.totals.entries, 10);
	cr_assert_eq(none.totals.ids[CTM_UID].n, 0);
	cr_assert_eq(ctm_idmap_add(other, CTM_UID,
				   (struct ctm_range){ geteuid(), geteuid() + 100000, 1 }),
		     0);
	cr_assert_eq(ctm_idmap_add(other, CTM_GID, (struct ctm_range){ 100, getegid(), 1 }), 0);
	req.map = other;
	cr_assert_eq(walk_twice(s.path, &req, &all), 0);
	cr_assert_eq(all.n, all.totals.entries);
	cr_assert_eq(all.totals.host[CTM_UID], all.totals.inodes);
	cr_assert_eq(all.totals.host[CTM_GID], 0);
	cr_assert_eq(all.totals.ids[CTM_UID].n, 1);
	cr_assert_eq(all.totals.ids[CTM_UID].v[0].id, geteuid());
	cr_assert_eq(all.totals.ids[CTM_UID].v[0].n, all.totals.inodes);
}

Test(walk, counts_without_a_map)
{
	SCRATCH(s);
	SIGHT(got);
	const struct ctm_scan_request req = { .rules = true };

	plant_all_kinds(&s);
	cr_assert_eq(walk_twice(s.path, &req, &got), 0);
	cr_assert_eq(got.n, 0);
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		cr_assert_eq(got.totals.ids[kind].n, 1);
		cr_assert_eq(got.totals.ids[kind].v[0].id, kind == CTM_UID ? geteuid() : getegid());
		cr_assert_eq(got.totals.ids[kind].v[0].n, got.totals.inodes);
		cr_assert_eq(got.totals.host[kind], 0);
	}
}

static void set_acl(const struct scratch *s, const char *path, acl_type_t type, const char *text)
{
	CLEANUP_FREE char *full = below(s, path);
	acl_t acl = acl_from_text(text);

	cr_assert_not_null(acl);
	cr_assert_eq(acl_set_file(full, type, acl), 0, "ACL of %s: %s", path, strerror(errno));
	(void)acl_free(acl);
}

Test(walk, acls_of_every_kind_of_inode)
{
	SCRATCH(s);
	SIGHT(got);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = own_map();
	const struct ctm_scan_request req = { .map = map };
	char good[128];

	plant_all_kinds(&s);
	(void)snprintf(good, sizeof(good), "u::rwx,u:%u:rwx,g::r-x,g:%u:r,m::rwx,o::-", geteuid(),
		       getegid());
	set_acl(&s, "usr/bin/tool", ACL_TYPE_ACCESS, "u::rwx,u:4242:r,g::r-x,m::rwx,o::-");
	set_acl(&s, "usr/fifo", ACL_TYPE_ACCESS, "u::rwx,g::r-x,g:4242:r,m::rwx,o::-");
	set_acl(&s, "usr/lib/...", ACL_TYPE_DEFAULT, "u::rwx,u:4242:r,g::r-x,m::rwx,o::-");
	set_acl(&s, "usr/bin/.hidden", ACL_TYPE_ACCESS, good);
	set_acl(&s, "usr/lib/empty", ACL_TYPE_DEFAULT, good);
	cr_assert_eq(walk_twice(s.path, &req, &got), 0);
	cr_assert_eq(got.n, 4, "both names of the file, the FIFO, the directory");
	cr_assert_str_eq(got.v[0].path, "usr/bin/tool");
	cr_assert(got.v[0].acl_access && !got.v[0].acl_default);
	cr_assert_str_eq(got.v[1].path, "usr/fifo");
	cr_assert(got.v[1].acl_access && !got.v[1].acl_default);
	cr_assert_str_eq(got.v[2].path, "usr/lib/...");
	cr_assert(!got.v[2].acl_access && got.v[2].acl_default);
	cr_assert_str_eq(got.v[3].path, "usr/lib/same");
	cr_assert(got.v[3].acl_access);
}

Test(walk, paths_of_rules)
{
	SCRATCH(s);
	SIGHT(with);
	SIGHT(without);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = own_map();
	struct ctm_scan_request req = { .map = map, .rules = true };
	const struct seen *seen;

	plant(s.path, "var/cache/apt/pkgcache.bin",
	      "\xde\xad 3 bytes and more than thirty-two of them");
	plant(s.path, "var/cache/apt/archives/lock", "");
	plant(s.path, "var/cache/apt/other", "x");
	plant(s.path, "var/lib/dpkg/status", "x");
	cr_assert_eq(mkfifoat(s.fd, "var/lib/dpkg/lock", 0644), 0, "would block whoever opens it");
	cr_assert_eq(symlinkat("/dev/zero", s.fd, "var/lib/dpkg/lock-frontend"), 0);
	cr_assert_eq(walk_twice(s.path, &req, &with), 0);
	cr_assert_eq(with.n, 4);
	seen = sight_find(&with, "var/cache/apt/pkgcache.bin");
	cr_assert(seen && seen->head_len == CTM_HEAD_LEN);
	cr_assert_arr_eq(seen->head, "\xde\xad 3 bytes and more than thirty-two", CTM_HEAD_LEN);
	seen = sight_find(&with, "var/cache/apt/archives/lock");
	cr_assert(seen && seen->head_len == 0, "an empty file has an empty head");
	seen = sight_find(&with, "var/lib/dpkg/lock");
	cr_assert(seen && S_ISFIFO(seen->st.st_mode) && seen->head_len == SIZE_MAX);
	seen = sight_find(&with, "var/lib/dpkg/lock-frontend");
	cr_assert(seen && S_ISLNK(seen->st.st_mode) && seen->head_len == SIZE_MAX);
	req.rules = false;
	cr_assert_eq(walk_twice(s.path, &req, &without), 0);
	cr_assert_eq(without.n, 0);
}

#define STARTS_MAX 3

#define LIB "usr/lib"

static const struct {
	const char *name;
	const char *start[STARTS_MAX];
	struct {
		const char *path;
		int err;
	} want[6]; /* sorted */
} starts[] = {
	{ "a directory",
	  { LIB },
	  { { LIB, 0 },
	    { LIB "/...", 0 },
	    { LIB "/a b\n\xff\x1b", 0 },
	    { LIB "/empty", 0 },
	    { LIB "/same", 0 } } },
	{ "a file", { "usr/bin/tool" }, { { "usr/bin/tool", 0 } } },
	{ "a FIFO", { "usr/fifo" }, { { "usr/fifo", 0 } } },
	{ "repeated", { LIB "/empty", LIB "/empty" }, { { LIB "/empty", 0 } } },
	{ "nested",
	  { "usr/bin", "usr/bin/tool" },
	  { { "usr/bin", 0 }, { "usr/bin/.hidden", 0 }, { "usr/bin/tool", 0 } } },
	{ "two", { LIB "/empty", "usr/fifo" }, { { "usr/fifo", 0 }, { LIB "/empty", 0 } } },
	{ "missing on the way", { "usr/no/x" }, { { "usr/no/x", ENOENT } } },
	{ "missing at the end", { "usr/no" }, { { "usr/no", ENOENT } } },
	{ "one of two missing",
	  { "usr/no", "usr/fifo" },
	  { { "usr/fifo", 0 }, { "usr/no", ENOENT } } },
	{ "through a file", { "usr/bin/tool/x" }, { { "usr/bin/tool/x", ENOTDIR } } },
	{ "through a link", { "usr/link/passwd" }, { { "usr/link/passwd", ELOOP } } },
	{ "through a link inside", { "inside/tool" }, { { "inside/tool", ELOOP } } },
	{ "a link", { "usr/link" }, { { "usr/link", 0 }, { "usr/link", ELOOP } } },
};

CASES(walk, start_paths, starts)
{
	SCRATCH(s);
	SIGHT(got);
	struct ctm_scan_request req = { .want_all = true, .jobs = 2, .starts = starts[*i].start };
	size_t k;

	plant_all_kinds(&s);
	cr_assert_eq(symlinkat("usr/bin", s.fd, "inside"), 0);
	while (req.n_starts < STARTS_MAX && starts[*i].start[req.n_starts]) {
		req.n_starts++;
	}
	cr_assert_eq(walk_twice(s.path, &req, &got), 0);
	for (k = 0; k < got.n; k++) {
		cr_assert_not_null(starts[*i].want[k].path, "%s: also %s", starts[*i].name,
				   got.v[k].path);
		cr_assert_str_eq(got.v[k].path, starts[*i].want[k].path, "%s", starts[*i].name);
		cr_assert_eq(got.v[k].err, starts[*i].want[k].err, "%s: %s", starts[*i].name,
			     got.v[k].path);
	}
	cr_assert_null(starts[*i].want[k].path, "%s: and no %s", starts[*i].name,
		       starts[*i].want[k].path);
}

/* Directories that a process without privileges may not read, or may read but not search. */
static const struct {
	const char *name;
	mode_t mode;
} unreadable[] = {
	{ "neither", 0000 },
	{ "search alone", 0300 },
	{ "read alone", 0600 },
};

CASES(walk, what_cannot_be_read_is_said, unreadable)
{
	SCRATCH(s);
	SIGHT(got);
	const struct ctm_scan_request req = { .want_all = true, .jobs = 2 };

	plant(s.path, "open/file", "x");
	plant(s.path, "shut/file", "x");
	if (geteuid() == 0) {
		cr_assert_eq(fchmodat(s.fd, ".", 0755, 0), 0);
		cr_assert_eq(fchownat(s.fd, "shut", 65534, 65534, 0), 0);
		cr_assert_eq(seteuid(65534), 0);
	}
	cr_assert_eq(fchmodat(s.fd, "shut", unreadable[*i].mode, 0), 0);
	cr_assert_eq(walk_twice(s.path, &req, &got), 0, "%s", unreadable[*i].name);
	cr_assert(getuid() != 0 || seteuid(0) == 0);
	cr_assert_eq(fchmodat(s.fd, "shut", 0700, 0), 0);
	cr_assert_eq(got.totals.errors, 1, "%s", unreadable[*i].name);
	cr_assert_eq(got.n, 5, "%s: the rest is there", unreadable[*i].name);
	cr_assert_str_eq(got.v[3].path, "shut", "%s", unreadable[*i].name);
	cr_assert_eq(got.v[3].kind, CTM_FACT_INODE, "%s", unreadable[*i].name);
	cr_assert_str_eq(got.v[4].path, "shut", "%s", unreadable[*i].name);
	cr_assert_eq(got.v[4].kind, CTM_FACT_ERROR, "%s", unreadable[*i].name);
	cr_assert_eq(got.v[4].err, EACCES, "%s", unreadable[*i].name);
	cr_assert_str_eq(got.v[4].op, "open", "%s", unreadable[*i].name);
}

/* --- depth ------------------------------------------------------------------------------------ */

#define DEPTH 4000

static void dig(const struct scratch *s, const char *name)
{
	cr_assert_eq(fchdir(s->fd), 0);
	for (int k = 0; k < DEPTH; k++) {
		/* In whatever order they are listed, one is still to do after the way down. */
		cr_assert_eq(mkdir("side", 0755), 0);
		cr_assert_eq(mkdir(name, 0755), 0);
		cr_assert_eq(mkdir("late", 0755), 0);
		cr_assert_eq(chdir(name), 0);
	}
	cr_assert_eq(fchdir(s->fd), 0);
}

static int measure(const struct ctm_fact *fact, void *arg)
{
	size_t *deepest = arg;

	/* Keeping paths of megabytes is nobody's wish. */
	*deepest = fact->path_len > *deepest ? fact->path_len : *deepest;
	return 0;
}

/* Within this process, so that it shows in coverage and to leak checkers. */
static uint64_t count_here(int fd, unsigned int threads)
{
	CLEANUP_CLOSE int out = memfd_create("walk", MFD_CLOEXEC);
	const struct ctm_scan_request req = { .want_none = true };
	struct ctm_record_totals totals;

	cr_assert_eq(ctm_walk_tree(fd, out, &req, threads, NULL), 0);
	cr_assert_eq(pread(out, &totals, sizeof(totals), sizeof(struct ctm_record_head)),
		     (ssize_t)sizeof(totals));
	return totals.entries;
}

static const struct {
	const char *name;
	size_t name_len;
	size_t path_len; /* of the deepest entry */
} depths[] = {
	{ "short names", 1, 2 * (DEPTH - 1) + sizeof("side") - 1 },
	{ "longer names", 15, 16 * (DEPTH - 1) + 15 },
};

static const struct {
	unsigned int jobs;
	rlim_t files;
} means[] = { { 1, 256 }, { 2, 256 }, { 4, 40 } };

CASES(walk, four_thousand_levels, depths)
{
	in_memory();
	SCRATCH(s);
	CLEANUP_CLOSE int fd = open(s.path, O_PATH | O_CLOEXEC);
	CLEANUP(ctm_source_freep) struct ctm_source *source = NULL;
	char name[256] = { 0 };
	struct rlimit limit;

	dig(&s, memset(name, 'd', depths[*i].name_len));
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(ctm_walk_new(fd, &source, NULL), 0);
	for (size_t k = 0; k < ARRAY_LEN(means); k++) {
		CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
		const struct ctm_scan_request req = { .want_all = true, .jobs = means[k].jobs };
		size_t deepest = 0;

		limit.rlim_cur = means[k].files;
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		cr_assert_eq(ctm_source_scan(source, &req, measure, &deepest, &totals, NULL), 0);
		cr_assert_eq(totals.entries, 3 * DEPTH + 1, "%s, %u threads", depths[*i].name,
			     means[k].jobs);
		cr_assert_eq(totals.dirs, 3 * DEPTH + 1, "%s", depths[*i].name);
		cr_assert_eq(totals.errors, 0, "%s", depths[*i].name);
		cr_assert_eq(deepest, depths[*i].path_len, "%s: %zu", depths[*i].name, deepest);
	}
	cr_assert_eq(count_here(fd, 2), 3 * DEPTH + 1, "%s", depths[*i].name);
	uproot(s.path);
}

struct deep {
	size_t longest;
	size_t n;
};

static int note_deep(const struct ctm_fact *fact, void *arg)
{
	struct deep *deep = arg;

	deep->longest = fact->path_len > deep->longest ? fact->path_len : deep->longest;
	if (fact->kind == CTM_FACT_ERROR) {
		cr_assert_str_eq(fact->op, CTM_OP_DEEP);
		cr_assert_eq(fact->err, ENAMETOOLONG);
		cr_assert_leq(fact->path_len, CTM_DIRNODE_SHORT);
		cr_assert_gt(fact->path_len + 256, CTM_DIRNODE_SHORT, "the last short one");
		deep->n++;
	}
	return 0;
}

static const struct {
	const char *name;
	size_t name_len;
	int levels; /* that are entered */
} too_deep[] = {
	/* A path of so many levels still leaves room for a name. */
	{ "too long", 255, (CTM_FEED_PATH_MAX - CTM_FEED_NAME_MAX + 1) / 256 },
	{ "too many", 1, CTM_WALK_DEPTH_MAX },
};

/*
 * A path has a limit, for the sake of memory; what is too deep is told of the last directory with a
 * short path, each time, and all else is found.
 */
CASES(walk, deeper_than_a_path_may_be, too_deep)
{
	in_memory();
	SCRATCH(s);
	CLEANUP_CLOSE int fd = open(s.path, O_PATH | O_CLOEXEC);
	CLEANUP(ctm_source_freep) struct ctm_source *source = NULL;
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
	const struct ctm_scan_request req = { .want_all = true, .jobs = 2 };
	const int levels = too_deep[*i].levels;
	char name[256] = { 0 };
	struct deep deep = { 0 };

	memset(name, 'd', too_deep[*i].name_len);
	cr_assert_eq(fchdir(s.fd), 0);
	for (int k = 0; k < levels; k++) {
		cr_assert_eq(mkdir(name, 0755), 0);
		cr_assert_eq(chdir(name), 0);
	}
	for (int k = 0; k < 50; k++) {
		char wide[8];

		(void)snprintf(wide, sizeof(wide), "wide%02d", k);
		cr_assert_eq(mkdir(wide, 0755), 0);
		cr_assert_eq(chdir(wide), 0);
		cr_assert_eq(mkdir("not entered", 0755), 0);
		cr_assert_eq(chdir(".."), 0);
	}
	cr_assert_eq(fchdir(s.fd), 0);
	cr_assert_eq(ctm_walk_new(fd, &source, NULL), 0);
	cr_assert_eq(ctm_source_scan(source, &req, note_deep, &deep, &totals, NULL), 0);
	cr_assert_eq(totals.errors, 50, "%s: %zu", too_deep[*i].name, (size_t)totals.errors);
	cr_assert_eq(deep.n, 50);
	cr_assert_eq(totals.dirs, (uint64_t)levels + 51, "the root, and the first too deep ones");
	cr_assert_leq(deep.longest, CTM_FEED_PATH_MAX);
	uproot(s.path);
}
