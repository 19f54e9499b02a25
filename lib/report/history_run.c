/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one run has changed, from its record, as a diff.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "report/difflines.h"
#include "report/history.h"

#define LEFT_SHOWN 10

struct view {
	struct ctm_difflines d;
	const char *target;
	struct ctm_run_view *run;
	const struct ctm_run_header *header;
	bool verbose;
	uint64_t left;
	uint64_t n[CTM_F_N + 1]; /* entries of each cause; the last: one that is not known */
};

static int add_safe(struct ctm_buf *out, const char *text)
{
	return ctm_path_escape(out, text, strlen(text));
}

/* The words of a record may be any bytes. */
static int put_about(struct view *v)
{
	const struct ctm_run_info *info = &v->run->info;
	struct ctm_buf *line = &v->d.line;
	const time_t time = (time_t)info->time;
	char when[40] = "an unknown time";
	struct tm tm;
	int r;

	if (localtime_r(&time, &tm)) {
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &tm);
	}
	r = ctm_buf_addf(line, "note: %s %s%s%s at %s by ",
			 info->kind == CTM_RUN_UNDO ? "undo" : "repair", info->name,
			 info->undoes[0] ? ", takes back " : "", info->undoes, when);
	r = r < 0 ? r : add_safe(line, v->header->user);
	r = r < 0 ? r : ctm_buf_addf(line, "%s, ctmend ", info->hook ? " (hook)" : "");
	r = r < 0 ? r : add_safe(line, v->header->version);
	r = r < 0 ? r : ctm_buf_addf(line, ": %s", ctm_run_status_word(info->status));
	if (r == 0 && info->undone_by[0]) {
		r = ctm_buf_addf(line, " by %s", info->undone_by);
	}
	if (r < 0) {
		return r;
	}
	ctm_diff_line(&v->d, CTM_DIFF_NOTE);
	if (!v->header->options[0]) {
		return 0;
	}
	r = ctm_buf_addf(line, "note: options ");
	r = r < 0 ? r : add_safe(line, v->header->options);
	if (r == 0) {
		ctm_diff_line(&v->d, CTM_DIFF_NOTE);
	}
	return r;
}

static int put_header(struct view *v)
{
	struct ctm_buf *line = &v->d.line;
	struct ctm_identity id = { 0 };
	int r = ctm_identity_parse((struct ctm_bytes){ .p = v->header->identity,
						       .len = strlen(v->header->identity) },
				   &id);

	r = r == -ENOMEM ? r : ctm_buf_addf(line, "--- ");
	r = r < 0 ? r : add_safe(line, v->target);
	r = r < 0 ? r : ctm_buf_addf(line, " %s before        ", v->run->info.volume);
	r = r < 0 ? r : add_safe(line, id.volume_id);
	if (r < 0) {
		return r;
	}
	ctm_diff_line(&v->d, CTM_DIFF_HEAD);
	r = ctm_buf_addf(line, "+++ ");
	r = r < 0 ? r : add_safe(line, v->target);
	r = r < 0 ? r : ctm_buf_addf(line, " %s after         map ", v->run->info.volume);
	r = r < 0 ? r : add_safe(line, v->header->map);
	if (r == 0) {
		ctm_diff_line(&v->d, CTM_DIFF_HEAD);
	}
	return r;
}

/* Calls fn for every entry of the record, from the first. */
static int each(struct view *v, int (*fn)(struct view *, const struct ctm_entry *, uint64_t, int),
		int arg, struct ctm_err *err)
{
	struct ctm_entry entry;
	uint64_t index;
	int r;

	ctm_reader_rewind(v->run->reader);
	while ((r = ctm_reader_next(v->run->reader, &entry, &index, err)) == 1) {
		if (fn(v, &entry, index, arg) < 0) {
			return ctm_err_nomem(err);
		}
	}
	return r;
}

static int count(struct view *v, const struct ctm_entry *entry, uint64_t index, int arg)
{
	(void)index;
	(void)arg;
	v->n[entry->cause] += !ctm_entry_is_subvol(entry->kind);
	return 0;
}

