/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * After a repair or an undo: what was done, what failed, what is left.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "report/groups.h"
#include "report/report.h"

#define RESULTS_SHOWN 10

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static int put_note(FILE *out, const char *note)
{
	CLEANUP(ctm_buf_done) struct ctm_buf line = { 0 };
	int r = ctm_text_escape(&line, note, strlen(note));

	if (r == 0) {
		fprintf(out, "note: %s\n", line.p);
	}
	return r;
}

static int put_result(FILE *out, const struct ctm_result *res)
{
	CLEANUP(ctm_buf_done) struct ctm_buf line = { 0 };
	int r = ctm_path_show(&line, res->path, res->path_len);

	if (r < 0) {
		return r;
	}
	fprintf(out, "  /%s: ", line.p ? line.p : "");
	if (res->kind == CTM_RESULT_CONFLICT) {
		fprintf(out, "left alone: %s", res->what);
	} else {
		fprintf(out, "%s: %s", res->what, strerror(res->err));
	}
	if (res->n > 1) {
		fprintf(out, " (and %" PRIu64 " more in the same place)", res->n - 1);
	}
	fputc('\n', out);
	return 0;
}

static int put_results(FILE *out, const struct ctm_report *rep)
{
	const struct ctm_outcome *run = &rep->done->run;
	size_t shown = rep->verbose || run->results.n <= RESULTS_SHOWN ? run->results.n :
									 RESULTS_SHOWN;
	uint64_t more = run->results.n - shown + run->untold;
	int r = 0;

	for (size_t i = 0; i < shown && r == 0; i++) {
		r = put_result(out, &run->results.v[i]);
	}
	if (more) {
		fprintf(out, "  ... and %" PRIu64 " more\n", more);
	}
	return r;
}

/* What is there after all: by cause, one line each. */
static int put_left(FILE *out, const struct ctm_plan *plan)
{
	struct ctm_groups groups;
	int r = ctm_groups_make(plan, &groups);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < groups.v.n; i++) {
		const struct ctm_group *g = &groups.v.v[i];
		const struct ctm_finding_info *info = ctm_finding_info(g->code);
		const struct ctm_finding *f = &plan->findings.v[g->first];
		CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

		if (f->path && ctm_path_show(&path, f->path, f->path_len) < 0) {
			r = -ENOMEM;
			break;
		}
		fprintf(out, "%s %s %" PRIu64 ": %s",
			info->severity == CTM_INFO ? "note:" : "left:", info->code, g->n,
			info->title);
		if (f->path) {
			fprintf(out, " (/%s%s%s%s)", path.p ? path.p : "", f->err ? ": " : "",
				f->err ? strerror(f->err) : "", g->n > 1 ? ", ..." : "");
		}
		fputc('\n', out);
		if (info->next) {
			fprintf(out, "      next: %s\n", info->next);
		}
	}
	ctm_groups_done(&groups);
	return r;
}

static bool has_volumes(const struct ctm_exam *exam)
{
	size_t n = 0;

	for (size_t i = 0; i < exam->target->volumes.n; i++) {
		n += !exam->target->volumes.v[i].host;
	}
	return n > 1;
}

static int put_volume(FILE *out, const struct ctm_exam *exam)
{
	CLEANUP(ctm_buf_done) struct ctm_buf id = { 0 };
	int r = ctm_path_escape(&id, exam->volume->id, strlen(exam->volume->id));

	if (r == 0) {
		fprintf(out, "%s %s\n", exam->volume->key, id.p);
	}
	return r;
}

/* A rollback takes the container back as a whole, whatever was done to it in the meantime. */
static void put_snapshot_hint(FILE *out, const struct ctm_report *rep)
{
	fprintf(out,
		"snapshot %s was taken before: 'pct rollback %s %s' brings the whole container "
		"back to it, 'pct delsnapshot %s %s' removes it\n",
		rep->snapshot, rep->name, rep->snapshot, rep->name, rep->snapshot);
}

static int put_undo_hint(FILE *out, const struct ctm_report *rep)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	int r = ctm_path_escape(&name, rep->name, strlen(rep->name));

	if (r == 0) {
		/* the newest one may soon be one of another volume */
		const bool named = rep->done->run.undoes[0] || has_volumes(rep->done->exam);

		fprintf(out, "'ctmend undo %s%s%s' takes it back\n", name.p, named ? " " : "",
			named ? rep->done->run.run : "");
	}
	return r;
}

/* A call failed half way, and what was done could not be put back either. */
static int put_unfinished(FILE *out, const struct ctm_report *rep)
{
	CLEANUP(ctm_buf_done) struct ctm_buf name = { 0 };
	const struct ctm_done *done = rep->done;
	const struct ctm_outcome *run = done->run.unfinished      ? &done->run :
					done->finished.unfinished ? &done->finished :
								    NULL;
	int r = run ? ctm_path_escape(&name, rep->name, strlen(rep->name)) : 0;

	if (r == 0 && run) {
		if (run->stopped) {
			fprintf(out,
				"stopped as asked: run %s is not finished; 'ctmend repair %s' "
				"goes on with it, 'ctmend undo %s' takes it back\n",
				run->run, name.p, name.p);
		} else {
			fprintf(out, "run %s is not finished: 'ctmend repair %s' tries again\n",
				run->run, name.p);
		}
	}
	return r;
}

int ctm_report_done(FILE *out, const struct ctm_report *rep)
{
	const struct ctm_done *done = rep->done;
	const struct ctm_outcome *run = &done->run;
	const struct ctm_plan *now = done->left  ? done->left :
				     run->run[0] ? NULL :
						   done->exam->plan;
	int r = has_volumes(done->exam) ? put_volume(out, done->exam) : 0;

	for (size_t i = 0; i < done->exam->notes.n && r == 0; i++) {
		r = put_note(out, done->exam->notes.v[i]);
	}
	if (r < 0) {
		return r;
	}
	if (done->finished.run[0]) {
		fprintf(out,
			"run %s had been interrupted; %s it: %" PRIu64 " changes made, %" PRIu64
			" were made before\n",
			done->finished.run, done->finished.unfinished ? "went on with" : "finished",
			done->finished.counts.done, done->finished.counts.already);
	}
	if (run->run[0]) {
		fprintf(out, "run %s%s%s: %" PRIu64 " change%s made", run->run,
			run->undoes[0] ? ", takes back " : "", run->undoes, run->counts.done,
			plural(run->counts.done));
		if (run->counts.conflicts || run->counts.failed) {
			fprintf(out, ", %" PRIu64 " left",
				run->counts.conflicts + run->counts.failed);
		}
		fputc('\n', out);
	} else if (run->undoes[0]) {
		fprintf(out, "of run %s there is nothing to take back\n", run->undoes);
	} else if (now && !done->finished.run[0] && !ctm_plan_has_work(now)) {
		fputs("nothing to repair\n", out);
	}
	r = put_results(out, rep);
	if (r == 0 && now) {
		r = put_left(out, now);
	}
	if (r == 0 && done->left && !ctm_plan_has_work(done->left)) {
		fprintf(out, "verified: every id belongs to the container's map\n");
	}
	if (r == 0) {
		r = put_unfinished(out, rep);
	}
	if (r == 0 && run->run[0] && !run->stopped) {
		r = put_undo_hint(out, rep);
	}
	if (r == 0 && rep->snapshot) {
		put_snapshot_hint(out, rep);
	}
	return r;
}
