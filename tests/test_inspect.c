/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what is asked of the file system before a plan is shown. */
#include "run/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "rules/rules.h"
#include "run/effects.h"
#include "scratch.h"

#define LOCK     "var/lib/dpkg/lock"
#define PARTIAL  "var/cache/apt/archives/partial/x.deb"
#define PACMAN   "var/lib/pacman/db.lck"
#define DATABASE "var/db/xbps/pkgdb-0.38.plist"

/* echo hello | sha256sum */
static const uint8_t hello_sha256[32] = {
	0x58, 0x91, 0xb5, 0xb5, 0x22, 0xd5, 0xdf, 0x08, 0x6d, 0x0f, 0xf0,
	0xb1, 0x10, 0xfb, 0xd9, 0xd2, 0x1b, 0xb4, 0xfc, 0x71, 0x63, 0xaf,
	0x34, 0xd0, 0x82, 0x86, 0xa2, 0xe8, 0x46, 0xf6, 0xbe, 0x03,
};

static void write_file(int dir, const char *path, const char *content)
{
	char part[256];
	int fd;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		cr_assert(mkdirat(dir, part, 0755) == 0 || errno == EEXIST);
	}
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	cr_assert_eq(close(fd), 0);
}

static void set_length(int dir, const char *path, off_t length)
{
	CLEANUP_CLOSE int fd = openat(dir, path, O_RDWR);

	cr_assert_eq(ftruncate(fd, length), 0);
}

struct world {
	struct scratch dir;
	struct ctm_idmap *map;
	bool rules_on[16];
	struct ctm_plan *plan;
	struct ctm_effects fx;
};

static void world_done(struct world *w)
{
	ctm_plan_free(w->plan);
	ctm_idmap_free(w->map);
	ctm_effects_done(&w->fx);
	scratch_done(&w->dir);
}

#define WORLD __attribute__((cleanup(world_done))) struct world

static void add_fact(struct world *w, const char *path)
{
	struct ctm_fact fact = { .kind = CTM_FACT_INODE, .path = path, .path_len = strlen(path) };
	struct stat st;

	cr_assert_eq(fstatat(w->dir.fd, path, &st, AT_SYMLINK_NOFOLLOW), 0, "%s", path);
	fact.mode = st.st_mode;
	fact.uid.v = st.st_uid;
	fact.gid.v = st.st_gid;
	fact.dev = st.st_dev;
	fact.ino = st.st_ino;
	fact.nlink = (uint32_t)st.st_nlink;
	fact.size = (uint64_t)st.st_size;
	cr_assert_eq(ctm_plan_fact(&fact, w->plan), 0);
}

/*
 * A container with a lock and half a package, both written by this user, and the plan for them. As
 * long as the partial package and pacman's lock are to be.
 */
static void begin_with(struct world *w, const char *map, off_t partial, off_t pacman)
{
	struct ctm_policy policy = { .clean = CTM_CLEAN_STALE, .rules_on = w->rules_on };
	struct ctm_scan_totals totals = { .entries = 100, .inodes = 100 };
	struct ctm_err err = { 0 };

	*w = (struct world){ .dir = scratch_new() };
	for (size_t i = 0; i < ctm_rules_n; i++) {
		w->rules_on[i] = true;
	}
	cr_assert_eq(ctm_idmap_parse_spec(map, &w->map, &err), 0, "%s", err.msg);
	policy.map = w->map;
	write_file(w->dir.fd, LOCK, "");
	write_file(w->dir.fd, PARTIAL, "hello\n");
	set_length(w->dir.fd, PARTIAL, partial);
	write_file(w->dir.fd, PACMAN, "");
	set_length(w->dir.fd, PACMAN, pacman);
	write_file(w->dir.fd, DATABASE, "<plist/>\n");
	cr_assert_eq(ctm_plan_new(&policy, &w->plan), 0);
	add_fact(w, LOCK);
	add_fact(w, PARTIAL);
	add_fact(w, PACMAN);
	add_fact(w, DATABASE);
	ctm_plan_totals(w->plan, &totals, NULL);
	cr_assert_eq(ctm_plan_finish(w->plan), 0);
	cr_assert_eq(ctm_effects_init(&w->fx, w->dir.fd, false, &err), 0, "%s", err.msg);
}

static void begin(struct world *w, const char *map)
{
	begin_with(w, map, 6, 0);
}

static void begin_sparse(struct world *w, off_t size)
{
	begin_with(w, "100000", size, 0);
}

static void inspect(struct world *w, uint64_t budget)
{
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_inspect(&ctm_effects_ops, &w->fx, w->plan, budget, &err), 0, "%s",
		     err.msg);
}

