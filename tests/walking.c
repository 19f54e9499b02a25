/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks for tests. */
#include "walking.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"
#include "scan/feed.h"
#include "scan/walk_state.h"

void sight_done(struct sight *sight)
{
	for (size_t i = 0; i < sight->n; i++) {
		free(sight->v[i].path);
	}
	free(sight->v);
	ctm_scan_totals_done(&sight->totals);
	*sight = (struct sight){ 0 };
}

static int by_path(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int r = strcmp(x->path, y->path);

	return r ? r : (int)x->kind - (int)y->kind;
}

static void sort(struct sight *sight)
{
	if (sight->n > 0) {
		qsort(sight->v, sight->n, sizeof(*sight->v), by_path);
	}
}

static int keep(const struct ctm_fact *fact, struct sight *sight)
{
	struct seen seen = {
		.path = strdup(fact->path),
		.kind = fact->kind,
		.st = {
			.st_mode = fact->mode,
			.st_uid = fact->uid.v,
			.st_gid = fact->gid.v,
			.st_dev = fact->dev,
			.st_ino = fact->ino,
			.st_nlink = fact->nlink,
			.st_size = (off_t)fact->size,
		},
		.err = fact->err,
		.op = fact->op,
		.acl_access = fact->acl_access.p != NULL,
		.acl_default = fact->acl_default.p != NULL,
		.caps = fact->caps.p != NULL,
		.head_len = fact->head.p ? fact->head.len : SIZE_MAX,
	};

	cr_assert_not_null(seen.path);
	cr_assert_eq(strlen(fact->path), fact->path_len);
	if (fact->head.p) {
		memcpy(seen.head, fact->head.p, fact->head.len);
	}
	return ctm_vec_push(sight, &seen);
}

struct both {
	struct sight *sight;
	ctm_fact_fn fn;
	void *arg;
};

static int keep_fact(const struct ctm_fact *fact, void *arg)
{
	const struct both *both = arg;
	int r = both->fn ? both->fn(fact, both->arg) : 0;

	return r < 0 ? r : keep(fact, both->sight);
}

int walk_dir_with(const char *dir, const struct ctm_scan_request *req, struct sight *sight,
		  ctm_fact_fn fn, void *arg, struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(ctm_source_freep) struct ctm_source *source = NULL;
	struct both both = { sight, fn, arg };
	int r;

	cr_assert_geq(fd, 0, "%s", dir);
	cr_assert_eq(ctm_walk_new(fd, &source, err), 0);
	r = ctm_source_scan(source, req, keep_fact, &both, &sight->totals, err);
	sort(sight);
	return r;
}

int walk_dir(const char *dir, const struct ctm_scan_request *req, struct sight *sight)
{
	struct ctm_err err = { 0 };
	int r = walk_dir_with(dir, req, sight, NULL, NULL, &err);

	cr_assert(r == 0 || err.msg[0], "an error says what it is");
	return r;
}

int walk_here(const char *dir, const struct ctm_scan_request *req, unsigned int jobs,
	      struct sight *sight)
{
	CLEANUP_CLOSE int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_CLOSE int out = memfd_create("walk", MFD_CLOEXEC);
	CLEANUP(ctm_feed_in_done) struct ctm_feed_in in = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf all = { 0 };
	struct ctm_feed_msg msg = { .kind = CTM_FEED_FACT };
	struct stat st;
	size_t at = 0;
	int r;

	cr_assert(fd >= 0 && out >= 0);
	r = ctm_walk_tree(fd, out, req, jobs, NULL);
	cr_assert_eq(fstat(out, &st), 0);
	cr_assert_eq(ctm_buf_reserve(&all, (size_t)st.st_size), 0);
	cr_assert_eq(pread(out, all.p, (size_t)st.st_size, 0), st.st_size);
	cr_assert_eq(ctm_feed_in_init(&in, jobs), 0);
	while (msg.kind == CTM_FEED_FACT) {
		size_t used = 0;

		cr_assert_eq(ctm_feed_next(&in, all.p + at, (size_t)st.st_size - at, &used, &msg),
			     0);
		at += used;
		if (msg.kind == CTM_FEED_FACT) {
			cr_assert_eq(keep(&msg.fact, sight), 0);
		}
	}
	cr_assert_eq(msg.kind, r < 0 ? CTM_FEED_FAIL : CTM_FEED_END);
	if (r == 0) {
		sight->totals = in.totals;
		in.totals = (struct ctm_scan_totals){ 0 };
	}
	sort(sight);
	return r;
}

