/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/hostlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

#define CONFIG "run/lock/lxc/pve-config-115.lock"
#define VOLUME "run/ctmend/lock/dir-0:1-2.lock"
#define KEY    "dir-0:1-2.lock"

Test(hostlock, config_is_the_file_of_pve)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_CLOSE int other = -1;
	struct ctm_err err = { 0 };
	struct stat st;

	cr_assert_eq(ctm_hostlock_config(&host, 115, 0, &fd, &err), 0, "%s", err.msg);
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	other = openat(s.fd, CONFIG, O_RDWR | O_CLOEXEC);
	cr_assert_geq(other, 0);
	cr_assert_eq(flock(other, LOCK_EX | LOCK_NB), -1);
	ctm_closep(&fd);
	cr_assert_eq(flock(other, LOCK_EX | LOCK_NB), 0);
	cr_assert_eq(fstatat(s.fd, CONFIG, &st, 0), 0, "the file stays");

	cr_assert_eq(ctm_hostlock_config(&host, 115, 0, &fd, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_eq(strncmp(err.msg, "CT 115 is ", 10), 0, "%s", err.msg);
	cr_assert_neq(err.hint[0], '\0');
	cr_assert_eq(fd, -1);
}

Test(hostlock, volume_leaves_no_file)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_CLOSE int second = -1;
	struct ctm_err err = { 0 };
	struct stat st;

	cr_assert_eq(ctm_hostlock_volume(&host, KEY, "'/srv/ct'", 0, &fd, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_hostlock_volume(&host, KEY, "'/srv/ct'", 0, &second, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_eq(strncmp(err.msg, "'/srv/ct' is being repaired by", 30), 0, "%s", err.msg);
	ctm_hostlock_volume_done(&host, KEY, &fd);
	cr_assert_eq(fd, -1);
	cr_assert_eq(fstatat(s.fd, VOLUME, &st, 0), -1);
	cr_assert_eq(ctm_hostlock_volume(&host, KEY, "x", 0, &second, &err), 0,
		     "and is free again");
	ctm_hostlock_volume_done(&host, KEY, &second);
	ctm_hostlock_volume_done(&host, KEY, &second);
}

/* Whoever waits has the file open that its holder removes: such a lock would be one of nothing. */
Test(hostlock, a_lock_of_a_removed_file_does_not_count)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	CLEANUP_CLOSE int fd = -1;
	struct ctm_err err = { 0 };
	struct stat got;
	struct stat named;
	int r;

	cr_assert_eq(ctm_hostlock_volume(&host, KEY, "x", 0, &fd, &err), 0);
	r = fork();
	cr_assert_geq(r, 0);
	if (r == 0) {
		(void)usleep(300000);
		ctm_hostlock_volume_done(&host, KEY, &fd);
		_exit(0);
	}
	ctm_closep(&fd);
	cr_assert_eq(ctm_hostlock_volume(&host, KEY, "x", 5, &fd, &err), 0, "%s", err.msg);
	cr_assert_eq(fstat(fd, &got), 0);
	cr_assert_eq(fstatat(s.fd, VOLUME, &named, 0), 0);
	cr_assert_eq(got.st_ino, named.st_ino);
	ctm_hostlock_volume_done(&host, KEY, &fd);
}

static const struct {
	const char *name;
	mode_t mode;
	bool ok;
} modes[] = {
	{ "PVE's", 0755, true },
	{ "private", 0700, true },
	{ "the group's", 0775, false },
	{ "everybody's", 0777, false },
	{ "everybody's, sticky", 01777, false },
};
CASES(hostlock, the_directory_must_be_ours, modes)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	CLEANUP_CLOSE int fd = -1;
	struct ctm_err err = { 0 };
	int r;

	cr_assert_eq(mkdirat(s.fd, "run", 0755), 0);
	cr_assert_eq(mkdirat(s.fd, "run/lock", 0755), 0);
	cr_assert_eq(fchmodat(s.fd, "run/lock", 01777, 0), 0);
	cr_assert_eq(mkdirat(s.fd, "run/lock/lxc", 0700), 0);
	cr_assert_eq(fchmodat(s.fd, "run/lock/lxc", modes[*i].mode, 0), 0);
	r = ctm_hostlock_config_open(&host, 115, &fd, &err);
	cr_assert_eq(r, modes[*i].ok ? 0 : -EPERM, "%s: %s", modes[*i].name, err.msg);
}

Test(hostlock, links_are_not_followed)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	CLEANUP_CLOSE int fd = -1;
	struct ctm_err err = { 0 };
	struct stat st;

	cr_assert_eq(mkdirat(s.fd, "run", 0755), 0);
	cr_assert_eq(mkdirat(s.fd, "run/lock", 0755), 0);
	cr_assert_eq(mkdirat(s.fd, "run/lock/lxc", 0755), 0);
	cr_assert_eq(symlinkat("../../../planted", s.fd, CONFIG), 0);
	cr_assert_eq(ctm_hostlock_config_open(&host, 115, &fd, &err), -ELOOP);
	cr_assert_eq(fstatat(s.fd, "planted", &st, 0), -1);

	cr_assert_eq(unlinkat(s.fd, CONFIG, 0), 0);
	cr_assert_eq(unlinkat(s.fd, "run/lock/lxc", AT_REMOVEDIR), 0);
	cr_assert_eq(mkdirat(s.fd, "elsewhere", 0755), 0);
	cr_assert_eq(symlinkat("../../elsewhere", s.fd, "run/lock/lxc"), 0);
	cr_assert_lt(ctm_hostlock_config_open(&host, 115, &fd, &err), 0);
	cr_assert_eq(fstatat(s.fd, "elsewhere/pve-config-115.lock", &st, 0), -1);
}
