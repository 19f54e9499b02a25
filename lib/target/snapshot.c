/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run pct snapshot. */
#include "target/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/pathname.h"
#include "target/hostfile.h"

CTM_HOST_PATHS

#define PLACE_PCT "/usr/sbin/pct"

/* Of what pct prints the end is kept, where the reason stands. */
#define TAIL_MAX 1024

/* Nothing of ours is inherited: what pct runs it finds in these places. */
static char *const environment[] = {
	(char[]){ "PATH=/usr/sbin:/usr/bin:/sbin:/bin" },
	(char[]){ "LC_ALL=C" },
	NULL,
};

static int find_pct(const struct ctm_host *host, struct ctm_buf *ret, struct ctm_err *err)
{
	int r;

	if (ctm_host_path(host, ret, "%s", PLACE_PCT) < 0) {
		return ctm_err_nomem(err);
	}
	if (access(ret->p, X_OK) == 0) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "there is no '%s' to take a snapshot with", ret->p);
	ctm_err_hint(err, "nothing was changed; repeat without --snapshot after a backup");
	return r;
}

int ctm_snapshot_possible(const struct ctm_host *host, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf pct = { 0 };

	return find_pct(host, &pct, err);
}

static int make_name(char ret[static CTM_SNAPSHOT_NAME_MAX])
{
	time_t now = time(NULL);
	struct tm tm;

	return gmtime_r(&now, &tm) && strftime(ret, CTM_SNAPSHOT_NAME_MAX, "ctmend_%Y%m%dT%H%M%SZ",
					       &tm) > 0 ?
		       0 :
		       -EOVERFLOW;
}

/* --- run it ---------------------------------------------------------------------------------- */

static int add_files(posix_spawn_file_actions_t *files, int out)
{
	int r = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);

	r = r ? r : posix_spawn_file_actions_adddup2(files, out, 1);
	r = r ? r : posix_spawn_file_actions_adddup2(files, out, 2);
	/* also of what we were started with ourselves */
	return r ? r : posix_spawn_file_actions_addclosefrom_np(files, 3);
}

static int add_attributes(posix_spawnattr_t *attr)
{
	sigset_t none;
	sigset_t all;
	int r;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	r = posix_spawnattr_setsigmask(attr, &none);
	r = r ? r : posix_spawnattr_setsigdefault(attr, &all);
	return r ? r :
		   posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(char *const argv[], int out, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r = posix_spawn_file_actions_init(&files);

	if (r) {
		return -r;
	}
	r = posix_spawnattr_init(&attr);
	if (r == 0) {
		r = add_files(&files, out);
		r = r ? r : add_attributes(&attr);
		r = r ? r : posix_spawn(ret, argv[0], &files, &attr, argv, environment);
		(void)posix_spawnattr_destroy(&attr);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

/* To the end of what it prints; the last bytes stay. */
static int read_tail(int fd, struct ctm_buf *tail)
{
	char chunk[TAIL_MAX];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return -errno;
		}
		if (ctm_buf_add(tail, chunk, (size_t)n) < 0) {
			return -ENOMEM;
		}
		if (tail->len > TAIL_MAX) {
			memmove(tail->p, tail->p + tail->len - TAIL_MAX, TAIL_MAX + 1);
			tail->len = TAIL_MAX;
		}
	}
	return 0;
}

static int wait_for(pid_t pid, int *ret_status)
{
	while (waitpid(pid, ret_status, 0) < 0) {
		if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int run(char *const argv[], struct ctm_buf *tail, int *ret_status)
{
	CLEANUP_CLOSE int out = -1;
	int ends[2];
	pid_t pid = 0;
	int waited;
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		return -errno;
	}
	out = ends[0];
	r = spawn(argv, ends[1], &pid);
	(void)close(ends[1]);
	if (r < 0) {
		return r;
	}
	r = read_tail(out, tail);
	/* what it still has to say, it says to nobody */
	ctm_closep(&out);
	waited = wait_for(pid, ret_status);
	return r < 0 ? r : waited;
}

/* The last line that is not empty. */
static const char *last_line(struct ctm_buf *text)
{
	char *line;

	while (text->len > 0 && strchr(" \t\r\n", text->p[text->len - 1])) {
		text->p[--text->len] = '\0';
	}
	line = text->p ? strrchr(text->p, '\n') : NULL;
	return line ? line + 1 : text->p ? text->p : "";
}

static int failed(struct ctm_buf *tail, int status, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf said = { 0 };
	const char *line = last_line(tail);
	int r;

	if (ctm_path_escape(&said, line, strlen(line)) < 0) {
		return ctm_err_nomem(err);
	}
	if (WIFEXITED(status)) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"the snapshot failed, pct ended with status %d: %s",
				WEXITSTATUS(status), said.p ? said.p : "");
	} else {
		r = ctm_err_set(err, CTM_REFUSED, 0, "the snapshot failed, signal %d ended pct",
				WTERMSIG(status));
	}
	ctm_err_hint(err,
		     "nothing was changed; not every storage can take snapshots: repeat without "
		     "--snapshot after a backup");
	return r;
}

int ctm_snapshot_take(const struct ctm_host *host, unsigned int vmid,
		      char ret[static CTM_SNAPSHOT_NAME_MAX], struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf pct = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf tail = { 0 };
	char verb[] = "snapshot";
	char option[] = "--description";
	char text[] = "before a repair of owners by ctmend";
	char name[CTM_SNAPSHOT_NAME_MAX];
	char id[16];
	int status = 0;
	int r = find_pct(host, &pct, err);

	if (r < 0) {
		return r;
	}
	r = make_name(name);
	if (r == 0) {
		char *const argv[] = { pct.p, verb, id, name, option, text, NULL };

		(void)snprintf(id, sizeof(id), "%u", vmid);
		r = run(argv, &tail, &status);
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_REFUSED, r, "the snapshot failed, '%s': %s", pct.p,
				   strerrordesc_np(-r));
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		return failed(&tail, status, err);
	}
	CTM_DEBUG("snapshot", "CT %u: %s", vmid, name);
	(void)snprintf(ret, CTM_SNAPSHOT_NAME_MAX, "%s", name);
	return 0;
}
