/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report for programs.
 */
#include "report/json.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "base/version.h"
#include "report/groups.h"
#include "report/histogram.h"
#include "report/json_parts.h"
#include "report/json_stream.h"

struct ctm_json {
	struct ctm_json_stream s;
	json_t *changes; /* collected, NULL: none since the last target */
	bool previewing; /* the target of an undo's preview is open */
};

#define DEPTH_TARGETS 2 /* the document, and its array of targets */

struct ctm_json *ctm_json_new(const char *command, FILE *out)
{
	struct ctm_json *json = calloc(1, sizeof(*json));

	if (!json) {
		return NULL;
	}
	json->s.out = out;
	ctm_json_open(&json->s, NULL, '{');
	ctm_json_put(&json->s, "schema", json_integer(CTM_JSON_SCHEMA));
	ctm_json_put(&json->s, "ctmend", json_string(ctm_version));
	ctm_json_put(&json->s, "command", json_string(command));
	ctm_json_open(&json->s, "targets", '[');
	return json;
}

void ctm_json_free(struct ctm_json *json)
{
	if (json) {
		json_decref(json->changes);
		free(json);
	}
}

struct ctm_json_stream *ctm_json_stream(struct ctm_json *json)
{
	return &json->s;
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *lines_json(const char *lines)
{
	json_t *list = json_array();

	for (; lines && *lines; lines += strcspn(lines, "\n") + 1) {
		if (json_array_append_new(list, json_stringn(lines, strcspn(lines, "\n")))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Of a group; d may be NULL: nothing was diagnosed. */
static int add_cause(json_t *one, const struct ctm_diagnosed *d)
{
	if (!d) {
		return 0;
	}
	return json_object_set_new(one, "cause", json_string(ctm_cause_word(d->cause))) ||
			       json_object_set_new(one, "evidence", text_or_null(d->evidence)) ||
			       json_object_set_new(one, "note", text_or_null(d->note)) ||
			       json_object_set_new(one, "lines", lines_json(d->lines)) ?
		       -ENOMEM :
		       0;
}

static json_t *diagnosis_json(const struct ctm_diagnosis *d)
{
	return json_pack("{s:s, s:s, s:s?}", "cause", ctm_cause_word(d->cause), "text", d->text,
			 "next", d->next);
}

static json_t *groups_json(const struct ctm_plan *plan, const struct ctm_diagnosis *diagnosis)
{
	struct ctm_groups groups;
	json_t *list = json_array();

	if (ctm_groups_make(plan, &groups) < 0) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < groups.v.n; i++) {
		const struct ctm_group *g = &groups.v.v[i];
		const struct ctm_finding_info *info = ctm_finding_info(g->code);
		json_t *ids = json_array();
		json_t *one;

		for (size_t k = 0; k < g->ids.n; k++) {
			json_array_append_new(ids,
					      json_pack("{s:s, s:I, s:I}", "kind",
							g->ids.v[k].kind == CTM_UID ? "uid" : "gid",
							"id", (json_int_t)g->ids.v[k].id, "inodes",
							(json_int_t)g->ids.v[k].n));
		}
		one = json_pack("{s:s, s:s, s:I, s:s, s:o}", "code", info->code, "severity",
				ctm_json_severity(info->severity), "inodes", (json_int_t)g->n,
				"title", info->title, "ids", ids);
		if (!one || add_cause(one, ctm_diagnosis_of(diagnosis, g->code)) < 0 ||
		    json_array_append(list, one)) {
			json_decref(one);
			json_decref(list);
			ctm_groups_done(&groups);
			return NULL;
		}
		json_decref(one);
	}
	ctm_groups_done(&groups);
	return list;
}

static json_t *action_json(const struct ctm_action *act)
{
	static const char *const words[] = {
		[CTM_ACT_SET] = "set",
		[CTM_ACT_REMOVE] = "remove",
		[CTM_ACT_RESTORE] = "restore",
	};
	json_t *one = json_pack("{s:s, s:s, s:I}", "action", words[act->kind], "cause",
				ctm_finding_info(act->cause)->code, "nlink",
				(json_int_t)act->nlink);
	int r = one ? ctm_json_path(one, act->path, act->path_len) : -ENOMEM;

	if (r == 0 && act->kind != CTM_ACT_RESTORE) {
		r = json_object_set_new(one, "before", ctm_json_state(&act->before));
	}
	if (r == 0 && act->kind != CTM_ACT_REMOVE) {
		r = json_object_set_new(one, "after", ctm_json_state(&act->after));
	}
	if (r == 0 && act->kind == CTM_ACT_SET && act->attr) {
		r = json_object_set_new(one, "flags",
					json_sprintf("%s%s",
						     act->attr & CTM_ATTR_IMMUTABLE ? "i" : "",
						     act->attr & CTM_ATTR_APPEND ? "a" : ""));
	}
	if (r == 0 && act->kind != CTM_ACT_SET) {
		r = json_object_set_new(one, "size", json_integer((json_int_t)act->size));
		r |= json_object_set_new(one, "sha256",
					 ctm_json_hex(act->sha256, sizeof(act->sha256)));
	}
	if (r) {
		json_decref(one);
		return NULL;
	}
	return one;
}

static void put_number(struct ctm_json_stream *s, const char *key, uint64_t number)
{
	ctm_json_put(s, key, json_integer((json_int_t)number));
}

static void put_plan(struct ctm_json_stream *s, const struct ctm_exam *exam)
{
	const struct ctm_plan *plan = exam->plan;

	put_number(s, "inodes", plan->totals.inodes);
	put_number(s, "volume_inodes", plan->volume.inodes);
	ctm_json_put(s, "clean", json_boolean(!ctm_plan_has_work(plan)));
	ctm_json_put(s, "repairable", json_boolean(!plan->refuse_tree && !plan->refuse_held));
	ctm_json_put(s, "digest", json_string(exam->digest));
	if (exam->diagnosis.text) {
		ctm_json_put(s, "diagnosis", diagnosis_json(&exam->diagnosis));
	}
	ctm_json_put(s, "histogram", ctm_histogram_json(plan));
	ctm_json_put(s, "groups", groups_json(plan, &exam->diagnosis));
	ctm_json_open(s, "findings", '[');
	for (size_t i = 0; i < plan->findings.n && s->r == 0; i++) {
		ctm_json_put(s, NULL, ctm_json_finding(plan, &plan->findings.v[i]));
		ctm_spill_pass(plan->spill);
	}
	ctm_json_close(s);
	ctm_json_open(s, "actions", '[');
	for (size_t i = 0; i < plan->actions.n && s->r == 0; i++) {
		ctm_json_put(s, NULL, action_json(&plan->actions.v[i]));
		ctm_spill_pass(plan->spill);
	}
	ctm_json_close(s);
}

static json_t *results_json(const struct ctm_outcome *run)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->results.n; i++) {
		if (json_array_append_new(list, ctm_json_result(&run->results.v[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static void put_done(struct ctm_json_stream *s, const struct ctm_done *done)
{
	static const struct ctm_diagnosis none = { 0 };
	const struct ctm_outcome *run = &done->run;

	ctm_json_put(s, "run", run->run[0] ? json_string(run->run) : json_null());
	put_number(s, "done", run->counts.done);
	ctm_json_put(s, "failed", results_json(run));
	ctm_json_put(s, "finished", json_boolean(!run->unfinished && !done->finished.unfinished));
	if (done->left) {
		ctm_json_put(s, "left", groups_json(done->left, &none));
	}
}

static json_t *notes_json(const struct ctm_exam *exam)
{
	json_t *list = json_array();

	for (size_t i = 0; i < exam->notes.n; i++) {
		const char *note = exam->notes.v[i];

		if (json_array_append_new(list, ctm_json_text(note, strlen(note)))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

int ctm_json_report(struct ctm_json *json, const struct ctm_report *rep)
{
	struct ctm_json_stream *s;
	const struct ctm_exam *exam;

	if (!json) {
		return 0;
	}
	s = &json->s;
	exam = rep->exam;
	ctm_json_open(s, NULL, '{');
	ctm_json_put(s, "target", ctm_json_text(rep->name, strlen(rep->name)));
	ctm_json_put(s, "volume", ctm_json_text(exam->volume->id, strlen(exam->volume->id)));
	ctm_json_put(s, "key", json_string(exam->volume->key));
	ctm_json_put(s, "fstype", json_string(exam->fstype));
	ctm_json_put(s, "running", json_boolean(exam->running));
	ctm_json_put(s, "idmap", ctm_json_idmap(exam->volume->map));
	ctm_json_put(s, "notes", notes_json(exam));
	if (exam->plan) {
		put_plan(s, exam);
	}
	if (rep->done) {
		put_done(s, rep->done);
	}
	if (rep->snapshot) {
		ctm_json_put(s, "snapshot", json_string(rep->snapshot));
	}
	ctm_json_close(s);
	return s->r;
}

int ctm_json_add(struct ctm_json *json, json_t *one)
{
	if (!json) {
		json_decref(one);
		return 0;
	}
	ctm_json_put(&json->s, NULL, one);
	return json->s.r;
}

int ctm_json_collect(struct ctm_json *json, json_t *one)
{
	if (!json) {
		json_decref(one);
		return 0;
	}
	if (!json->changes) {
		json->changes = json_array();
	}
	return json_array_append_new(json->changes, one) ? -ENOMEM : 0;
}

json_t *ctm_json_collected(struct ctm_json *json)
{
	json_t *list = json->changes ? json->changes : json_array();

	json->changes = NULL;
	return list;
}

json_t *ctm_json_entry(const struct ctm_entry *e)
{
	static const struct {
		const char *word;
		enum ctm_entry_kind kind;
		bool before;
		bool after;
	} kinds[] = {
		{ "set", CTM_ENTRY_SET, true, true },
		{ "remove", CTM_ENTRY_REMOVE, true, false },
		{ "restore", CTM_ENTRY_RESTORE, false, true },
		{ "writable", CTM_ENTRY_WRITABLE, false, false },
		{ "readonly", CTM_ENTRY_READONLY, false, false },
	};
	json_t *one = json_object();
	size_t k = 0;
	int r;

	while (kinds[k].kind != e->kind) {
		k++;
	}
	r = json_object_set_new(one, "action", json_string(kinds[k].word));
	r |= ctm_json_path(one, e->ref.path, e->ref.path_len);
	if (kinds[k].before) {
		r |= json_object_set_new(one, "before", ctm_json_state(&e->before));
	}
	if (kinds[k].after) {
		r |= json_object_set_new(one, "after", ctm_json_state(&e->after));
	}
	if (r) {
		json_decref(one);
		return NULL;
	}
	return one;
}

/* An undo that is shown is written as it is found out. */
static void begin_preview(struct ctm_json *json, const char *name, const char *run)
{
	if (!json->previewing) {
		json->previewing = true;
		ctm_json_open(&json->s, NULL, '{');
		ctm_json_put(&json->s, "target", ctm_json_text(name, strlen(name)));
		ctm_json_put(&json->s, "run", json_string(run));
		ctm_json_open(&json->s, "actions", '[');
	}
}

int ctm_json_change(struct ctm_json *json, const char *name, const char *run,
		    const struct ctm_entry *entry)
{
	if (!json) {
		return 0;
	}
	begin_preview(json, name, run);
	ctm_json_put(&json->s, NULL, ctm_json_entry(entry));
	return json->s.r;
}

int ctm_json_preview(struct ctm_json *json, const char *name, const char *run,
		     const struct ctm_outcome *left)
{
	if (!json) {
		return 0;
	}
	begin_preview(json, name, run);
	ctm_json_close(&json->s);
	ctm_json_put(&json->s, "failed", results_json(left));
	ctm_json_close(&json->s);
	json->previewing = false;
	return json->s.r;
}

/* Closes what an error has left open, so that the document stays one. */
static void close_target(struct ctm_json *json)
{
	while (json->s.depth > DEPTH_TARGETS) {
		ctm_json_close(&json->s);
	}
	json->previewing = false;
}

int ctm_json_error(struct ctm_json *json, const char *name, const char *key,
		   const struct ctm_err *err)
{
	struct ctm_json_stream *s;

	if (!json) {
		return 0;
	}
	close_target(json);
	s = &json->s;
	ctm_json_open(s, NULL, '{');
	ctm_json_put(s, "target", ctm_json_text(name, strlen(name)));
	ctm_json_put(s, "error", ctm_json_err(err));
	if (key) {
		ctm_json_put(s, "key", ctm_json_text(key, strlen(key)));
	}
	ctm_json_close(s);
	return s->r;
}

int ctm_json_end(struct ctm_json *json)
{
	int r;

	if (!json) {
		return 0;
	}
	close_target(json);
	ctm_json_close(&json->s);
	ctm_json_close(&json->s);
	fputc('\n', json->s.out);
	r = json->s.r < 0 ? json->s.r : ferror(json->s.out) ? -EIO : 0;
	ctm_json_free(json);
	return r;
}
