/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read /proc. */
#include "target/procs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/pathname.h"

CTM_HOST_PATHS

/*
 * Longer than any line of processes; a loop (a parent that ended and whose number was reused)
 * ends.
 */
#define MAX_DEPTH 4096

static void closedirp(DIR **dir)
{
	if (*dir) {
		(void)closedir(*dir);
	}
}

/* 0: not a number */
static pid_t parse_pid(const char *text)
{
	char *end;
	long n;

	if (text[0] < '1' || text[0] > '9') {
		return 0;
	}
	errno = 0;
	n = strtol(text, &end, 10);
	return errno == 0 && *end == '\0' && n == (pid_t)n ? (pid_t)n : 0;
}

int ctm_procs_each(int (*fn)(pid_t pid, void *arg), void *arg)
{
	CLEANUP(closedirp) DIR *dir = opendir("/proc");
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		return -errno;
	}
	while (r == 0) {
		pid_t pid;

		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			return -errno;
		}
		pid = parse_pid(entry->d_name);
		if (pid > 0) {
			r = fn(pid, arg);
		}
	}
	return r;
}

void ctm_procs_name(pid_t pid, char ret[static CTM_PROC_NAME])
{
	CLEANUP_FCLOSE FILE *f = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf escaped = { 0 };
	char path[64];
	char comm[64];
	size_t n;

	(void)snprintf(ret, CTM_PROC_NAME, "?");
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f) {
		return;
	}
	n = fread(comm, 1, sizeof(comm), f);
	if (n > 0 && comm[n - 1] == '\n') {
		n--;
	}
	if (n > 0 && ctm_path_escape(&escaped, comm, n) == 0) {
		(void)snprintf(ret, CTM_PROC_NAME, "%s", escaped.p);
	}
}

int ctm_procs_parent(pid_t pid, pid_t *ret)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[64];
	char line[512];
	const char *paren;
	char *end;
	long parent;
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f) {
		return -ESRCH;
	}
	n = fread(line, 1, sizeof(line) - 1, f);
	line[n] = '\0';
	/* "pid (name) S ppid ...": the name may hold anything, also ")" */
	paren = strrchr(line, ')');
	if (!paren || strlen(paren) < sizeof(") S ")) {
		return -ESRCH;
	}
	parent = strtol(paren + sizeof(") S ") - 1, &end, 10);
	if (*end != ' ' || parent < 0 || parent != (pid_t)parent) {
		return -ESRCH;
	}
	*ret = (pid_t)parent;
	return 0;
}

bool ctm_procs_has_socket(pid_t pid, uint64_t inode)
{
	CLEANUP(closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[64];
	char want[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	(void)snprintf(want, sizeof(want), "socket:[%ju]", (uintmax_t)inode);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char link[64];
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (n > 0) {
			link[n] = '\0';
			if (strcmp(link, want) == 0) {
				return true;
			}
		}
	}
	return false;
}

bool ctm_procs_is_ancestor(pid_t pid)
{
	pid_t at = getpid();

	if (pid <= 0) {
		return false;
	}
	for (unsigned int i = 0; i < MAX_DEPTH; i++) {
		if (ctm_procs_parent(at, &at) < 0 || at <= 0) {
			return false;
		}
		if (at == pid) {
			return true;
		}
	}
	return false;
}
