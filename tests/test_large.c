/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A whole tree that is wrong, from facts to a repair, its record, an undo and all reports, in a
 * process whose memory the kernel limits to less than the plan takes (RLIMIT_DATA counts what is
 * private and writable).
 *
 * LARGE_N: inodes, 300000 without it; tests/long/large.sh runs it with ten million. LARGE_DIR:
 * where files and records go, for such numbers.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "cases.h"
#include "facts.h"
#include "report.h"
#include "report/json.h"
#include "run/repair.h"
#include "run/undo.h"
#include "scratch.h"

#define MIB       ((size_t)1 << 20)
#define LARGE     300000
#define BASE      100000
#define DIR_FILES 100
/* beside the plan's limit: a run that is sorted, buffers of files, the allocator's slack */
#define BESIDE (24 * MIB)

/* What is kept of an inode: two bits. In shared memory, so that the limit is the program's. */
#define MOVED    1u
#define STRIPPED 2u

struct volume {
	size_t n;
	unsigned char *inode;
	uint64_t chowns;
};

/* Every 50th has a second name, which comes first in path order. */
static bool is_linked(size_t i)
{
	return i % 50 == 7;
}

static uint32_t mode_of(size_t i)
{
	return S_IFREG | (i % 97 == 0 ? 04755 : i % 89 == 0 ? 02755 : 0644);
}

static uint32_t gid_of(size_t i)
{
	return i % 3 ? 0 : 42;
}

static int path_of(size_t i, bool second, char buf[static 80])
{
	return second ? snprintf(buf, 80, "alt/%03zx/%08zx", i / DIR_FILES % 4096, i) :
			snprintf(buf, 80, "srv/some-data/%03zx/%04zx/the-file-%08zx",
				 i / DIR_FILES % 61, i / DIR_FILES, i);
}

static size_t inode_at(const struct volume *v, const char *path, size_t len)
{
	char number[9] = "";
	size_t i;

	cr_assert_geq(len, 8);
	memcpy(number, path + len - 8, 8);
	i = strtoul(number, NULL, 16);
	cr_assert_lt(i, v->n);
	return i;
}

static struct ctm_fact fact_at(size_t i, bool second, char buf[static 80])
{
	return (struct ctm_fact){
		.kind = CTM_FACT_INODE,
		.path_len = (size_t)path_of(i, second, buf),
		.path = buf,
		.mode = mode_of(i),
		.uid = { 0 },
		.gid = { gid_of(i) },
		.dev = 1,
		.ino = i + 1000,
		.nlink = is_linked(i) ? 2 : 1,
	};
}

/* --- the effects --- */

static int vol_open(void *fs, const struct ctm_ref *ref, int *ret_h)
{
	uint64_t i;

	if (ref->handle.len) {
		memcpy(&i, ref->handle.bytes, sizeof(i));
	} else {
		i = inode_at(fs, ref->path, ref->path_len);
	}
	*ret_h = (int)i;
	return 0;
}

static void vol_close(void *fs, int h)
{
	(void)fs;
	(void)h;
}

static void look(const struct volume *v, size_t i, struct ctm_inode_state *ret)
{
	uint32_t base = v->inode[i] & MOVED ? BASE : 0;

	*ret = (struct ctm_inode_state){
		.mode = v->inode[i] & STRIPPED ? mode_of(i) & ~06000u : mode_of(i),
		.uid = { base },
		.gid = { base + gid_of(i) },
	};
}

static int vol_stat(void *fs, int h, struct ctm_inode *ret)
{
	struct ctm_inode_state state;

	look(fs, (size_t)h, &state);
	*ret = (struct ctm_inode){
		.mode = state.mode,
		.uid = state.uid,
		.gid = state.gid,
		.dev = 1,
		.ino = (uint64_t)h + 1000,
		.nlink = is_linked((size_t)h) ? 2 : 1,
	};
	return 0;
}

static int vol_read(void *fs, int h, struct ctm_arena *arena, struct ctm_inode_state *ret)
{
	(void)arena;
	look(fs, (size_t)h, ret);
	return 0;
}

/* As the kernel does it: set-id bits go, whatever the owner was. */
static int vol_chown(void *fs, int h, ctm_did uid, ctm_did gid)
{
	struct volume *v = fs;

	v->chowns++;
	v->inode[h] = (unsigned char)((uid.v == BASE ? MOVED : 0) |
				      (mode_of((size_t)h) & 06000 ? STRIPPED : 0));
	return gid.v == uid.v + gid_of((size_t)h) ? 0 : -EINVAL;
}

static int vol_chmod(void *fs, int h, uint32_t mode)
{
	struct volume *v = fs;

	if ((mode & 07777) != (mode_of((size_t)h) & 07777)) {
		return -EINVAL;
	}
	v->inode[h] &= (unsigned char)~STRIPPED;
	return 0;
}

