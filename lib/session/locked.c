/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every session that changes a volume does first.
 */
#include "session/locked.h"

#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "run/retain.h"
#include "target/foreign.h"

/* Half a record holds copies of the container's files: it must not lie there for ever. */
static void sweep(const struct ctm_exam *exam, const struct ctm_session_opts *opts)
{
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;

	if (ctm_state_name(exam->target->kind, exam->target->name, &dir) == 0) {
		/* to open it is enough; who cannot does not need to */
		(void)ctm_state_open_kept(&opts->host, dir.p, 0, &state, NULL);
	}
}

int ctm_locked_begin(const char *name, const struct ctm_session_opts *opts, struct ctm_exam **exam,
		     struct ctm_guard **ret, struct ctm_err *err)
{
	CLEANUP(ctm_exam_freep) struct ctm_exam *fresh = NULL;
	CLEANUP(ctm_guard_freep) struct ctm_guard *guard = NULL;
	const struct ctm_guard_opts guard_opts = {
		.mode = opts->starting ? CTM_GUARD_HOOK : CTM_GUARD_WRITE,
		.wait = opts->wait,
		.notice = opts->notice,
		.notice_arg = opts->callback_arg,
		.unlocked = opts->starting && opts->starting->unlocked,
	};
	struct ctm_session_opts again = *opts;
	struct ctm_pin pin = { .set = false };
	int r = *exam ? 0 : ctm_exam_new(name, opts, exam, err);

	if (r == 0) {
		r = ctm_foreign_refuse(&opts->host, (*exam)->target, (*exam)->volume, err);
	}
	if (r == 0) {
		r = ctm_guard_take(&opts->host, (*exam)->target, (*exam)->volume, &guard_opts,
				   &guard, err);
	}
	if (r == 0) {
		pin = (*exam)->volume->pin;
		again.pin = &pin;
		r = ctm_exam_new(name, &again, &fresh, err);
	}
	if (r == 0) {
		r = ctm_foreign_refuse(&opts->host, fresh->target, fresh->volume, err);
	}
	if (r == 0) {
		r = ctm_guard_recheck(guard, fresh->target, fresh->volume, err);
	}
	if (r != 0) {
		return r;
	}
	sweep(fresh, opts);
	ctm_exam_free(*exam);
	*exam = TAKE_PTR(fresh);
	*ret = TAKE_PTR(guard);
	return 0;
}

int ctm_locked_state(const struct ctm_exam *exam, const struct ctm_session_opts *opts, bool write,
		     struct ctm_state **ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	int r = ctm_state_name(exam->target->kind, exam->target->name, &dir);

	if (r < 0) {
		return r == -ENOMEM ? ctm_err_nomem(err) :
				      ctm_err_set(err, CTM_SYS, r, "'%s'", exam->target->name);
	}
	if (write) {
		return ctm_state_open(&opts->host, dir.p, opts->wait, ret, err);
	}
	r = ctm_state_open_read(&opts->host, dir.p, ret, err);
	if (r != -ENOENT) {
		return r;
	}
	(void)ctm_err_set(err, CTM_REFUSED, ENOENT, "no repair of it is recorded on this host");
	ctm_err_hint(err,
		     "a record stays on the host that made it, under the container's id or the "
		     "path by which the repair was called: ctmend history lists all");
	return r;
}

void ctm_locked_describe(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
			 char user[static 64], struct ctm_run *run)
{
	ctm_run_user(user);
	run->identity = &exam->identity;
	run->map = exam->volume->map;
	run->target = exam->target->name;
	run->volume = exam->volume->key;
	run->user = user;
	run->caller = opts->hook ? "hook" : "";
	run->options = opts->words ? opts->words : "";
	run->stop = opts->stop;
	run->progress = opts->progress;
	run->progress_arg = opts->callback_arg;
}

int ctm_locked_attach(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_attached **ret, struct ctm_err *err)
{
	struct ctm_forecast forecast;
	int r = ctm_attach_forecast(exam->volume, CTM_WRITE, &forecast, err);

	if (r < 0) {
		return r;
	}
	if (forecast.wait && opts->deadline) {
		r = ctm_err_set(
			err, CTM_REFUSED, 0,
			"the file system was not unmounted cleanly: to mount it takes about "
			"%u s, which is too long for a hook",
			forecast.wait);
		ctm_err_hint(err, "stop it and use: ctmend repair %s", exam->target->name);
		return r;
	}
	if (forecast.wait && opts->notice) {
		opts->notice(forecast.note, opts->callback_arg);
	}
	return ctm_attach(&opts->host, exam->volume, CTM_WRITE, ret, err);
}

int ctm_locked_retain(struct ctm_exam *exam, struct ctm_state *state, const struct ctm_outcome *out,
		      struct ctm_err *err)
{
	static const struct ctm_retention keep = { .runs = CTM_RETAIN_RUNS,
						   .days = CTM_RETAIN_DAYS,
						   .lock_runs = CTM_RETAIN_LOCK_RUNS };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err why = { 0 };
	int r;

	if (!out->run[0] || ctm_retain(state, &keep, time(NULL), NULL, NULL, &why) == 0) {
		return 0;
	}
	r = ctm_buf_addf(&text, "old records were not removed: %s", why.msg);
	r = r < 0 ? r : ctm_exam_note(exam, text.p);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_locked_started(struct ctm_exam *exam, const struct ctm_session_opts *opts, bool *ret,
		       struct ctm_err *err)
{
	bool running = false;
	int r;

	/* a path has no container, and who starts one now waits for us */
	if (exam->target->kind == CTM_TARGET_PATH || opts->starting) {
		return 0;
	}
	r = ctm_guard_running(exam->target, &running, err);
	if (r < 0 || !running) {
		return r;
	}
	*ret = true;
	r = ctm_exam_note(exam,
			  "the container was started while its volume was changed: what runs in "
			  "it may have seen files half way, or changed them; stop it, and look "
			  "at it again with: ctmend check");
	return r < 0 ? ctm_err_nomem(err) : 0;
}
