/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attach a volume for reading. */
#include "session/reading.h"

#include "base/cleanup.h"
#include "session/examine.h"

void ctm_reading_done(struct ctm_reading *reading)
{
	ctm_attached_freep(&reading->att);
	ctm_guard_freep(&reading->guard);
}

int ctm_reading_begin(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_reading *ret, struct ctm_err *err)
{
	const struct ctm_guard_opts guard_opts = { .mode = CTM_GUARD_READ, .wait = opts->wait };
	CLEANUP(ctm_reading_done) struct ctm_reading reading = { 0 };
	int r = ctm_guard_take(&opts->host, exam->target, exam->volume, &guard_opts, &reading.guard,
			       err);

	if (r < 0) {
		return r;
	}
	exam->running = exam->running || ctm_guard_in_container(reading.guard);
	r = ctm_attach_guarded(reading.guard, &opts->host, exam->target, exam->volume, &reading.att,
			       err);
	if (r < 0) {
		return r;
	}
	exam->guard = reading.guard;
	*ret = (struct ctm_reading){
		.guard = TAKE_PTR(reading.guard),
		.att = TAKE_PTR(reading.att),
	};
	return 0;
}

int ctm_reading_end(struct ctm_exam *exam, struct ctm_reading *reading, struct ctm_err *err)
{
	bool running = false;
	int r = ctm_guard_running(exam->target, &running, err);

	exam->guard = NULL;
	if (r < 0) {
		return r;
	}
	if (running != exam->running) {
		r = ctm_exam_note(
			exam,
			running ? "the container was started while it was looked at: this may be "
				  "the state before the start, after it, or between" :
				  "the container was stopped while it was looked at: this may be "
				  "the state before the stop, after it, or between");
		exam->running = running;
	}
	ctm_attached_freep(&reading->att);
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	return ctm_exam_unguard(exam, TAKE_PTR(reading->guard), err);
}