static const struct ctm_action *action_at(const struct world *w, const char *path)
{
	for (size_t i = 0; i < w->plan->actions.n; i++) {
		const struct ctm_action *a = &w->plan->actions.v[i];

		if (a->path_len == strlen(path) && memcmp(a->path, path, a->path_len) == 0) {
			return a;
		}
	}
	return NULL;
}

static const struct ctm_finding *finding(const struct world *w, enum ctm_finding_code code)
{
	for (size_t i = 0; i < w->plan->findings.n; i++) {
		if (w->plan->findings.v[i].code == code) {
			return &w->plan->findings.v[i];
		}
	}
	return NULL;
}

Test(inspect, size_and_hash)
{
	WORLD w;
	const struct ctm_action *a;

	begin(&w, "100000");
	inspect(&w, 100000);
	a = action_at(&w, PARTIAL);
	cr_assert_not_null(a);
	cr_assert_eq(a->kind, CTM_ACT_REMOVE);
	cr_assert_eq(a->size, 6);
	cr_assert(memcmp(a->sha256, hello_sha256, 32) == 0);
	cr_assert_eq(action_at(&w, LOCK)->kind, CTM_ACT_REMOVE);
	cr_assert_not(w.plan->refuse_held);
	cr_assert_null(finding(&w, CTM_F_PKG_HELD));
}

/* What does not fit stays and gets the container's owner. */
Test(inspect, budget)
{
	WORLD w;
	const struct ctm_action *a;

	begin(&w, "100000");
	/* The file without content takes three blocks of headers and one for its name. */
	inspect(&w, 2100);
	a = action_at(&w, PARTIAL);
	cr_assert_not_null(a);
	cr_assert_eq(a->kind, CTM_ACT_SET);
	cr_assert_eq(a->after.uid.v, a->before.uid.v + 100000);
	cr_assert_not_null(finding(&w, CTM_F_PKG_LARGE));
	cr_assert_eq(action_at(&w, LOCK)->kind, CTM_ACT_REMOVE, "0 bytes fit");
}

/* A file without content can fill a disk, too. */
Test(inspect, attributes_count)
{
	static const char value[3000] = "";
	WORLD w;
	CLEANUP_CLOSE int fd = -1;

	begin(&w, "100000");
	fd = openat(w.dir.fd, LOCK, O_RDONLY);
	if (fsetxattr(fd, "user.test", value, sizeof(value), 0) < 0) {
		cr_skip_test("no attributes here");
	}
	inspect(&w, 6000);
	cr_assert_eq(action_at(&w, PARTIAL)->kind, CTM_ACT_REMOVE);
	cr_assert_eq(action_at(&w, LOCK)->kind, CTM_ACT_SET);
	cr_assert_not_null(finding(&w, CTM_F_PKG_LARGE));
}

/* What a lock never has: without this a container could make the host save it at each start. */
Test(inspect, attributes_of_a_lock)
{
	static const char value[3500] = "";
	WORLD w;
	CLEANUP_CLOSE int fd = -1;

	begin_with(&w, "100000", 6, CTM_RULES_LOCK_MAX);
	fd = openat(w.dir.fd, PACMAN, O_RDONLY);
	inspect(&w, 1000000);
	cr_assert_eq(action_at(&w, PACMAN)->kind, CTM_ACT_REMOVE, "as large as one may be");
	world_done(&w);
	begin_with(&w, "100000", 6, CTM_RULES_LOCK_MAX);
	ctm_closep(&fd);
	fd = openat(w.dir.fd, PACMAN, O_RDWR);
	cr_assert_eq(pwrite(fd, "x", 1, CTM_RULES_LOCK_MAX - 1), 1);
	if (fsetxattr(fd, "user.test", value, sizeof(value), 0) < 0) {
		cr_skip_test("no attributes here");
	}
	inspect(&w, 1000000);
	cr_assert_eq(action_at(&w, PACMAN)->kind, CTM_ACT_SET);
	cr_assert_not_null(finding(&w, CTM_F_PKG_LARGE));
	cr_assert_not_null(finding(&w, CTM_F_PKG_LOCK), "it is in the way all the same");
	cr_assert_eq(action_at(&w, LOCK)->kind, CTM_ACT_REMOVE);
}

