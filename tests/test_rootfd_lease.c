/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of leases: who has a file open for writing, and who would like to. */
#include "target/rootfd_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

static int make(int dir)
{
	CLEANUP_CLOSE int fd = openat(dir, "f", O_RDWR | O_CREAT, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "content", 7), 7);
	return openat(dir, "f", O_RDONLY);
}

/* Takes it, unless this file system has none. */
static int keep_out(int fd)
{
	int r = ctm_rootfd_keep_out(fd);

	if (r == -EOPNOTSUPP) {
		cr_skip("no leases here");
	}
	return r;
}

Test(rootfd_lease, open_and_mapped_files)
{
	SCRATCH(dir);
	CLEANUP_CLOSE int fd = make(dir.fd);
	int writer = openat(dir.fd, "f", O_RDWR);
	void *p;

	cr_assert_eq(keep_out(fd), -ETXTBSY, "open");
	p = mmap(NULL, 7, PROT_READ | PROT_WRITE, MAP_SHARED, writer, 0);
	cr_assert_neq(p, MAP_FAILED);
	cr_assert_eq(close(writer), 0);
	cr_assert_eq(keep_out(fd), -ETXTBSY, "mapped");
	cr_assert_eq(munmap(p, 7), 0);
	cr_assert_eq(keep_out(fd), 0);
	cr_assert_eq(ctm_rootfd_kept_out(fd), 0);
}

/* Readers do not matter. Who wants to write waits, is seen, and does not end this process. */
Test(rootfd_lease, who_wants_to_write_is_seen)
{
	SCRATCH(dir);
	CLEANUP_CLOSE int fd = make(dir.fd);
	CLEANUP_CLOSE int reader = openat(dir.fd, "f", O_RDONLY);
	int status;
	pid_t pid;

	cr_assert_eq(keep_out(fd), 0);
	pid = fork();
	if (pid == 0) {
		/* a lease is no descriptor's of this process */
		int writer = openat(dir.fd, "f", O_WRONLY | O_NONBLOCK);

		_exit(writer < 0 && errno == EWOULDBLOCK ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "it does not get it");
	cr_assert_eq(ctm_rootfd_kept_out(fd), -ETXTBSY);
	cr_assert_geq(reader, 0);
}
