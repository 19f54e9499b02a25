/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Take locks, waiting. */
#include "target/hostlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "target/hostdir.h"
#include "target/lockholder.h"

CTM_HOST_PATHS

#define PLACE_VOLUME_LOCKS CTM_PLACE_RUN "/lock"

/* How often to try again: a wait must be able to end, which flock(2) without LOCK_NB cannot. */
#define STEP_MS 100

static int open_lock(int dir, const char *name, int *ret, struct ctm_err *err)
{
	/* as PVE opens it, and never through a link */
	int fd = openat(dir, name,
			O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);

	if (fd < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "open the lock file '%s'", name);
	}
	*ret = fd;
	return 0;
}

static bool is_over(const struct timespec *end)
{
	struct timespec now;

	return clock_gettime(CLOCK_MONOTONIC, &now) < 0 || now.tv_sec > end->tv_sec ||
	       (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec);
}

int ctm_hostlock_within(int fd, unsigned int wait)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
	struct timespec end;

	if (clock_gettime(CLOCK_MONOTONIC, &end) < 0) {
		return -errno;
	}
	end.tv_sec += (time_t)wait;
	for (;;) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			return 0;
		}
		if (errno != EWOULDBLOCK && errno != EINTR) {
			return -errno;
		}
		if (is_over(&end)) {
			return -EWOULDBLOCK;
		}
		(void)nanosleep(&step, NULL);
	}
}

/* what: "CT 115", or the volume's id */
static int busy(int fd, const char *what, const char *doing, unsigned int wait, struct ctm_err *err)
{
	struct ctm_lockholder holder;
	bool held = false;
	int r;

	if (ctm_lockholder_find(fd, &held, &holder) == 0 && held && holder.pid > 0) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "%s is %s process %d (%s)", what, doing,
				(int)holder.pid, holder.name);
	} else {
		r = ctm_err_set(err, CTM_REFUSED, 0, "%s is %s another process", what, doing);
	}
	ctm_err_hint(err,
		     "it was waited for during %u s; try again, or wait longer with --wait SECONDS",
		     wait);
	return r;
}

int ctm_hostlock_config_open(const struct ctm_host *host, unsigned int vmid, int *ret,
			     struct ctm_err *err)
{
	CLEANUP_CLOSE int dir = -1;
	char name[64];
	int r = ctm_hostdir_open(host, CTM_PLACE_PVE_LOCKS, 0755, &dir, err);

	if (r < 0) {
		return r;
	}
	(void)snprintf(name, sizeof(name), "pve-config-%u.lock", vmid);
	return open_lock(dir, name, ret, err);
}

int ctm_hostlock_config(const struct ctm_host *host, unsigned int vmid, unsigned int wait, int *ret,
			struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = -1;
	char what[32];
	int r = ctm_hostlock_config_open(host, vmid, &fd, err);

	if (r < 0) {
		return r;
	}
	(void)snprintf(what, sizeof(what), "CT %u", vmid);
	r = ctm_hostlock_within(fd, wait);
	if (r == -EWOULDBLOCK) {
		return busy(fd, what, "being worked on: its configuration is locked by", wait, err);
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "lock the configuration of %s", what);
	}
	*ret = TAKE_FD(fd);
	return 0;
}

int ctm_hostlock_volume(const struct ctm_host *host, const char *key, const char *what,
			unsigned int wait, int *ret, struct ctm_err *err)
{
	CLEANUP_CLOSE int dir = -1;
	int r = ctm_hostdir_open(host, PLACE_VOLUME_LOCKS, 0700, &dir, err);

	if (r < 0) {
		return r;
	}
	for (;;) {
		CLEANUP_CLOSE int fd = -1;
		struct stat st;

		r = open_lock(dir, key, &fd, err);
		if (r < 0) {
			return r;
		}
		r = ctm_hostlock_within(fd, wait);
		if (r == -EWOULDBLOCK) {
			return busy(fd, what, "being repaired by", wait, err);
		}
		if (r < 0 || fstat(fd, &st) < 0) {
			return ctm_err_set(err, CTM_SYS, r < 0 ? r : errno, "lock '%s'", what);
		}
		/*
		 * Its last holder removed the file while we waited: the lock is of a file without
		 * a name.
		 */
		if (st.st_nlink > 0) {
			*ret = TAKE_FD(fd);
			return 0;
		}
	}
}

void ctm_hostlock_volume_done(const struct ctm_host *host, const char *key, int *fd)
{
	CLEANUP_CLOSE int dir = -1;

	if (*fd >= 0 && ctm_hostdir_open(host, PLACE_VOLUME_LOCKS, 0700, &dir, NULL) == 0) {
		(void)unlinkat(dir, key, 0);
	}
	ctm_closep(fd);
}