/* Holes take no room, and no time; but nothing goes over a length without end. */
Test(inspect, holes)
{
	static const struct {
		off_t size;
		bool removed;
	} lengths[] = {
		{ (off_t)255 << 20, true },
		{ (off_t)4 << 30, true },
		{ ((off_t)4 << 30) + 1, false },
		{ (off_t)1 << 40, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct timespec from, to;
		WORLD w;

		begin_sparse(&w, lengths[i].size);
		cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &from), 0);
		inspect(&w, 100000);
		cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &to), 0);
		cr_assert_eq(action_at(&w, PARTIAL)->kind,
			     lengths[i].removed ? CTM_ACT_REMOVE : CTM_ACT_SET, "%zu", i);
		cr_assert_eq(finding(&w, CTM_F_PKG_LARGE) == NULL, lengths[i].removed, "%zu", i);
		cr_assert_lt(to.tv_sec - from.tv_sec, 2, "%zu", i);
	}
}

/* A process that holds a lock until it is told to go. */
static pid_t hold(const struct world *w, const char *path, bool fcntl_lock)
{
	int ready[2];
	pid_t pid;
	char c;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		const struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		int fd = openat(w->dir.fd, path, O_RDWR);
		int r = fcntl_lock ? fcntl(fd, F_SETLK, &all) : flock(fd, LOCK_EX | LOCK_NB);

		if (r == 0 && write(ready[1], "x", 1) == 1) {
			(void)pause();
		}
		_exit(1);
	}
	(void)close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 1, "the lock was not to be had");
	(void)close(ready[0]);
	return pid;
}

static const struct {
	const char *name;
	const char *map;
	const char *path;
	bool fcntl_lock;
} held[] = {
	{ "a database that is its own lock", "100000", DATABASE, true },
	{ "a database with a right owner", "0:0:65536", DATABASE, false },
	{ "a lock by being there, with a lock", "0:0:65536", PACMAN, false },
	{ "stale lock, fcntl", "100000", LOCK, true },
	{ "stale lock, flock", "100000", LOCK, false },
	{ "lock with a right owner, fcntl", "0:0:65536", LOCK, true },
	{ "lock with a right owner, flock", "0:0:65536", LOCK, false },
	{ "a leftover that is being written", "100000", PARTIAL, true },
};

CASES(inspect, held_lock_refuses, held)
{
	WORLD w;
	const struct ctm_finding *f;
	char want[32];
	pid_t pid;

	begin(&w, held[*i].map);
	pid = hold(&w, held[*i].path, held[*i].fcntl_lock);
	inspect(&w, 100000);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert(w.plan->refuse_held, "%s", held[*i].name);
	f = finding(&w, CTM_F_PKG_HELD);
	cr_assert_not_null(f, "%s", held[*i].name);
	cr_assert_eq(f->path_len, strlen(held[*i].path), "%s", held[*i].name);
	(void)snprintf(want, sizeof(want), "pid %d", pid);
	cr_assert_not_null(strstr(f->text, want), "%s: %s", held[*i].name, f->text);
	cr_assert_not_null(strstr(f->text, held[*i].fcntl_lock ? "fcntl" : "flock"), "%s: %s",
			   held[*i].name, f->text);
}

static const struct {
	const char *name;
	const char *map;
	const char *path;
	bool held;
} opened[] = {
	{ "a lock by being there, of the host", "100000", PACMAN, true },
	{ "a lock by being there, owner right", "0:0:65536", PACMAN, true },
	{ "a lock that must be locked", "100000", LOCK, false },
	{ "a leftover", "100000", PARTIAL, false },
	{ "a database", "0:0:65536", DATABASE, false },
};

/* pacman has its lock open as long as it works, and locks nothing in it. */
CASES(inspect, open_lock_refuses, opened)
{
	WORLD w;
	int ready[2];
	char want[40];
	char c;
	pid_t pid;

	begin(&w, opened[*i].map);
	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		int fd = openat(w.dir.fd, opened[*i].path, O_RDONLY);

		if (fd >= 0 && write(ready[1], "x", 1) == 1) {
			(void)pause();
		}
		_exit(1);
	}
	(void)close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	inspect(&w, 100000);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(w.plan->refuse_held, opened[*i].held, "%s", opened[*i].name);
	cr_assert_eq(finding(&w, CTM_F_PKG_HELD) != NULL, opened[*i].held, "%s", opened[*i].name);
	if (opened[*i].held) {
		(void)snprintf(want, sizeof(want), "(pid %d, open)", pid);
		cr_assert_not_null(strstr(finding(&w, CTM_F_PKG_HELD)->text, want), "%s: %s",
				   opened[*i].name, finding(&w, CTM_F_PKG_HELD)->text);
	}
}

