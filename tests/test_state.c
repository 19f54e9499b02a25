/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the state directory: names, owners, the lock, runs that are whole or are not there. */
#include "run/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

#define STATE CLEANUP(ctm_state_freep) struct ctm_state
#define NAMES CLEANUP(ctm_run_names_done) struct ctm_run_names

static const struct {
	const char *name;
	enum ctm_target_kind kind;
	const char *target;
	const char *want;
} targets[] = {
	{ "PVE", CTM_TARGET_PVE, "115", "115" },
	{ "plain", CTM_TARGET_LXC, "web-1.example_org", "web-1.example_org" },
	{ "plain, a number", CTM_TARGET_LXC, "115", "%3115" },
	{ "dot in front", CTM_TARGET_LXC, ".new-1", "%2Enew-1" },
	{ "dots", CTM_TARGET_LXC, "..", "%2E." },
	{ "other bytes", CTM_TARGET_LXC, "a b%\xc3\xa4", "a%20b%25%C3%A4" },
	{ "path that is not there", CTM_TARGET_PATH, "/nowhere/ct", "%2Fnowhere%2Fct" },
	{ "path through dots", CTM_TARGET_PATH, "/../proc/./sys/", "%2Fproc%2Fsys" },
};

CASES(state, name, targets)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };

	cr_assert_eq(ctm_state_name(targets[*i].kind, targets[*i].target, &name), 0);
	cr_assert_str_eq(name.p, targets[*i].want, "%s: %s", targets[*i].name, name.p);
}

/*
 * Two long paths that differ at the end alone get names that differ, and that a directory can have.
 */
Test(state, long_names)
{
	CLEANUP(ctm_buf_done) struct ctm_buf a = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf b = { 0 };
	char path[3000];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	cr_assert_eq(ctm_state_name(CTM_TARGET_PATH, path, &a), 0);
	path[sizeof(path) - 2] = 'y';
	cr_assert_eq(ctm_state_name(CTM_TARGET_PATH, path, &b), 0);
	cr_assert_leq(a.len, 255);
	cr_assert_str_neq(a.p, b.p);
	cr_assert_eq(strncmp(a.p, "%2Fxxx", 6), 0);
}

Test(state, two_names_of_one_path)
{
	SCRATCH(dir);
	CLEANUP(ctm_buf_done) struct ctm_buf a = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf b = { 0 };
	char link[300];

	(void)snprintf(link, sizeof(link), "%s/link", dir.path);
	cr_assert_eq(symlink(".", link), 0);
	cr_assert_eq(ctm_state_name(CTM_TARGET_PATH, dir.path, &a), 0);
	cr_assert_eq(ctm_state_name(CTM_TARGET_PATH, link, &b), 0);
	cr_assert_str_eq(a.p, b.p);
}

static struct ctm_state *open_state(const struct scratch *dir, const char *name)
{
	const struct ctm_host host = { .sysroot = dir->path };
	struct ctm_state *state = NULL;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_state_open(&host, name, 0, &state, &err), 0, "%s", err.msg);
	return state;
}

static void make_file(int dir, const char *name)
{
	CLEANUP_CLOSE int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert_geq(fd, 0);
}

/* A run from beginning to commit; its name. */
static void make_run(struct ctm_state *state, char run[static CTM_RUN_NAME_MAX])
{
	CLEANUP_CLOSE int dir = -1;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_state_begin(state, run, &dir, &err), 0, "%s", err.msg);
	make_file(dir, "journal");
	cr_assert_eq(ctm_state_commit(state, run, dir, &err), 0, "%s", err.msg);
}

