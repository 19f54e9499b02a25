/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory beyond a limit: where it lies, what stays in it, and what a full disk says. */
#include "base/spill.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cases.h"
#include "prng.h"
#include "scratch.h"

#define MIB ((size_t)1 << 20)

/* Whether this address belongs to a mapping of a deleted file, in the kernel's words. */
static bool is_filed(const void *p)
{
	CLEANUP_FCLOSE FILE *f = fopen("/proc/self/maps", "re");
	unsigned long at = (unsigned long)p;
	char line[600];

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= at && at < to) {
			return strstr(line, "rw-s") && strstr(line, "(deleted)");
		}
	}
	return false;
}

static size_t names_in(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	cr_assert_not_null(dir);
	for (struct dirent *de; (de = readdir(dir));) {
		n += de->d_name[0] != '.' || strlen(de->d_name) > 2;
	}
	(void)closedir(dir);
	return n;
}

Test(spill, up_to_the_limit_is_the_heap)
{
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	unsigned char *a, *b;

	cr_assert_eq(ctm_spill_new(dir.path, MIB, &spill), 0);
	a = ctm_spill_alloc(spill, MIB - 10);
	cr_assert_not_null(a);
	cr_expect(!is_filed(a));
	cr_expect(ctm_spill_fits(spill, 10) && !ctm_spill_fits(spill, 11));
	b = ctm_spill_zeros(spill, 11, 1);
	cr_assert_not_null(b);
	cr_expect(is_filed(b));
	cr_expect_eq(names_in(dir.path), 0, "a file with a name");
	for (size_t i = 0; i < 11; i++) {
		cr_expect_eq(b[i], 0);
	}
	ctm_spill_drop(spill, b, 11);
	cr_expect_eq(ctm_spill_filed(spill), 0);
	ctm_spill_drop(spill, a, MIB - 10);
	cr_expect(ctm_spill_fits(spill, MIB));
}

/* What grows keeps its content, on the way into a file and in it. */
Test(spill, arrays_grow)
{
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	CTM_VEC(uint64_t) vec = { 0 };
	uint64_t n = 10 * MIB;

	cr_assert_eq(ctm_spill_new(dir.path, MIB, &spill), 0);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t one = i * i;

		cr_assert_eq(ctm_spill_push(spill, &vec, &one), 0, "%lu", (unsigned long)i);
		ctm_spill_pass(spill);
	}
	cr_expect(is_filed(vec.v));
	for (uint64_t i = 0; i < n; i++) {
		cr_assert_eq(vec.v[i], i * i, "%lu", (unsigned long)i);
		ctm_spill_pass(spill);
	}
	cr_expect_geq(ctm_spill_filed(spill), n * sizeof(*vec.v));
	cr_expect_leq(ctm_spill_filed(spill), n * sizeof(*vec.v) + 33 * MIB);
	ctm_spill_vec_done(spill, &vec);
	cr_expect_eq(ctm_spill_filed(spill), 0);
	cr_expect(ctm_spill_fits(spill, MIB));
}

/* Pieces that come and go and grow, beside a copy on the heap of each. */
Test(spill, what_is_written_stays)
{
	enum { SLOTS = 20 };
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	unsigned char *got[SLOTS] = { 0 };
	unsigned char *want[SLOTS] = { 0 };
	size_t len[SLOTS] = { 0 };
	uint64_t state = PRNG_SEED;

	cr_assert_eq(ctm_spill_new(dir.path, 100000, &spill), 0);
	for (int round = 0; round < 2000; round++) {
		size_t s = prng_below(&state, SLOTS);
		size_t to = prng_below(&state, 40000);

		if (got[s] && prng_below(&state, 3) == 0) {
			ctm_spill_drop(spill, got[s], len[s]);
			free(want[s]);
			got[s] = want[s] = NULL;
			len[s] = 0;
			continue;
		}
		if (!got[s]) {
			got[s] = prng_below(&state, 2) ? ctm_spill_alloc(spill, to) :
							 ctm_spill_grow(spill, NULL, 0, to);
			want[s] = malloc(to + 1);
		} else {
			to += len[s];
			got[s] = ctm_spill_grow(spill, got[s], len[s], to);
			want[s] = realloc(want[s], to + 1);
		}
		cr_assert(got[s] && want[s]);
		for (size_t i = len[s]; i < to; i++) {
			want[s][i] = got[s][i] = (unsigned char)prng_below(&state, 256);
		}
		len[s] = to;
		for (size_t i = 0; i < SLOTS; i++) {
			cr_assert(len[i] == 0 || memcmp(got[i], want[i], len[i]) == 0,
				  "round %d, slot %zu", round, i);
		}
	}
	for (size_t s = 0; s < SLOTS; s++) {
		ctm_spill_drop(spill, got[s], len[s]);
		free(want[s]);
	}
	cr_expect_eq(ctm_spill_filed(spill), 0);
	cr_expect(ctm_spill_fits(spill, 100000));
}

Test(spill, arenas_lie_in_it)
{
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	struct ctm_arena arena = { 0 };
	const char *first, *last = NULL;
	char text[64];

	cr_assert_eq(ctm_spill_new(dir.path, MIB, &spill), 0);
	arena.spill = spill;
	first = ctm_arena_dup(&arena, "first", 5);
	for (int i = 0; i < 100000; i++) {
		int n = snprintf(text, sizeof(text), "this is number %d", i);

		last = ctm_arena_dup(&arena, text, (size_t)n);
		cr_assert_not_null(last);
	}
	cr_expect(is_filed(last) && !is_filed(first));
	cr_expect_str_eq(first, "first");
	cr_expect_str_eq(last, "this is number 99999");
	ctm_arena_done(&arena);
	cr_expect_eq(ctm_spill_filed(spill), 0);
	cr_expect(ctm_spill_fits(spill, MIB));
}