static void replace(struct world *w)
{
	write_file(w->dir.fd, "new", "hello\n");
	cr_assert_eq(renameat(w->dir.fd, "new", w->dir.fd, PARTIAL), 0);
}
static void vanish(struct world *w)
{
	cr_assert_eq(unlinkat(w->dir.fd, PARTIAL, 0), 0);
}
static void grow(struct world *w)
{
	write_file(w->dir.fd, PARTIAL, "hello, hello\n");
}
static void link_it(struct world *w)
{
	cr_assert_eq(linkat(w->dir.fd, PARTIAL, w->dir.fd, "second", 0), 0);
}
static void change_mode(struct world *w)
{
	cr_assert_eq(fchmodat(w->dir.fd, PARTIAL, 0600, 0), 0);
}
static void to_link(struct world *w)
{
	vanish(w);
	cr_assert_eq(symlinkat("/etc/shadow", w->dir.fd, PARTIAL), 0);
}
static void to_fifo(struct world *w)
{
	vanish(w);
	cr_assert_eq(mkfifoat(w->dir.fd, PARTIAL, 0640), 0);
}
static void parent_to_link(struct world *w)
{
	cr_assert_eq(renameat(w->dir.fd, "var/cache", w->dir.fd, "elsewhere"), 0);
	cr_assert_eq(symlinkat("../elsewhere", w->dir.fd, "var/cache"), 0);
}

static const struct {
	const char *name;
	void (*change)(struct world *w);
} changes[] = {
	{ "replaced", replace },
	{ "gone", vanish },
	{ "grew", grow },
	{ "has a second name", link_it },
	{ "another mode", change_mode },
	{ "a link now", to_link },
	{ "a FIFO now", to_fifo },
	{ "behind a link now", parent_to_link },
};

/* Not the file that was judged: it is not removed, and that is said. */
CASES(inspect, changed_since_the_scan, changes)
{
	WORLD w;
	const struct ctm_action *a;

	begin(&w, "100000");
	changes[*i].change(&w);
	inspect(&w, 100000);
	a = action_at(&w, PARTIAL);
	cr_assert(!a || a->kind == CTM_ACT_SET, "%s", changes[*i].name);
	cr_assert_not_null(finding(&w, CTM_F_ERR), "%s", changes[*i].name);
	cr_assert_neq(finding(&w, CTM_F_ERR)->err, 0, "%s", changes[*i].name);
	cr_assert_eq(action_at(&w, LOCK)->kind, CTM_ACT_REMOVE, "%s", changes[*i].name);
}

/* --- a host with more open files than there is time for --------------------------------------- */

/* A child that has very many files open, which takes longer than a millisecond to look through. */
static pid_t open_many(void)
{
	int ready[2];
	char byte;
	pid_t child;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		for (int i = 0; i < 900; i++) {
			if (dup(ready[0]) < 0) {
				_exit(1);
			}
		}
		(void)!write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	(void)close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return child;
}

static void end_many(pid_t child)
{
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(inspect, an_opener_that_was_not_found_out)
{
	WORLD w;
	const pid_t child = open_many();
	const struct ctm_finding *kept = NULL;

	begin(&w, "100000");
	w.plan->policy.openers_ms = 1;
	inspect(&w, 1000000);
	end_many(child);
	for (size_t i = 0; i < w.plan->findings.n; i++) {
		const struct ctm_finding *f = &w.plan->findings.v[i];

		if (f->code == CTM_F_ERR) {
			cr_assert_null(kept, "once");
			kept = f;
		}
	}
	cr_assert_not_null(kept);
	cr_assert_eq(kept->path_len, strlen(PACMAN));
	cr_assert_eq(memcmp(kept->path, PACMAN, strlen(PACMAN)), 0);
	cr_assert_not_null(strstr(kept->text, "not found out in time"), "%s", kept->text);
	cr_assert_eq(kept->err, 0, "nothing has failed");
	for (size_t i = 0; i < w.plan->actions.n; i++) {
		const struct ctm_action *a = &w.plan->actions.v[i];

		cr_assert(a->kind != CTM_ACT_REMOVE || a->path_len != strlen(PACMAN) ||
			  memcmp(a->path, PACMAN, strlen(PACMAN)) != 0);
	}
}

/* It stays, because it is too large for a lock: whether it is one in use has to be known. */
Test(inspect, an_opener_of_what_stays)
{
	WORLD w;
	const pid_t child = open_many();
	struct ctm_err err = { 0 };

	begin_with(&w, "100000", 6, CTM_RULES_LOCK_MAX + 1);
	w.plan->policy.openers_ms = 1;
	cr_expect_lt(ctm_inspect(&ctm_effects_ops, &w.fx, w.plan, 1000000, &err), 0);
	cr_expect_eq(err.code, CTM_REFUSED);
	cr_expect_not_null(strstr(err.msg, "not found out in time"), "%s", err.msg);
	w.plan->policy.openers_ms = 0;
	inspect(&w, 1000000);
	end_many(child);
}