static int vol_handle(void *fs, int h, struct ctm_handle *ret)
{
	uint64_t i = (uint64_t)h;

	(void)fs;
	*ret = (struct ctm_handle){ .type = 1, .len = sizeof(i) };
	memcpy(ret->bytes, &i, sizeof(i));
	return 0;
}

/* What is in files with set-id bits is always the same, which is nothing, and nobody writes it. */
static int vol_readable(void *fs, int h, int *ret_fd)
{
	(void)fs;
	(void)h;
	*ret_fd = memfd_create("content", MFD_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static int vol_keep_out(void *fs, int fd)
{
	(void)fs;
	(void)fd;
	return 0;
}

static int vol_sync(void *fs)
{
	(void)fs;
	return 0;
}

static const struct ctm_ops vol_ops = {
	.open = vol_open,
	.close = vol_close,
	.stat = vol_stat,
	.read = vol_read,
	.chown = vol_chown,
	.chmod = vol_chmod,
	.handle = vol_handle,
	.readable = vol_readable,
	.keep_out = vol_keep_out,
	.kept_out = vol_keep_out,
	.sync = vol_sync,
};

/* --- the limit --- */

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

static void limit_memory(size_t more)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_DATA, &limit), 0);
	limit.rlim_cur = status_kib("VmData:") * 1024 + more;
#ifndef __SANITIZE_ADDRESS__ /* whose shadow is private memory, too */
	cr_assert_eq(setrlimit(RLIMIT_DATA, &limit), 0);
#endif
}

/* For the long variant: how far it is, and what it has taken. */
static void tell(const char *what, const struct ctm_plan *plan)
{
	static struct timespec start;
	struct timespec now;

	if (!getenv("LARGE_N")) {
		return;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (!start.tv_sec) {
		start = now;
	}
	(void)fprintf(stderr, "large: %5ld s  %-12s VmData %zu, RssAnon %zu, VmHWM %zu MiB",
		      (long)(now.tv_sec - start.tv_sec), what, status_kib("VmData:") >> 10,
		      status_kib("RssAnon:") >> 10, status_kib("VmHWM:") >> 10);
	if (plan) {
		(void)fprintf(stderr, ", plan in files %" PRIu64 " MiB",
			      ctm_spill_filed(plan->spill) >> 20);
	}
	(void)fputc('\n', stderr);
}

/* --- the run --- */

/* Facts as a walk brings them: directories in no order, files of one together. */
static struct ctm_plan *plan_all(size_t n, const struct ctm_policy *policy)
{
	size_t dirs = n / DIR_FILES;
	struct ctm_plan *plan;
	struct ctm_scan_totals totals = { .inodes = n, .host = { n, n } };
	char buf[80];

	cr_assert_eq(ctm_plan_new(policy, &plan), 0);
	for (size_t d = 0; d < dirs; d++) {
		size_t first = d * 7919 % dirs * DIR_FILES;

		for (size_t i = first; i < first + DIR_FILES; i++) {
			for (int name = 0; name <= is_linked(i); name++) {
				const struct ctm_fact fact = fact_at(i, name, buf);

				cr_assert_eq(ctm_plan_fact(&fact, plan), 0, "fact %zu", i);
			}
		}
	}
	ctm_plan_totals(plan, &totals, NULL);
	tell("facts", plan);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	tell("order", plan);
	return plan;
}

static void check_order(const struct ctm_plan *plan)
{
	for (size_t i = 1; i < plan->actions.n; i++) {
		const struct ctm_action *a = &plan->actions.v[i - 1];
		const struct ctm_action *b = &plan->actions.v[i];

		cr_assert_lt(ctm_path_cmp(a->path, a->path_len, b->path, b->path_len), 0,
			     "%s, then %s", a->path, b->path);
		ctm_spill_pass(plan->spill);
	}
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		cr_assert(f->path == plan->actions.v[f->action].path);
		ctm_spill_pass(plan->spill);
	}
}

/* Counts lines, and keeps none. */
struct sink {
	uint64_t lines;
	uint64_t minus;
	bool start;
};

static ssize_t sink_write(void *cookie, const char *buf, size_t size)
{
	struct sink *sink = cookie;

	for (size_t i = 0; i < size; i++) {
		sink->minus += sink->start && buf[i] == '-';
		sink->start = buf[i] == '\n';
		sink->lines += sink->start;
	}
	return (ssize_t)size;
}

static FILE *sink_open(struct sink *sink)
{
	FILE *out = fopencookie(sink, "w", (cookie_io_functions_t){ .write = sink_write });

	cr_assert_not_null(out);
	*sink = (struct sink){ .start = true };
	return out;
}

