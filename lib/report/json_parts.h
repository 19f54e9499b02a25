/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recurring parts of the JSON report. All return NULL, or -ENOMEM, when memory runs out.
 */
#ifndef CTM_REPORT_JSON_PARTS_H
#define CTM_REPORT_JSON_PARTS_H

#include <jansson.h>

#include "plan/plan.h"
#include "report/json.h"
#include "run/outcome.h"

/** A string with what must not reach a terminal escaped; JSON's own escaping comes on top. */
json_t *ctm_json_text(const char *text, size_t len);
json_t *ctm_json_hex(const void *p, size_t len);
/** Sets "path", and "path_raw" where escaping changed it; paths start with a slash. */
int ctm_json_path(json_t *object, const char *path, size_t len);
/** Strings "u 0 100000 65536", uids first. An absent map gives null. */
json_t *ctm_json_idmap(const struct ctm_idmap *map);
/**
 * type, mode (octal string), uid, gid, and acl, default, cap where there are any (text and raw
 * base64).
 */
json_t *ctm_json_state(const struct ctm_inode_state *state);
/** "info", "choice", "fault" */
const char *ctm_json_severity(enum ctm_severity severity);
/** One finding of the plan. */
json_t *ctm_json_finding(const struct ctm_plan *plan, const struct ctm_finding *f);
/** code, message, next. */
json_t *ctm_json_err(const struct ctm_err *err);
/** One entry that could not be done. */
json_t *ctm_json_result(const struct ctm_result *res);
/** An entry of a record: "action" ("set", "remove", "restore"), the path, "before", "after". */
json_t *ctm_json_entry(const struct ctm_entry *entry);

/* --- the document --- */

/** Where a target is written that is too long to be an object. */
struct ctm_json_stream *ctm_json_stream(struct ctm_json *json);

/*
 * These take the object over, and accept NULL for what could not be made (-ENOMEM); without a
 * document they do nothing (0).
 */

/** Adds one target. */
int ctm_json_add(struct ctm_json *json, json_t *one);
/** Keeps one for the array that ctm_json_collected() gives, which begins a new one. */
int ctm_json_collect(struct ctm_json *json, json_t *one);
json_t *ctm_json_collected(struct ctm_json *json);

#endif
