/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A JSON document that is written as it is made: a part of it at a time is an object in memory.
 *
 * The bytes are those of json_dumpf() with JSON_INDENT(1) and JSON_PRESERVE_ORDER for the whole.
 *
 *	ctm_json_open(&s, NULL, '{')
 *	ctm_json_put(&s, "schema", json_integer(1))
 *	ctm_json_open(&s, "targets", '[')
 *	ctm_json_put(&s, NULL, json_string("one"))
 *	ctm_json_close(&s)
 *	ctm_json_close(&s)
 */
#ifndef CTM_REPORT_JSON_STREAM_H
#define CTM_REPORT_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define CTM_JSON_DEPTH 8 /* of what ctm_json_open() opens */

/** Zero-initialise but for out. */
struct ctm_json_stream {
	FILE *out; /* its errors are its owner's to look for */
	unsigned int depth;
	struct {
		char end;
		bool any;
	} level[CTM_JSON_DEPTH];
	int r; /* -ENOMEM once a part could not be made: the document is of no use */
};

/** what: '{' or '['. key: of a member of an object, plain ASCII; NULL in an array and on top. */
void ctm_json_open(struct ctm_json_stream *s, const char *key, char what);
/** Ends what was opened last. */
void ctm_json_close(struct ctm_json_stream *s);
/** Writes a value and takes it over; NULL: it could not be made. */
void ctm_json_put(struct ctm_json_stream *s, const char *key, json_t *value);
/** Writes the members of an object, whose keys are plain ASCII, into the one that is open. */
void ctm_json_put_members(struct ctm_json_stream *s, json_t *object);

#endif