static void check_reports(struct ctm_plan *plan)
{
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam, .verbose = true };
	struct ctm_plan *small = exam->plan;
	struct sink sink;
	FILE *out;

	exam->plan = plan;
	out = sink_open(&sink);
	cr_assert_eq(ctm_report_diff(out, &rep), 0);
	cr_assert_eq(fclose(out), 0);
	cr_expect_eq(sink.minus, plan->actions.n + 1, "and the header");
	tell("diff", plan);
	out = sink_open(&sink);
	cr_assert_eq(ctm_report_text(out, &rep), 0);
	cr_assert_eq(fclose(out), 0);
	cr_expect_geq(sink.lines, plan->actions.n);
	tell("text", plan);
	out = sink_open(&sink);
	struct ctm_json *json = ctm_json_new("check", out);
	cr_assert_eq(ctm_json_report(json, &rep), 0);
	cr_assert_eq(ctm_json_end(json), 0);
	cr_assert_eq(fclose(out), 0);
	cr_expect_gt(sink.lines, 10 * (plan->actions.n + plan->findings.n));
	tell("json", plan);
	exam->plan = small;
	ctm_exam_free(exam);
}

static void check_volume(const struct volume *v, unsigned int want, const char *when)
{
	for (size_t i = 0; i < v->n; i++) {
		cr_assert_eq(v->inode[i], want, "%s: inode %zu: %u", when, i, v->inode[i]);
	}
}

static void repair_and_undo(struct volume *v, const char *dir, const struct ctm_plan *plan)
{
	struct ctm_host host = { .sysroot = dir };
	struct ctm_identity identity = { .volume_id = "local:115/disk.raw", .fstype = "ext4" };
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };
	CLEANUP(ctm_outcome_done) struct ctm_outcome back = { 0 };
	struct ctm_run run = {
		.ops = &vol_ops,
		.fs = v,
		.identity = &identity,
		.map = plan->policy.map,
		.target = "115",
		.volume = "rootfs",
		.user = "tester",
		.options = "",
	};
	struct ctm_err err = { 0 };
	char digest[33];

	cr_assert_eq(ctm_state_open(&host, "115", 0, &state, &err), 0, "%s", err.msg);
	run.state = state;
	ctm_plan_digest(plan, "", digest);
	tell("digest", plan);
	cr_assert_eq(ctm_repair(&run, plan, digest, &out, &err), 0, "%s", err.msg);
	tell("repair", plan);
	cr_expect_eq(out.counts.done, v->n);
	cr_expect_eq(v->chowns, v->n);
	check_volume(v, MOVED, "after the repair");
	cr_assert_eq(ctm_undo(&run, out.run, &back, &err), 0, "%s", err.msg);
	tell("undo", plan);
	cr_expect_eq(back.counts.done, v->n);
	check_volume(v, 0, "after the undo");
}

Test(large, whole_tree_in_little_memory, .timeout = 100000)
{
	const char *number = getenv("LARGE_N");
	const char *where = getenv("LARGE_DIR");
	SCRATCH(scratch);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	struct volume v = { .n = number ? strtoul(number, NULL, 10) : LARGE };
	/* as much less than a plan as the real limit is of ten million inodes */
	struct ctm_policy policy = {
		.map = map,
		.convert = true,
		.memory = number ? 64 * MIB : 8 * MIB,
		.spill_dir = where ? where : scratch.path,
	};
	char digests[2][33];

	v.n -= v.n % DIR_FILES;
	if (!number) {
		/* the same plan in memory, first: where it lies must make no difference */
		const struct ctm_policy all = { .map = map, .convert = true };
		CLEANUP(ctm_planp_free) struct ctm_plan *other = plan_all(v.n, &all);

		ctm_plan_digest(other, "", digests[0]);
		cr_assert_gt(status_kib("RssAnon:") * 1024, policy.memory + BESIDE);
	}
	v.inode = mmap(NULL, v.n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(v.inode != MAP_FAILED);
	(void)malloc_trim(0);
	limit_memory(policy.memory + BESIDE);
	tell("start", NULL);
	plan = plan_all(v.n, &policy);
	cr_assert_eq(plan->actions.n, v.n);
	cr_assert_eq(plan->findings.n, 2 * v.n);
	cr_expect_gt(ctm_spill_filed(plan->spill), v.n * sizeof(struct ctm_action));
	check_order(plan);
	if (!number) {
		ctm_plan_digest(plan, "", digests[1]);
		cr_expect_str_eq(digests[0], digests[1]);
	}
	check_reports(plan);
	repair_and_undo(&v, where ? where : scratch.path, plan);
	(void)munmap(v.inode, v.n);
}
