/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hook's session, watched. */
#include "session/watched.h"

#include <errno.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "run/state.h"
#include "session/deadline.h"
#include "session/watch.h"
#include "target/dirvol.h"
#include "target/hostfile.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

/* --- a note of an earlier hook ---------------------------------------------------------------- */

/* What a note would say of the present; the volume's root comes later. */
static int describe(const struct ctm_exam *exam, struct ctm_hooknote *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_hooknote note = { .has_root = false, .time = (int64_t)time(NULL) };
	struct sha256_ctx ctx;
	int r = 0;

	if (ctm_state_name(exam->target->kind, exam->target->name, &name) < 0 ||
	    name.len >= sizeof(note.target)) {
		return ctm_err_nomem(err);
	}
	memcpy(note.target, name.p, name.len + 1);
	if (exam->target->config_path) {
		r = ctm_hostfile_read(exam->target->config_path, &text, err);
	}
	if (r < 0) {
		return r;
	}
	sha256_init(&ctx);
	sha256_update(&ctx, text.len, (const uint8_t *)(text.p ? text.p : ""));
	sha256_digest(&ctx, sizeof(note.config), note.config);
	*ret = note;
	return 0;
}

static int refuse(const struct ctm_hooknote *left, const struct ctm_exam *exam, struct ctm_err *err)
{
	const time_t at = (time_t)left->time;
	char when[32] = "an earlier start";
	struct tm tm;

	if (localtime_r(&at, &tm)) {
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	}
	(void)ctm_err_set(err, CTM_REFUSED, EALREADY,
			  "not looked at: the time of the hook did not do at %s, and neither the "
			  "configuration nor the root directory has changed since",
			  when);
	ctm_err_hint(err, "stop it and use: ctmend repair %s", exam->target->name);
	return -EALREADY;
}

/* With the root, when it is known. */
static int compare(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		   struct ctm_hooknote *seen, const struct timespec *root, struct ctm_err *err)
{
	struct ctm_hooknote left;
	bool holds;

	if (root) {
		seen->has_root = true;
		seen->root = *root;
	}
	holds = ctm_hooknote_read(&opts->host, seen->target, &left) == 0 &&
		ctm_hooknote_holds(&left, seen, seen->time);
	opts->watch->seen(seen, holds && !root, opts->watch->arg);
	return holds && root ? refuse(&left, exam, err) : 0;
}

int ctm_watched_located(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			struct ctm_err *err)
{
	struct ctm_hooknote seen = { .has_root = false };
	int r = opts->watch ? describe(exam, &seen, err) : 0;

	return r < 0 || !opts->watch ? r : compare(exam, opts, &seen, NULL, err);
}

int ctm_watched_begin(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_err *err)
{
	CLEANUP(ctm_dirvol_done) struct ctm_dirvol dir = { .fd = -1 };
	struct ctm_hooknote seen = { .has_root = false };
	struct ctm_inode inode;
	int r;

	if (!opts->watch || exam->volume->kind != CTM_VOLUME_DIR) {
		return 0;
	}
	r = describe(exam, &seen, err);
	if (r < 0) {
		return r;
	}
	/* why it cannot be opened is for others to say */
	if (ctm_dirvol_open(exam->volume, &dir, NULL) < 0 || ctm_rootfd_stat(dir.fd, &inode) < 0) {
		return 0;
	}
	return compare(exam, opts, &seen, &inode.ctime, err);
}

int ctm_watched_attached(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			 const struct ctm_attached *att, struct ctm_err *err)
{
	struct ctm_hooknote seen = { .has_root = false };
	struct ctm_inode inode;
	int r;

	if (!opts->watch || exam->volume->kind == CTM_VOLUME_DIR) {
		return 0;
	}
	r = ctm_rootfd_stat(ctm_attached_root(att), &inode);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at the root of the volume");
	}
	r = describe(exam, &seen, err);
	return r < 0 ? r : compare(exam, opts, &seen, &inode.ctime, err);
}

/* --- what must be waited for ------------------------------------------------------------------ */

void ctm_watched_hold(const struct ctm_exam *exam, const struct ctm_session_opts *opts)
{
	const struct ctm_volume *vol = exam->volume;
	CLEANUP_FREE char *path = NULL;

	if (!opts->watch || vol->kind == CTM_VOLUME_DIR || vol->kind == CTM_VOLUME_BIND) {
		return;
	}
	/* as sysfs tells it */
	path = vol->path ? realpath(vol->path, NULL) : NULL;
	opts->watch->holds(path ? path : "", opts->watch->arg);
}

void ctm_watched_let_go(const struct ctm_session_opts *opts)
{
	if (opts->watch) {
		opts->watch->holds(NULL, opts->watch->arg);
	}
}

int ctm_watched_time(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		     struct ctm_err *err)
{
	if (!opts->deadline || ctm_clock_ms() <= ctm_deadline_write(opts->deadline)) {
		return 0;
	}
	(void)ctm_err_set(err, CTM_REFUSED, ECANCELED,
			  "not repaired: half of the hook's %u s were over before it was known "
			  "what there is to do",
			  (unsigned int)(opts->deadline->total / 1000));
	ctm_err_hint(err, "stop it and use: ctmend repair %s", exam->target->name);
	return -ECANCELED;
}

void ctm_watched_forget(const struct ctm_exam *exam, const struct ctm_session_opts *opts)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };

	/* hooks look at the rootfs; what becomes of their notes is their watch's to say */
	if (!opts->hook && exam->volume == &exam->target->volumes.v[0] &&
	    ctm_state_name(exam->target->kind, exam->target->name, &name) == 0) {
		ctm_hooknote_remove(&opts->host, name.p);
	}
}
