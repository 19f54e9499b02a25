/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is recorded, for programs.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/history.h"
#include "report/json_parts.h"
#include "report/json_stream.h"

static json_t *text(const char *s)
{
	return ctm_json_text(s, strlen(s));
}

static json_t *run_or_null(const char *run)
{
	return run[0] ? text(run) : json_null();
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static int add_known(json_t *one, const struct ctm_run_info *run)
{
	int r = 0;

	r |= json_object_set_new(one, "kind",
				 json_string(run->kind == CTM_RUN_UNDO ? "undo" : "repair"));
	r |= json_object_set_new(one, "user", text(run->user));
	r |= json_object_set_new(one, "version", text(run->version));
	r |= json_object_set_new(one, "volume", text(run->volume));
	r |= json_object_set_new(one, "hook", json_boolean(run->hook));
	r |= json_object_set_new(one, "undoes", run_or_null(run->undoes));
	r |= json_object_set_new(one, "part", json_boolean(run->part));
	r |= json_object_set_new(one, "undone_by", run_or_null(run->undone_by));
	r |= json_object_set_new(one, "digest", text(run->digest));
	r |= json_object_set_new(one, "entries", number(run->set + run->removed + run->restored));
	r |= json_object_set_new(one, "removed", number(run->removed));
	r |= json_object_set_new(one, "restored", number(run->restored));
	if (!run->open) {
		r |= json_object_set_new(one, "done", number(run->counts.done));
		r |= json_object_set_new(one, "already", number(run->counts.already));
		r |= json_object_set_new(one, "left",
					 number(run->counts.conflicts + run->counts.failed));
	}
	return r;
}

static json_t *run_json(const struct ctm_run_info *run)
{
	json_t *one = json_object();
	int r = 0;

	r |= json_object_set_new(one, "run", text(run->name));
	r |= json_object_set_new(one, "state", json_string(ctm_run_status_word(run->status)));
	r |= json_object_set_new(one, "time", json_integer(run->time));
	r |= json_object_set_new(one, "bytes", number(run->bytes));
	if (ctm_run_known(run)) {
		r |= add_known(one, run);
	} else {
		r |= json_object_set_new(one, "problem", text(run->problem));
	}
	if (r) {
		json_decref(one);
		return NULL;
	}
	return one;
}

int ctm_json_history(struct ctm_json *json, const struct ctm_kept *kept)
{
	json_t *aside;
	json_t *runs;
	int r = 0;

	if (!json) {
		return 0;
	}
	if (kept->err.code != CTM_OK) {
		return ctm_json_error(json, kept->name, NULL, &kept->err);
	}
	runs = json_array();
	for (size_t i = 0; i < kept->history.runs.n; i++) {
		r |= json_array_append_new(runs, run_json(&kept->history.runs.v[i]));
	}
	aside = json_array();
	for (size_t i = 0; i < kept->aside.names.n; i++) {
		r |= json_array_append_new(aside, text(kept->aside.names.v[i]));
	}
	if (r) {
		json_decref(runs);
		json_decref(aside);
		return -ENOMEM;
	}
	return ctm_json_add(json, json_pack("{s:o, s:o, s:o}", "target", text(kept->name), "runs",
					    runs, "set_aside", aside));
}

int ctm_json_set_aside(struct ctm_json *json, const char *target, const char *run, const char *path)
{
	return !json ? 0 :
		       ctm_json_add(json, json_pack("{s:o, s:{s:s, s:o}}", "target", text(target),
						    "set_aside", "run", run, "path", text(path)));
}

int ctm_json_forget(struct ctm_json *json, const struct ctm_run_info *run)
{
	return ctm_json_collect(json, json ? run_json(run) : NULL);
}

int ctm_json_forgotten(struct ctm_json *json, const char *target, bool dry)
{
	return !json ? 0 :
		       ctm_json_add(json, json_pack("{s:o, s:o, s:b}", "target", text(target),
						    "forgotten", ctm_json_collected(json),
						    "dry_run", dry));
}

static json_t *failure_json(const struct ctm_run_failure *f)
{
	return json_pack("{s:s, s:o, s:i}", "result", f->errnum ? "failed" : "conflict", "what",
			 text(f->what), "errno", f->errnum);
}

static json_t *change_json(const struct ctm_entry *entry, const struct ctm_run_failure *failure)
{
	json_t *change = ctm_json_entry(entry);
	int bad = json_object_set_new(change, "cause",
				      entry->cause < CTM_F_N ?
					      json_string(ctm_finding_info(entry->cause)->code) :
					      json_null());

	bad |= failure && json_object_set_new(change, "failed", failure_json(failure));
	if (bad) {
		json_decref(change);
		return NULL;
	}
	return change;
}

int ctm_json_run(struct ctm_json *json, const char *target, struct ctm_run_view *view,
		 struct ctm_err *err)
{
	const struct ctm_run_header *header = ctm_reader_header(view->reader);
	struct ctm_json_stream *s;
	struct ctm_entry entry;
	uint64_t index;
	int r;

	if (!json) {
		return 0;
	}
	s = ctm_json_stream(json);
	ctm_json_open(s, NULL, '{');
	ctm_json_put_members(s, run_json(&view->info));
	ctm_json_put(s, "target", text(target));
	ctm_json_put(s, "map", text(header->map));
	ctm_json_put(s, "options", text(header->options));
	ctm_json_open(s, "actions", '[');
	ctm_reader_rewind(view->reader);
	while ((r = ctm_reader_next(view->reader, &entry, &index, err)) == 1 && s->r == 0) {
		ctm_json_put(s, NULL, change_json(&entry, ctm_reader_failure(view->reader, index)));
	}
	ctm_json_close(s);
	ctm_json_close(s);
	return r < 0 ? r : s->r < 0 ? ctm_err_nomem(err) : 0;
}
