/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ask for locks and their holders. */
#include "target/lockholder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"

CTM_HOST_PATHS

struct search {
	dev_t dev;
	ino_t ino;
	bool any; /* to have it open is enough */
	int (*fn)(pid_t pid, void *arg);
	void *arg;
};

static void closedirp(DIR **dir)
{
	if (*dir) {
		(void)closedir(*dir);
	}
}

/* A line "lock:" in its fdinfo: this descriptor's open file, or its process, holds one. */
static bool has_lock(pid_t pid, const char *fd)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[320];
	char line[256];

	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "lock:", 5) == 0) {
			return true;
		}
	}
	return false;
}

/* A process that ends meanwhile, or that we may not look into, is none that we can name. */
static int look_at(pid_t pid, void *arg)
{
	const struct search *search = arg;
	CLEANUP(closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];

	if (pid == getpid()) {
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir) {
		return 0;
	}
	while ((entry = readdir(dir))) {
		struct stat st;

		if (entry->d_name[0] != '.' && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
		    st.st_dev == search->dev && st.st_ino == search->ino &&
		    (search->any || has_lock(pid, entry->d_name))) {
			return search->fn(pid, search->arg);
		}
	}
	return 0;
}

static int search_all(int fd, struct search *search)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	search->dev = st.st_dev;
	search->ino = st.st_ino;
	return ctm_procs_each(look_at, search);
}

int ctm_lockholder_each(int fd, int (*fn)(pid_t pid, void *arg), void *arg)
{
	struct search search = { .fn = fn, .arg = arg };

	return search_all(fd, &search);
}

/* Somebody else's lock of either kind of fcntl(2), anywhere in the file. */
static int ask_fcntl(int fd, bool *ret_held, pid_t *ret_pid)
{
	static const int questions[] = { F_GETLK, F_OFD_GETLK };

	for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

		if (fcntl(fd, questions[i], &lock) < 0) {
			return -errno;
		}
		if (lock.l_type != F_UNLCK) {
			*ret_held = true;
			*ret_pid = lock.l_pid > 0 ? lock.l_pid : 0; /* -1: of an open file */
			return 0;
		}
	}
	return 0;
}

/* There is no way to ask for a flock but to take it. */
static int ask_flock(int fd, bool *ret_held)
{
	int r = flock(fd, LOCK_EX | LOCK_NB);

	if (r < 0 && errno == EBADF) {
		r = flock(fd,
			  LOCK_SH | LOCK_NB); /* NFS wants a writable descriptor for the other */
	}
	if (r == 0) {
		return flock(fd, LOCK_UN) < 0 ? -errno : 0;
	}
	if (errno != EWOULDBLOCK) {
		return -errno;
	}
	*ret_held = true;
	return 0;
}

static int take_first(pid_t pid, void *arg)
{
	*(pid_t *)arg = pid;
	return 1;
}

int ctm_lockholder_find(int fd, bool *ret_held, struct ctm_lockholder *ret)
{
	struct ctm_lockholder holder = { .how = "fcntl", .name = "?" };
	bool held = false;
	int r = ask_fcntl(fd, &held, &holder.pid);

	if (r == 0 && !held) {
		holder.how = "flock";
		r = ask_flock(fd, &held);
	}
	if (r == 0 && held && holder.pid == 0) {
		r = ctm_lockholder_each(fd, take_first, &holder.pid);
	}
	if (r < 0) {
		return r;
	}
	if (held) {
		if (holder.pid > 0) {
			ctm_procs_name(holder.pid, holder.name);
		}
		*ret = holder;
	}
	*ret_held = held;
	return 0;
}

int ctm_lockholder_opener(int fd, bool *ret_held, struct ctm_lockholder *ret)
{
	struct ctm_lockholder holder = { .how = "open", .name = "?" };
	struct search search = { .any = true, .fn = take_first, .arg = &holder.pid };
	int r = search_all(fd, &search);

	if (r < 0) {
		return r;
	}
	if (holder.pid > 0) {
		ctm_procs_name(holder.pid, holder.name);
		*ret = holder;
	}
	*ret_held = holder.pid > 0;
	return 0;
}
