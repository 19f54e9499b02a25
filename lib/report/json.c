/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report for programs.
 */
#include "report/json.h"

#include <errno.h>
#include <jansson.h>
#include <nettle/base64.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "base/version.h"
#include "report/groups.h"
#include "report/json_parts.h"

struct ctm_json {
	json_t *root;
	json_t *targets;
	json_t *changes; /* collected, NULL: none since the last target */
};

struct ctm_json *ctm_json_new(const char *command)
{
	struct ctm_json *json = calloc(1, sizeof(*json));

	if (!json) {
		return NULL;
	}
	json->targets = json_array();
	json->root = json_pack("{s:i, s:s, s:s, s:O}", "schema", CTM_JSON_SCHEMA, "ctmend",
			       ctm_version, "command", command, "targets", json->targets);
	if (!json->root) {
		ctm_json_free(json);
		return NULL;
	}
	return json;
}

void ctm_json_free(struct ctm_json *json)
{
	if (json) {
		json_decref(json->changes);
		json_decref(json->targets);
		json_decref(json->root);
		free(json);
	}
}

static json_t *groups_json(const struct ctm_plan *plan)
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

		for (size_t k = 0; k < g->ids.n; k++) {
			json_array_append_new(ids,
					      json_pack("{s:s, s:I, s:I}", "kind",
							g->ids.v[k].kind == CTM_UID ? "uid" : "gid",
							"id", (json_int_t)g->ids.v[k].id, "inodes",
							(json_int_t)g->ids.v[k].n));
		}
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:I, s:s, s:o}", "code", info->code, "severity",
					ctm_json_severity(info->severity), "inodes",
					(json_int_t)g->n, "title", info->title, "ids", ids));
	}
	ctm_groups_done(&groups);
	return list;
}

static json_t *action_json(const struct ctm_action *act)
{
	json_t *one = json_pack("{s:s, s:s, s:o, s:I}", "action",
				act->kind == CTM_ACT_SET ? "set" : "remove", "cause",
				ctm_finding_info(act->cause)->code, "before",
				ctm_json_state(&act->before), "nlink", (json_int_t)act->nlink);

	if (!one || ctm_json_path(one, act->path, act->path_len) < 0) {
		json_decref(one);
		return NULL;
	}
	if (act->kind == CTM_ACT_SET) {
		json_object_set_new(one, "after", ctm_json_state(&act->after));
		if (act->attr) {
			json_object_set_new(one, "flags",
					    json_sprintf("%s%s",
							 act->attr & CTM_ATTR_IMMUTABLE ? "i" : "",
							 act->attr & CTM_ATTR_APPEND ? "a" : ""));
		}
	} else {
		json_object_set_new(one, "size", json_integer((json_int_t)act->size));
		json_object_set_new(one, "sha256", ctm_json_hex(act->sha256, sizeof(act->sha256)));
	}
	return one;
}