Test(spill, without_a_directory_the_limit_is_the_end)
{
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	void *p;

	cr_assert_eq(ctm_spill_new(NULL, 1000, &spill), 0);
	cr_expect_null(ctm_spill_alloc(spill, 1001));
	cr_expect_eq(ctm_spill_error(spill), -EFBIG);
	p = ctm_spill_grow(spill, NULL, 0, 900);
	cr_assert_not_null(p);
	cr_expect_null(ctm_spill_grow(spill, p, 900, 1001));
	ctm_spill_drop(spill, p, 900);
}

Test(spill, none_is_the_heap)
{
	CTM_VEC(int) vec = { 0 };
	int *p = ctm_spill_zeros(NULL, 100, MIB);

	cr_assert_not_null(p);
	cr_expect(!is_filed(p) && p[MIB] == 0);
	ctm_spill_drop(NULL, p, 100 * MIB);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(ctm_spill_push(NULL, &vec, &i), 0);
	}
	cr_expect_eq(vec.v[999], 999);
	ctm_spill_pass(NULL);
	ctm_spill_vec_done(NULL, &vec);
	cr_expect_eq(ctm_spill_error(NULL), 0);
}

Test(spill, a_missing_directory_is_said)
{
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;

	cr_assert_eq(ctm_spill_new("/nowhere/at/all", 0, &spill), 0);
	cr_expect_null(ctm_spill_alloc(spill, 1));
	cr_expect_eq(ctm_spill_error(spill), -ENOENT);
}

/* On a small file system of its own; only root can have one. */
Test(spill, half_of_the_disk_is_left)
{
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	CTM_VEC(uint64_t) vec = { 0 };
	uint64_t i = 0;
	int r = 0;

	if (geteuid() != 0) {
		cr_skip("needs root");
	}
	/* gone with this process, whatever becomes of the test */
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", dir.path, "tmpfs", 0, "size=80m"), 0, "%s", strerror(errno));
	cr_assert_eq(ctm_spill_new(dir.path, MIB, &spill), 0);
	while (r == 0) {
		r = ctm_spill_push(spill, &vec, &i);
		i += r == 0;
	}
	cr_expect_eq(r, -ENOMEM);
	cr_expect_eq(ctm_spill_error(spill), -ENOSPC);
	cr_expect_geq(i * sizeof(i), MIB);
	/* half of it, and no page of that half is missing */
	cr_expect_leq(ctm_spill_filed(spill), 40 * MIB);
	for (uint64_t k = 0; k < i; k++) {
		cr_assert_eq(vec.v[k], k);
	}
	ctm_spill_vec_done(spill, &vec);
	ctm_spill_free(spill);
	spill = NULL;
	cr_expect_eq(umount(dir.path), 0, "%s", strerror(errno));
}

/* A child may write what it can of its parent's memory: it has nothing of this. */
Test(spill, children_do_not_have_it)
{
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	volatile unsigned char *p;
	volatile unsigned char *grown;
	int status;
	pid_t pid;

	cr_assert_eq(ctm_spill_new(dir.path, 0, &spill), 0);
	p = ctm_spill_alloc(spill, 100);
	grown = ctm_spill_grow(spill, NULL, 0, 100);
	cr_assert(p && grown);
	grown = ctm_spill_grow(spill, (void *)(uintptr_t)grown, 100, 10 * MIB);
	cr_assert_not_null((void *)(uintptr_t)grown);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		/* mincore() fails with ENOMEM where nothing is mapped */
		unsigned char in;
		const volatile unsigned char *const all[] = { p, grown };
		int mapped = 0;

		for (size_t i = 0; i < ARRAY_LEN(all); i++) {
			mapped += mincore((void *)(uintptr_t)all[i], 1, &in) == 0;
		}
		_exit(mapped);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

static size_t status_kib(const char *name)
{
	CLEANUP_FCLOSE FILE *f = fopen("/proc/self/status", "re");
	size_t len = strlen(name);
	char line[200];

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, len) == 0) {
			return strtoul(line + len, NULL, 10);
		}
	}
	cr_assert_fail("no %s", name);
	return 0;
}

/* The resident set, of files too, does not grow with what was written. */
Test(spill, a_pass_leaves_the_resident_set)
{
	SCRATCH(dir);
	CLEANUP(ctm_spill_freep) struct ctm_spill *spill = NULL;
	CTM_VEC(struct { char bytes[512]; }) vec = { 0 };
	__typeof__(*vec.v) one = { 0 };
	size_t before = status_kib("VmRSS:");
	size_t most = 0;

	cr_assert_eq(ctm_spill_new(dir.path, MIB, &spill), 0);
	for (size_t i = 0; i < 400000; i++) {
		one.bytes[100] = (char)i;
		cr_assert_eq(ctm_spill_push(spill, &vec, &one), 0);
		ctm_spill_pass(spill);
		if (i % 10000 == 0) {
			size_t now = status_kib("VmRSS:");

			most = now > most ? now : most;
		}
	}
	cr_expect_lt(most - before, (size_t)64 << 10, "%zu KiB of %zu MiB", most - before,
		     400000 * sizeof(one) >> 20);
	cr_expect_eq(vec.v[77777].bytes[100], (char)77777);
	ctm_spill_vec_done(spill, &vec);
}