Test(state, makes_its_directories)
{
	SCRATCH(dir);
	STATE *state = open_state(&dir, "115");
	struct stat st;

	cr_assert_not_null(state);
	cr_assert_eq(fstatat(dir.fd, "var/lib/ctmend", &st, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(st.st_mode, S_IFDIR | 0700);
	cr_assert_eq(fstatat(dir.fd, "var/lib/ctmend/115", &st, AT_SYMLINK_NOFOLLOW), 0);
	cr_assert_eq(st.st_mode, S_IFDIR | 0700);
}

Test(state, reading_makes_nothing)
{
	SCRATCH(dir);
	const struct ctm_host host = { .sysroot = dir.path };
	STATE *state = NULL;
	struct ctm_err err = { 0 };
	struct stat st;

	cr_assert_eq(ctm_state_open_read(&host, "115", &state, &err), -ENOENT);
	cr_assert_eq(err.code, CTM_OK);
	cr_assert_eq(fstatat(dir.fd, "var", &st, 0), -1);
}

Test(state, runs_in_their_order)
{
	SCRATCH(dir);
	const struct ctm_host host = { .sysroot = dir.path };
	STATE *state = open_state(&dir, "115");
	STATE *reading = NULL;
	NAMES all = { 0 };
	char first[CTM_RUN_NAME_MAX];
	char second[CTM_RUN_NAME_MAX];
	char found[CTM_RUN_NAME_MAX];
	struct ctm_err err = { 0 };

	make_run(state, first);
	make_run(state, second);
	cr_assert_eq(strncmp(first, "0001-20", 7), 0, "%s", first);
	cr_assert_eq(strncmp(second, "0002-20", 7), 0, "%s", second);
	/* A clock that was in the future, and a number that outgrew its four digits. */
	cr_assert_eq(mkdirat(dir.fd, "var/lib/ctmend/115/0003-29990101T000000Z", 0700), 0);
	cr_assert_eq(mkdirat(dir.fd, "var/lib/ctmend/115/12345-20000101T000000Z", 0700), 0);
	cr_assert_eq(mkdirat(dir.fd, "var/lib/ctmend/115/.new-0009-20000101T000000Z", 0700), 0);
	cr_assert_eq(mkdirat(dir.fd, "var/lib/ctmend/115/lost+found", 0700), 0);

	cr_assert_eq(ctm_state_open_read(&host, "115", &reading, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_state_runs(reading, &all, &err), 0);
	cr_assert_eq(all.names.n, 4);
	cr_assert_str_eq(all.names.v[0], first);
	cr_assert_str_eq(all.names.v[1], second);
	cr_assert_str_eq(all.names.v[2], "0003-29990101T000000Z");
	cr_assert_str_eq(all.names.v[3], "12345-20000101T000000Z");

	cr_assert_eq(ctm_state_find(reading, "2", found, &err), 0);
	cr_assert_str_eq(found, second);
	cr_assert_eq(ctm_state_find(reading, "0001", found, &err), 0);
	cr_assert_str_eq(found, first);
	cr_assert_eq(ctm_state_find(reading, first, found, &err), 0);
	cr_assert_str_eq(found, first);
	cr_assert_eq(ctm_state_find(reading, "9", found, &err), -ENOENT);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_eq(ctm_state_find(reading, "../115", found, &err), -ENOENT);

	make_run(state, first);
	cr_assert_eq(strncmp(first, "12346-", 6), 0, "%s", first);
}

Test(state, an_uncommitted_run_is_none)
{
	SCRATCH(dir);
	STATE *state = open_state(&dir, "115");
	NAMES all = { 0 };
	CLEANUP_CLOSE int run_dir = -1;
	char run[CTM_RUN_NAME_MAX];
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_state_begin(state, run, &run_dir, &err), 0);
	make_file(run_dir, "journal");
	cr_assert_eq(ctm_state_runs(state, &all, &err), 0);
	cr_assert_eq(all.names.n, 0);
	ctm_state_abandon(state, run);
	cr_assert_eq(ctm_state_run_open(state, run, &run_dir, &err), -ENOENT);

	/* Killed in the middle: the next one to write sweeps it away. */
	cr_assert_eq(ctm_state_begin(state, run, &run_dir, &err), 0);
	make_file(run_dir, "journal");
	ctm_state_free(state);
	state = NULL;
	state = open_state(&dir, "115");
	cr_assert_eq(faccessat(dir.fd, "var/lib/ctmend/115", F_OK, 0), 0);
	cr_assert_eq(unlinkat(dir.fd, "var/lib/ctmend/115", AT_REMOVEDIR), 0, "it is empty");
}

Test(state, a_run_is_forgotten)
{
	SCRATCH(dir);
	STATE *state = open_state(&dir, "115");
	NAMES all = { 0 };
	char first[CTM_RUN_NAME_MAX];
	char second[CTM_RUN_NAME_MAX];
	char path[100];
	struct ctm_err err = { 0 };

	make_run(state, first);
	make_run(state, second);
	cr_assert_eq(ctm_state_forget(state, first, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_state_forget(state, first, &err), -ENOENT);
	cr_assert_eq(ctm_state_runs(state, &all, &err), 0);
	cr_assert_eq(all.names.n, 1);
	cr_assert_str_eq(all.names.v[0], second);

	/* Killed behind the rename: the run is gone, and the next one to write removes the rest. */
	(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/%s", second);
	cr_assert_eq(renameat(dir.fd, path, dir.fd, "var/lib/ctmend/115/.old-x"), 0);
	cr_assert_eq(ctm_state_runs(state, &all, &err), 0);
	cr_assert_eq(all.names.n, 0);
	ctm_state_free(state);
	state = NULL;
	state = open_state(&dir, "115");
	cr_assert_eq(unlinkat(dir.fd, "var/lib/ctmend/115", AT_REMOVEDIR), 0, "it is empty");
}

/* Nothing of it is lost, and its number is not given out again. */
Test(state, a_run_is_set_aside)
{
	SCRATCH(dir);
	STATE *state = open_state(&dir, "115");
	NAMES all = { 0 };
	NAMES aside = { 0 };
	char first[CTM_RUN_NAME_MAX];
	char second[CTM_RUN_NAME_MAX];
	char path[120];
	struct stat was, now;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_state_aside(state, &aside, &err), 0, "%s", err.msg);
	cr_assert_eq(aside.names.n, 0);
	make_run(state, first);
	make_run(state, second);
	(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/%s/journal", second);
	cr_assert_eq(fstatat(dir.fd, path, &was, 0), 0);
	for (int i = 1; i < 4; i++) {
		CLEANUP(ctm_buf_done) struct ctm_buf to = { 0 };
		char want[400];

		(void)snprintf(want, sizeof(want), "%s/var/lib/ctmend/115/set-aside/%s%s", dir.path,
			       second,
			       i == 1 ? "" :
			       i == 2 ? ".2" :
					".3");
		cr_assert_eq(ctm_state_set_aside(state, second, &to, &err), 0, "%s", err.msg);
		cr_assert_str_eq(to.p, want);
		/* one of the same name, made by hand */
		(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/%s", second);
		cr_assert_eq(mkdirat(dir.fd, path, 0700), 0);
	}
	(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/set-aside/%s/journal", second);
	cr_assert_eq(fstatat(dir.fd, path, &now, 0), 0);
	cr_assert_eq(now.st_ino, was.st_ino);
	cr_assert_eq(fstatat(dir.fd, "var/lib/ctmend/115/set-aside", &now, 0), 0);
	cr_assert_eq(now.st_mode, S_IFDIR | 0700);
	(void)snprintf(path, sizeof(path), "var/lib/ctmend/115/%s", second);
	cr_assert_eq(unlinkat(dir.fd, path, AT_REMOVEDIR), 0);

	cr_assert_eq(ctm_state_runs(state, &all, &err), 0);
	cr_assert_eq(all.names.n, 1);
	cr_assert_str_eq(all.names.v[0], first);
	cr_assert_eq(ctm_state_aside(state, &aside, &err), 0);
	cr_assert_eq(aside.names.n, 3);
	cr_assert_str_eq(aside.names.v[0], second);
	make_run(state, first);
	cr_assert_eq(strncmp(first, "0003-", 5), 0, "%s", first);
	cr_assert_eq(ctm_state_set_aside(state, "0009-20250131T235959Z", &(struct ctm_buf){ 0 },
					 &err),
		     -ENOENT);
}

Test(state, all_targets)
{
	SCRATCH(dir);
	const struct ctm_host host = { .sysroot = dir.path };
	STATE *state = NULL;
	NAMES all = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_state_targets(&host, &all, &err), 0, "%s", err.msg);
	cr_assert_eq(all.names.n, 0);
	cr_assert_eq(ctm_state_open_kept(&host, "115", 0, &state, &err), -ENOENT);
	ctm_state_free(open_state(&dir, "web"));
	ctm_state_free(open_state(&dir, "115"));
	cr_assert_eq(mkdirat(dir.fd, "var/lib/ctmend/.hidden", 0700), 0);
	cr_assert_eq(ctm_state_targets(&host, &all, &err), 0, "%s", err.msg);
	cr_assert_eq(all.names.n, 2);
	cr_assert_str_eq(all.names.v[0], "115");
	cr_assert_str_eq(all.names.v[1], "web");
	cr_assert_eq(ctm_state_open_kept(&host, "115", 0, &state, &err), 0, "%s", err.msg);
}

/* Times from date -u -d ... +%s. */
static const struct {
	const char *run;
	int64_t want;
} times[] = {
	{ "0001-20250131T235959Z", 1738367999 },
	{ "123456789-19700101T000001Z", 1 },
	{ "0001-20240229T120000Z", 1709208000 },
	{ "0001-20250131T235959", -EINVAL },
	{ "0001-20250131T235959Zx", -EINVAL },
	{ "001-20250131T235959Z", -EINVAL },
	{ "0001-2025", -EINVAL },
	{ "", -EINVAL },
};

CASES(state, time_of_a_run, times)
{
	cr_assert_eq(ctm_run_time(times[*i].run), times[*i].want, "%s", times[*i].run);
}

/* Whether another process gets the lock of the target. */
static int try_elsewhere(const struct scratch *dir, const char *name)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		const struct ctm_host host = { .sysroot = dir->path };
		struct ctm_state *state = NULL;
		struct ctm_err err = { 0 };
		int r = ctm_state_open(&host, name, 0, &state, &err);

		_exit(r == 0 ? 0 : err.code == CTM_REFUSED ? 3 : 5);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

Test(state, one_writer_a_target)
{
	SCRATCH(dir);
	struct ctm_state *state = open_state(&dir, "115");

	cr_assert_eq(try_elsewhere(&dir, "115"), 3);
	cr_assert_eq(try_elsewhere(&dir, "116"), 0);
	ctm_state_free(state);
	cr_assert_eq(try_elsewhere(&dir, "115"), 0);
}

static const struct {
	const char *name;
	const char *path;
	mode_t mode;
	uid_t uid;
	const char *link;
	bool refused;
} places[] = {
	{ "as it should be", "var/lib/ctmend", 0700, 0, NULL, false },
	{ "others may look", "var/lib/ctmend", 0755, 0, NULL, false },
	{ "the group may write", "var/lib/ctmend", 0770, 0, NULL, true },
	{ "all may write", "var/lib/ctmend", 0703, 0, NULL, true },
	{ "another's", "var/lib/ctmend", 0700, 1, NULL, true },
	{ "a link", "var/lib/ctmend", 0, 0, "/tmp", true },
	{ "target: all may write", "var/lib/ctmend/115", 0702, 0, NULL, true },
	{ "target: a link", "var/lib/ctmend/115", 0, 0, "..", true },
};

CASES(state, owner_and_mode, places)
{
	SCRATCH(dir);
	const struct ctm_host host = { .sysroot = dir.path };
	STATE *state = NULL;
	struct ctm_err err = { 0 };
	int r;

	if (places[*i].uid != 0 && geteuid() != 0) {
		cr_skip_test("needs root");
	}
	ctm_state_free(open_state(&dir, "115"));
	if (places[*i].link) {
		cr_assert_eq(unlinkat(dir.fd, "var/lib/ctmend/115", AT_REMOVEDIR), 0);
		(void)unlinkat(dir.fd, places[*i].path, AT_REMOVEDIR);
		cr_assert_eq(symlinkat(places[*i].link, dir.fd, places[*i].path), 0);
	} else {
		cr_assert_eq(fchmodat(dir.fd, places[*i].path, places[*i].mode, 0), 0);
	}
	if (places[*i].uid != 0) {
		cr_assert_eq(fchownat(dir.fd, places[*i].path, places[*i].uid, 0, 0), 0);
	}
	r = ctm_state_open(&host, "115", 0, &state, &err);
	cr_assert_eq(r, places[*i].refused ? -EPERM : 0, "%s: %d %s", places[*i].name, r, err.msg);
	cr_assert_eq(err.code, places[*i].refused ? CTM_REFUSED : CTM_OK, "%s", places[*i].name);
}