static int add_plan(json_t *one, const struct ctm_exam *exam)
{
	const struct ctm_plan *plan = exam->plan;
	json_t *findings = json_array();
	json_t *actions = json_array();
	int r = 0;

	for (size_t i = 0; i < plan->findings.n; i++) {
		r |= json_array_append_new(findings, ctm_json_finding(plan, &plan->findings.v[i]));
	}
	for (size_t i = 0; i < plan->actions.n; i++) {
		r |= json_array_append_new(actions, action_json(&plan->actions.v[i]));
	}
	r |= json_object_set_new(one, "inodes", json_integer((json_int_t)plan->totals.inodes));
	r |= json_object_set_new(one, "volume_inodes",
				 json_integer((json_int_t)plan->volume.inodes));
	r |= json_object_set_new(one, "clean", json_boolean(!ctm_plan_has_work(plan)));
	r |= json_object_set_new(one, "repairable",
				 json_boolean(!plan->refuse_tree && !plan->refuse_held));
	r |= json_object_set_new(one, "digest", json_string(exam->digest));
	r |= json_object_set_new(one, "groups", groups_json(plan));
	r |= json_object_set_new(one, "findings", findings);
	r |= json_object_set_new(one, "actions", actions);
	return r ? -ENOMEM : 0;
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

static int add_done(json_t *one, const struct ctm_done *done)
{
	const struct ctm_outcome *run = &done->run;
	int r = 0;

	r |= json_object_set_new(one, "run", run->run[0] ? json_string(run->run) : json_null());
	r |= json_object_set_new(one, "done", json_integer((json_int_t)run->counts.done));
	r |= json_object_set_new(one, "failed", results_json(run));
	r |= json_object_set_new(one, "finished", json_boolean(!run->unfinished));
	if (done->left) {
		r |= json_object_set_new(one, "left", groups_json(done->left));
	}
	return r ? -ENOMEM : 0;
}

int ctm_json_report(struct ctm_json *json, const struct ctm_report *rep)
{
	const struct ctm_exam *exam;
	json_t *notes;
	json_t *one;
	int r = 0;

	if (!json) {
		return 0;
	}
	exam = rep->exam;
	notes = json_array();
	for (size_t i = 0; i < exam->notes.n; i++) {
		r |= json_array_append_new(notes, ctm_json_text(exam->notes.v[i],
								strlen(exam->notes.v[i])));
	}
	one = json_pack("{s:o, s:o, s:s, s:s, s:b, s:o, s:o}", "target",
			ctm_json_text(rep->name, strlen(rep->name)), "volume",
			ctm_json_text(exam->volume->id, strlen(exam->volume->id)), "key",
			exam->volume->key, "fstype", exam->fstype, "running", exam->running,
			"idmap", ctm_json_idmap(exam->volume->map), "notes", notes);
	if (r || !one) {
		json_decref(one);
		return -ENOMEM;
	}
	if (exam->plan) {
		r = add_plan(one, exam);
	}
	if (r == 0 && rep->done) {
		r = add_done(one, rep->done);
	}
	if (r == 0 && rep->snapshot &&
	    json_object_set_new(one, "snapshot", json_string(rep->snapshot))) {
		r = -ENOMEM;
	}
	if (r < 0) {
		json_decref(one);
		return r;
	}
	return json_array_append_new(json->targets, one) ? -ENOMEM : 0;
}

int ctm_json_add(struct ctm_json *json, json_t *one)
{
	if (!json) {
		json_decref(one);
		return 0;
	}
	return json_array_append_new(json->targets, one) ? -ENOMEM : 0;
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
		enum ctm_entry_kind kind;
		const char *word;
		bool before;
		bool after;
	} kinds[] = {
		{ CTM_ENTRY_SET, "set", true, true },
		{ CTM_ENTRY_REMOVE, "remove", true, false },
		{ CTM_ENTRY_RESTORE, "restore", false, true },
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

int ctm_json_change(struct ctm_json *json, const struct ctm_entry *entry)
{
	return json ? ctm_json_collect(json, ctm_json_entry(entry)) : 0;
}

int ctm_json_preview(struct ctm_json *json, const char *name, const char *run,
		     const struct ctm_outcome *left)
{
	return !json ? 0 :
		       ctm_json_add(json, json_pack("{s:o, s:s, s:o, s:o}", "target",
						    ctm_json_text(name, strlen(name)), "run", run,
						    "actions", ctm_json_collected(json), "failed",
						    results_json(left)));
}

int ctm_json_error(struct ctm_json *json, const char *name, const char *key,
		   const struct ctm_err *err)
{
	json_t *one;

	if (!json) {
		return 0;
	}
	one = json_pack("{s:o, s:o}", "target", ctm_json_text(name, strlen(name)), "error",
			ctm_json_err(err));
	if (one && key && json_object_set_new(one, "key", ctm_json_text(key, strlen(key)))) {
		json_decref(one);
		return -ENOMEM;
	}
	return json_array_append_new(json->targets, one) ? -ENOMEM : 0;
}

int ctm_json_print(struct ctm_json *json, FILE *out)
{
	int r;

	if (!json) {
		return 0;
	}
	r = json_dumpf(json->root, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) == 0 ? 0 : -EIO;
	fputc('\n', out);
	ctm_json_free(json);
	return r;
}
