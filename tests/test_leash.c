/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ends a process that has gone astray. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "must.h"
#include "scan/leash.h"
#include "scratch.h"

/* Exits with what is left to say; the leash is put on before it begins. */
static int on_leash(const struct ctm_leash *leash, void (*live)(void))
{
	int go[2];
	int status;
	char c;
	pid_t pid;

	cr_assert_eq(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		must(read(go[0], &c, 1) == 1);
		live();
		_exit(0);
	}
	cr_assert_eq(ctm_leash_put(pid, leash), 0);
	cr_assert_eq(write(go[1], "x", 1), 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void spin(void)
{
	for (volatile unsigned int i = 0;; i++) {
	}
}

static void spin_and_hide(void)
{
	(void)signal(SIGXCPU, SIG_IGN);
	spin();
}

static void grow(void)
{
	/* 64 MiB are there, 1 GiB is not. */
	for (int i = 0; i < 1024; i++) {
		char *p = malloc((size_t)1 << 20);

		if (!p) {
			_exit(i < 64 ? 2 : 1);
		}
		memset(p, 1, (size_t)1 << 20);
	}
}

Test(leash, spinning, .timeout = 60)
{
	const struct ctm_leash leash = { .cpu = 1, .memory = RLIM_INFINITY };
	const int status = on_leash(&leash, spin);

	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU, "%x", (unsigned int)status);
}

Test(leash, spinning_and_deaf, .timeout = 60)
{
	const struct ctm_leash leash = { .cpu = 1, .memory = RLIM_INFINITY };
	const int status = on_leash(&leash, spin_and_hide);

	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%x", (unsigned int)status);
}

#ifndef __SANITIZE_ADDRESS__
Test(leash, growing)
{
	const struct ctm_leash leash = { .cpu = RLIM_INFINITY, .memory = (rlim_t)512 << 20 };
	const int status = on_leash(&leash, grow);

	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%x", (unsigned int)status);
}
#endif

static void tell_limits(void)
{
	struct rlimit limit;

	must(getrlimit(RLIMIT_CPU, &limit) == 0);
	_exit(limit.rlim_cur == 3 && limit.rlim_max == 3 ? 0 : 1);
}

/* A tighter limit of the caller's is kept. */
Test(leash, the_tighter_one_holds)
{
	const struct rlimit tight = { .rlim_cur = 3, .rlim_max = 3 };
	const struct ctm_leash leash = { .cpu = 1000, .memory = RLIM_INFINITY };
	int status;

	cr_assert_eq(setrlimit(RLIMIT_CPU, &tight), 0);
	status = on_leash(&leash, tell_limits);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned int)status);
}

/* Ten million inodes take some minutes of a slow processor. */
Test(leash, a_large_tree_has_time)
{
	CLEANUP_CLOSE int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ctm_leash leash;
	struct statvfs fs;
	uint64_t inodes;

	cr_assert_geq(root, 0);
	cr_assert_eq(ctm_leash_for(root, 4, &leash), 0);
	cr_assert_eq(statvfs("/", &fs), 0);
	inodes = fs.f_files - fs.f_ffree;
	cr_assert_geq(leash.cpu, 60);
	/* 50 us for each, ten times what the benchmark shows; a day is enough for all */
	cr_assert(leash.cpu >= inodes / 20000 || leash.cpu == 24 * 60 * 60, "%lu",
		  (unsigned long)leash.cpu);
	cr_assert_leq(leash.cpu, 24 * 60 * 60);
	cr_assert_geq(leash.memory, (rlim_t)1 << 30);
}

/* As btrfs does it: nothing tells how many there are. */
Test(leash, inodes_that_are_not_counted)
{
	SCRATCH(dir);
	CLEANUP_CLOSE int root = -1;
	CLEANUP_CLOSE int fd = -1;
	struct ctm_leash leash;
	struct statvfs fs;

	if (geteuid() != 0) {
		cr_skip("needs root");
	}
	/* gone with this process, whatever becomes of the test */
	cr_assert_eq(unshare(CLONE_NEWNS), 0);
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("none", dir.path, "tmpfs", 0, "size=4m,nr_inodes=0"), 0, "%s",
		     strerror(errno));
	root = open(dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(root, 0);
	fd = openat(root, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	cr_assert_eq(write(fd, "x", 1), 1);
	cr_assert_eq(fstatvfs(root, &fs), 0);
	cr_assert_eq(fs.f_files, 0);
	cr_assert_gt(fs.f_blocks, fs.f_bfree);
	cr_assert_eq(ctm_leash_for(root, 4, &leash), 0);
	cr_assert_eq(leash.cpu, 24 * 60 * 60);
}

Test(leash, pulses_add_up)
{
	struct ctm_pulse *pulse = ctm_pulse_new(3);

	cr_assert_not_null(pulse);
	cr_assert_eq(ctm_pulse_sum(pulse, 3), 0);
	for (int i = 0; i < 5; i++) {
		ctm_pulse_beat(&pulse[i % 3]);
	}
	cr_assert_eq(ctm_pulse_sum(pulse, 3), 5);
	ctm_pulse_free(pulse, 3);
	ctm_pulse_free(NULL, 3);
}
