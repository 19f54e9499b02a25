/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of a walk's process, and its pulse. */
#include "scan/leash.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/statfs.h>

#define CPU_LEAST 60u    /* seconds, for however little */
#define CPU_MOST  86400u /* where the file system tells nothing, or nonsense */
#define CPU_GRACE 5u     /* from SIGXCPU to SIGKILL */
#define PER_INODE 10000u /* inodes a second */
#define PER_BLOCK 1000u  /* blocks of 4 KiB a second */
#define BLOCK     4096u
#define MEMORY \
	((rlim_t)1 << 30)             /* what the deepest and widest trees of the tests need, and
					* what a copy of the parent has of its own, several times */
#define PER_THREAD ((rlim_t)24 << 20) /* a stack of 8 MiB, buffers, tables of ids */

struct ctm_pulse *ctm_pulse_new(unsigned int n)
{
	void *p = mmap(NULL, n * sizeof(struct ctm_pulse), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void ctm_pulse_free(struct ctm_pulse *pulse, unsigned int n)
{
	if (pulse) {
		(void)munmap(pulse, n * sizeof(*pulse));
	}
}

uint64_t ctm_pulse_sum(const struct ctm_pulse *pulse, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++) {
		sum += atomic_load_explicit(&pulse[i].beats, memory_order_relaxed);
	}
	return sum;
}

static rlim_t cpu_of(const struct statfs *fs)
{
	const uint64_t unit = (uint64_t)(fs->f_frsize ? fs->f_frsize : fs->f_bsize);
	uint64_t inodes = fs->f_files > fs->f_ffree ? fs->f_files - fs->f_ffree : 0;
	uint64_t blocks = fs->f_blocks > fs->f_bfree ? fs->f_blocks - fs->f_bfree : 0;
	uint64_t bytes;

	/* btrfs counts no inodes, and a million empty files of it take next to no blocks */
	if (__builtin_mul_overflow(blocks, unit, &bytes) || fs->f_files == 0 ||
	    (inodes == 0 && bytes == 0)) {
		return CPU_MOST;
	}
	bytes = bytes / BLOCK / PER_BLOCK;
	inodes /= PER_INODE;
	if (bytes > CPU_MOST || inodes > CPU_MOST) {
		return CPU_MOST;
	}
	bytes += inodes + CPU_LEAST;
	return bytes < CPU_MOST ? bytes : CPU_MOST;
}

int ctm_leash_for(int root, unsigned int threads, struct ctm_leash *ret)
{
	struct statfs fs;

	if (fstatfs(root, &fs) < 0) {
		return -errno;
	}
	*ret = (struct ctm_leash){
		.cpu = cpu_of(&fs),
		.memory = MEMORY + threads * PER_THREAD,
	};
	return 0;
}

static int limit(pid_t pid, enum __rlimit_resource what, rlim_t soft, rlim_t hard)
{
	struct rlimit now;
	struct rlimit then;

	if (prlimit(pid, what, NULL, &now) < 0) {
		return -errno;
	}
	then.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
	then.rlim_cur = soft < now.rlim_cur ? soft : now.rlim_cur;
	if (then.rlim_cur > then.rlim_max) {
		then.rlim_cur = then.rlim_max;
	}
	return prlimit(pid, what, &then, NULL) < 0 ? -errno : 0;
}

int ctm_leash_put(pid_t pid, const struct ctm_leash *leash)
{
	int r = limit(pid, RLIMIT_CPU, leash->cpu, leash->cpu + CPU_GRACE);

#ifndef __SANITIZE_ADDRESS__ /* whose shadow is private memory, too */
	if (r == 0) {
		r = limit(pid, RLIMIT_DATA, leash->memory, leash->memory);
	}
#endif
	return r;
}
