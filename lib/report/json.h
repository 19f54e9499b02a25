/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report for programs: one JSON document per run of ctmend (jansson), written as it is made.
 *
 *	{ "schema": 1, "command": "check", "targets": [ { ... }, ... ] }
 *
 * A target object is of one volume. It has "target" and either "error" (with "code": "refused",
 * "failed", "usage", "message", "next") or the volume, the map, "inodes", "digest", "groups",
 * "findings" and "actions". Paths are escaped as in text; "path_raw" (base64 of the bytes) is
 * there whenever that changed them.
 */
#ifndef CTM_REPORT_JSON_H
#define CTM_REPORT_JSON_H

#include "report/report.h"

#define CTM_JSON_SCHEMA 1

struct ctm_json;

/**
 * Begins the document. NULL when memory runs out; every other function accepts NULL and then does
 * nothing (0). Once one has failed (-ENOMEM) the document is of no use.
 */
struct ctm_json *ctm_json_new(const char *command, FILE *out);
void ctm_json_free(struct ctm_json *json);
/** Adds one target. -ENOMEM. */
int ctm_json_report(struct ctm_json *json, const struct ctm_report *rep);
/** Ends a target that was not written to its end. key: of the volume that was named, or NULL. */
int ctm_json_error(struct ctm_json *json, const char *name, const char *key,
		   const struct ctm_err *err);
/** One change that an undo of this run would make; ctm_json_preview() ends the target. -ENOMEM. */
int ctm_json_change(struct ctm_json *json, const char *name, const char *run,
		    const struct ctm_entry *entry);
/**
 * Adds one target: an undo that was not made. "run" is what it would take back, "actions" are as
 * in a plan (and "restore": a file comes back, as "after" says), "failed" is what would be left.
 */
int ctm_json_preview(struct ctm_json *json, const char *name, const char *run,
		     const struct ctm_outcome *left);
/** Ends the document with a newline and frees it. -ENOMEM, -EIO. */
int ctm_json_end(struct ctm_json *json);

#endif
