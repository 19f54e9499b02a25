/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recurring parts of the JSON report. All return NULL, or -ENOMEM, when memory runs out.
 */
#ifndef CTM_REPORT_JSON_PARTS_H
#define CTM_REPORT_JSON_PARTS_H

#include <jansson.h>

#include "plan/plan.h"
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

#endif