static int put_subvol(struct view *v, const struct ctm_entry *entry, uint64_t index, int arg)
{
	(void)index;
	(void)arg;
	return entry->kind != CTM_ENTRY_WRITABLE ?
		       0 :
		       ctm_diff_subvol(&v->d, entry->ref.path, entry->ref.path_len,
				       "made writable for this, and read-only again");
}

static int put_entry(struct view *v, const struct ctm_entry *entry, uint64_t index, int cause)
{
	(void)index;
	return (int)entry->cause == cause && !ctm_entry_is_subvol(entry->kind) ?
		       ctm_diff_entry(&v->d, entry) :
		       0;
}

static int put_hunks(struct view *v, struct ctm_err *err)
{
	int r = each(v, count, 0, err);

	if (r == 0) {
		r = each(v, put_subvol, 0, err);
	}
	for (int cause = 0; cause <= CTM_F_N && r == 0; cause++) {
		const struct ctm_finding_info *info =
			cause < CTM_F_N ? ctm_finding_info((enum ctm_finding_code)cause) : NULL;

		if (v->n[cause] == 0) {
			continue;
		}
		if (ctm_buf_addf(&v->d.line, "@@ %s: %s (%" PRIu64 ") @@",
				 info ? info->code : "unknown",
				 info ? info->title : "a cause that this version does not know",
				 v->n[cause]) < 0) {
			return ctm_err_nomem(err);
		}
		ctm_diff_line(&v->d, CTM_DIFF_HUNK);
		r = each(v, put_entry, cause, err);
	}
	return r;
}

/* What the run itself said of it then. */
static int put_left(struct view *v, const struct ctm_entry *entry, uint64_t index, int arg)
{
	const struct ctm_run_failure *f = ctm_reader_failure(v->run->reader, index);
	struct ctm_buf *line = &v->d.line;
	int r;

	(void)arg;
	if (!f || (v->left++ >= LEFT_SHOWN && !v->verbose)) {
		return 0;
	}
	r = ctm_buf_addf(line, "note: left: /");
	r = r < 0 ? r : ctm_path_show(line, entry->ref.path, entry->ref.path_len);
	r = r < 0 ? r : ctm_buf_addf(line, ": ");
	r = r < 0 ? r : add_safe(line, f->what);
	if (r == 0 && f->errnum) {
		r = ctm_buf_addf(line, ": %s", strerror(f->errnum));
	}
	if (r == 0) {
		ctm_diff_line(&v->d, CTM_DIFF_NOTE);
	}
	return r;
}

static int put_rest(struct view *v, struct ctm_err *err)
{
	const struct ctm_run_info *info = &v->run->info;
	uint64_t n = info->set + info->removed + info->restored;
	int r = each(v, put_left, 0, err);

	if (r == 0 && !v->verbose && v->left > LEFT_SHOWN) {
		fprintf(v->d.out, "note: and %" PRIu64 " more\n", v->left - LEFT_SHOWN);
	}
	if (r == 0 && v->run->info.kind == CTM_RUN_UNDO) {
		fprintf(v->d.out, "undo of %s  %" PRIu64 " change%s\n", v->run->info.undoes, n,
			n == 1 ? "" : "s");
	} else if (r == 0) {
		fprintf(v->d.out, "plan %s  %" PRIu64 " change%s\n", v->run->info.digest, n,
			n == 1 ? "" : "s");
	}
	return r;
}

int ctm_report_run(FILE *out, const char *target, struct ctm_run_view *view, bool verbose,
		   bool color, struct ctm_err *err)
{
	struct view v = {
		.d = { .out = out, .color = color },
		.target = target,
		.run = view,
		.header = ctm_reader_header(view->reader),
		.verbose = verbose,
	};
	int r = put_about(&v);

	r = r < 0 ? r : put_header(&v);
	r = r < 0 ? ctm_err_nomem(err) : put_hunks(&v, err);
	r = r < 0 ? r : put_rest(&v, err);
	ctm_buf_done(&v.d.line);
	return r;
}