int walk_twice(const char *dir, const struct ctm_scan_request *req, struct sight *sight)
{
	SIGHT(here);
	int r = walk_dir(dir, req, sight);

	cr_assert_eq(walk_here(dir, req, 2, &here), r);
	cr_assert_eq(here.n, sight->n);
	for (size_t i = 0; i < here.n; i++) {
		const struct seen *a = &here.v[i], *b = &sight->v[i];

		cr_assert_str_eq(a->path, b->path);
		cr_assert_eq(a->kind, b->kind, "%s", a->path);
		cr_assert_eq(a->err, b->err, "%s", a->path);
		cr_assert_eq(a->st.st_ino, b->st.st_ino, "%s", a->path);
	}
	cr_assert_eq(here.totals.entries, sight->totals.entries);
	cr_assert_eq(here.totals.inodes, sight->totals.inodes);
	cr_assert_eq(here.totals.errors, sight->totals.errors);
	return r;
}

/* nftw has no argument for its function. */
static struct sight *looking;
static size_t looking_len;

static int look_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	const char *rest = path + looking_len;
	struct seen seen = { .kind = CTM_FACT_INODE, .st = *st };

	(void)flag;
	(void)ftw;
	seen.path = strdup(*rest == '/' ? rest + 1 : rest);
	cr_assert_not_null(seen.path);
	looking->totals.entries++;
	looking->totals.dirs += S_ISDIR(st->st_mode);
	return ctm_vec_push(looking, &seen);
}

void look_dir(const char *dir, struct sight *sight)
{
	looking = sight;
	looking_len = strlen(dir);
	cr_assert_eq(nftw(dir, look_one, 64, FTW_PHYS), 0);
	sort(sight);
}

const struct seen *sight_find(const struct sight *sight, const char *path)
{
	for (size_t i = 0; i < sight->n; i++) {
		if (strcmp(sight->v[i].path, path) == 0) {
			return &sight->v[i];
		}
	}
	return NULL;
}

void sights_equal(const struct sight *got, const struct sight *want, const char *name)
{
	for (size_t i = 0; i < got->n && i < want->n; i++) {
		const struct stat *a = &got->v[i].st, *b = &want->v[i].st;
		const char *path = got->v[i].path;

		cr_assert_str_eq(path, want->v[i].path, "%s: entry %zu", name, i);
		cr_assert_eq(got->v[i].kind, CTM_FACT_INODE, "%s: %s", name, path);
		cr_assert_eq(a->st_mode, b->st_mode, "%s: mode of %s", name, path);
		cr_assert_eq(a->st_uid, b->st_uid, "%s: uid of %s", name, path);
		cr_assert_eq(a->st_gid, b->st_gid, "%s: gid of %s", name, path);
		cr_assert_eq(a->st_dev, b->st_dev, "%s: dev of %s", name, path);
		cr_assert_eq(a->st_ino, b->st_ino, "%s: ino of %s", name, path);
		cr_assert_eq(a->st_nlink, b->st_nlink, "%s: nlink of %s", name, path);
		cr_assert_eq(a->st_size, b->st_size, "%s: size of %s", name, path);
	}
	cr_assert_eq(got->n, want->n, "%s: %zu entries, not %zu", name, got->n, want->n);
	cr_assert_eq(got->totals.entries, want->totals.entries, "%s", name);
	cr_assert_eq(got->totals.dirs, want->totals.dirs, "%s", name);
}

void plant(const char *dir, const char *path, const char *content)
{
	CLEANUP_FREE char *full = NULL;
	CLEANUP_CLOSE int fd = -1;
	char *slash;

	cr_assert_geq(asprintf(&full, "%s/%s", dir, path), 0);
	slash = full + strlen(dir);
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	if (!content) {
		cr_assert_eq(mkdir(full, 0755), 0, "mkdir %s", full);
		return;
	}
	fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	cr_assert_geq(fd, 0, "create %s", full);
	cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
}

void in_memory(void)
{
	if (access("/dev/shm", W_OK | X_OK) == 0) {
		cr_assert_eq(setenv("TMPDIR", "/dev/shm", 1), 0);
	}
}

void uproot(const char *dir)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)execlp("rm", "rm", "-rf", "--", dir, (char *)NULL);
		_exit(127);
	}
	cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, "rm -rf %s", dir);
}
