/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a walk, the threads of the C library, its allocator and the sanitizers are made of. */
#include "scan/confine_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

/* An int in a register: what its upper half holds is up to the compiler (psABI of x86-64). */
#define INT_MASK ((scmp_datum_t)UINT32_MAX)
#define INT_SIGN ((scmp_datum_t)1 << 31)

/* All that ctm_walk_openat() asks for, and what the C library adds. O_RDONLY is 0. */
#define OPEN_FLAGS                                                                              \
	((scmp_datum_t)(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | \
			O_NOATIME | O_LARGEFILE))

/* pthread_create(3): a thread is all of these, and may be some of those. */
#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define THREAD_MAY                                                                            \
	((scmp_datum_t)(CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_DETACHED | \
			CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID))

static const int calls[] = {
	/* the walk; newfstatat: fstat(3) */
	SCMP_SYS(getdents64),
	SCMP_SYS(statx),
	SCMP_SYS(newfstatat),
	SCMP_SYS(fstat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(llistxattr),
	SCMP_SYS(lgetxattr),
	SCMP_SYS(fchdir),
	SCMP_SYS(lseek),
	SCMP_SYS(pread64),
	SCMP_SYS(write),
	SCMP_SYS(close),
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(getrandom),
	/* threads, and how they end */
	SCMP_SYS(futex),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_yield),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

/* Calls that pass when these bits of one or two arguments have these values. */
struct rule {
	int call;
	unsigned int n;
	struct scmp_arg_cmp arg[2];
};
#define BITS(number, mask, value)                             \
	{                                                     \
		(number), SCMP_CMP_MASKED_EQ, (mask), (value) \
	}

static int add_rules(scmp_filter_ctx filter)
{
	const struct rule rules[] = {
		/* A directory that is open: not AT_FDCWD, which is negative. */
		{ SCMP_SYS(openat),
		  2,
		  { BITS(0, INT_SIGN, 0), BITS(2, INT_MASK & ~OPEN_FLAGS, 0) } },
		{ SCMP_SYS(mmap), 1, { BITS(2, PROT_EXEC, 0) } },
		{ SCMP_SYS(mprotect), 1, { BITS(2, PROT_EXEC, 0) } },
		{ SCMP_SYS(clone), 1, { BITS(0, INT_MASK & ~THREAD_MAY, THREAD) } },
		{ SCMP_SYS(unshare), 1, { BITS(0, INT_MASK, CLONE_FS) } },
		/* its own limits, to look at */
		{ SCMP_SYS(prlimit64), 2, { BITS(0, INT_MASK, 0), { 2, SCMP_CMP_EQ, 0, 0 } } },
		/* abort(3) */
		{ SCMP_SYS(tgkill), 1, { BITS(0, INT_MASK, (scmp_datum_t)getpid()) } },
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		int r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);

		if (r < 0) {
			return r;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		int r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rules[i].call, rules[i].n,
					       rules[i].arg);

		if (r < 0) {
			return r;
		}
	}
	return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

int ctm_confine_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int r;

	if (!filter) {
		return -ENOMEM;
	}
	/*
	 * The kernel before 5.16 slows down a process with a filter as if it ran foreign code,
	 * which this one does not.
	 */
	r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	/*
	 * A call of another architecture would end the thread that makes it, and the others would
	 * wait for what it held.
	 */
	if (r == 0) {
		r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	}
	if (r == 0) {
		r = add_rules(filter);
	}
	if (r == 0) {
		r = seccomp_load(filter);
	}
	seccomp_release(filter);
	return r;
}
