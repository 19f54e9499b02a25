/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the room that saved files may take. */
#include "run/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

static const struct {
	const char *name;
	const char *make; /* below the sysroot */
} rows[] = {
	{ "nothing is there", NULL },
	{ "a part of the way is there", "var" },
};

/* Free space moves while the test runs, so a tenth of it is known but roughly. */
CASES(budget, of_the_file_system, rows)
{
	SCRATCH(dir);
	const struct ctm_host host = { .sysroot = dir.path };
	const uint64_t most = (uint64_t)256 << 20;
	struct statvfs st;
	struct stat none;
	uint64_t budget = 0;
	uint64_t tenth;

	cr_assert(!rows[*i].make || mkdirat(dir.fd, rows[*i].make, 0755) == 0);
	cr_assert_eq(ctm_budget(&host, NULL, &budget, NULL), 0, "%s", rows[*i].name);
	cr_assert_eq(statvfs(dir.path, &st), 0);
	tenth = (uint64_t)st.f_bavail * st.f_frsize / 10;
	if (tenth > 2 * most) {
		cr_assert_eq(budget, most, "%s: %ju", rows[*i].name, (uintmax_t)budget);
	} else {
		cr_assert_leq(budget, most, "%s", rows[*i].name);
		cr_assert_geq(budget, tenth / 2 < most ? tenth / 2 : most, "%s", rows[*i].name);
	}
	cr_assert_eq(fstatat(dir.fd, "var/lib", &none, 0), -1, "%s: asking makes nothing",
		     rows[*i].name);
}

#define MiB (UINT64_C(1) << 20)
#define GiB (UINT64_C(1) << 30)

static const struct {
	const char *name;
	uint64_t free;
	uint64_t saved;
	uint64_t want;
} sums[] = {
	{ "plenty", 1000 * GiB, 0, 256 * MiB },
	{ "a tenth of little", 1000 * MiB, 0, 100 * MiB },
	{ "nothing", 0, 0, 0 },
	{ "much is saved already", 1000 * GiB, 700 * MiB, 256 * MiB },
	{ "the last of it", 1000 * GiB, 1000 * MiB, 24 * MiB },
	{ "all of it", 1000 * GiB, GiB, 0 },
	{ "more than all, of an earlier version", 1000 * GiB, 5 * GiB, 0 },
	/* a tenth of what would be free: 1200 MiB */
	{ "a tenth of all records", 1000 * MiB, 200 * MiB, 0 },
	{ "a tenth of all records, the last of it", 1000 * MiB, 100 * MiB, 10 * MiB },
};

CASES(budget, of_a_target, sums)
{
	cr_assert_eq(ctm_budget_of(sums[*i].free, sums[*i].saved), sums[*i].want, "%s: %ju",
		     sums[*i].name, (uintmax_t)ctm_budget_of(sums[*i].free, sums[*i].saved));
}

static void write_blocks(int dir, const char *path, size_t n)
{
	static const char block[65536] = "x";
	CLEANUP_CLOSE int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert_geq(fd, 0, "%s", path);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(write(fd, block, sizeof(block)), (ssize_t)sizeof(block));
	}
	cr_assert_eq(fsync(fd), 0); /* its blocks are known from then on */
}

/* All that stat(1) says of the saved files: each once, those set aside too, no journal. */
Test(budget, saved)
{
	SCRATCH(dir);
	const struct ctm_host host = { .sysroot = dir.path };
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	CLEANUP_CLOSE int at = -1;
	struct stat a, b;

	cr_assert_eq(ctm_state_open(&host, "115", 0, &state, NULL), 0);
	cr_assert_eq(ctm_budget_saved(state), 0);
	at = openat(dir.fd, "var/lib/ctmend/115", O_RDONLY | O_DIRECTORY);
	cr_assert_eq(mkdirat(at, "0001-20250131T235959Z", 0700), 0);
	cr_assert_eq(mkdirat(at, "0002-20250131T235959Z", 0700), 0);
	cr_assert_eq(mkdirat(at, "set-aside", 0700), 0);
	cr_assert_eq(mkdirat(at, "set-aside/0003-20250131T235959Z", 0700), 0);
	write_blocks(at, "0001-20250131T235959Z/removed.tar", 5);
	write_blocks(at, "0001-20250131T235959Z/journal", 50);
	cr_assert_eq(linkat(at, "0001-20250131T235959Z/removed.tar", at,
			    "0002-20250131T235959Z/restore.tar", 0),
		     0);
	write_blocks(at, "set-aside/0003-20250131T235959Z/removed.tar", 3);
	cr_assert_eq(fstatat(at, "0001-20250131T235959Z/removed.tar", &a, 0), 0);
	cr_assert_eq(fstatat(at, "set-aside/0003-20250131T235959Z/removed.tar", &b, 0), 0);
	cr_assert_geq(a.st_blocks, 5 * 128);
	cr_assert_eq(ctm_budget_saved(state), (uint64_t)(a.st_blocks + b.st_blocks) * 512);
}
