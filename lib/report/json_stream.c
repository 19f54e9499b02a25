/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A JSON document that is written as it is made.
 */
#include "report/json_stream.h"

#include <errno.h>
#include <string.h>

static void new_line(struct ctm_json_stream *s)
{
	fputc('\n', s->out);
	for (unsigned int i = 0; i < s->depth; i++) {
		fputc(' ', s->out);
	}
}

/* What stands before a value: a comma, its line, its key. */
static void begin(struct ctm_json_stream *s, const char *key)
{
	if (s->depth > 0) {
		if (s->level[s->depth - 1].any) {
			fputc(',', s->out);
		}
		s->level[s->depth - 1].any = true;
		new_line(s);
	}
	if (key) {
		fprintf(s->out, "\"%s\": ", key);
	}
}

void ctm_json_open(struct ctm_json_stream *s, const char *key, char what)
{
	begin(s, key);
	fputc(what, s->out);
	s->level[s->depth].end = what == '{' ? '}' : ']';
	s->level[s->depth].any = false;
	s->depth++;
}

void ctm_json_close(struct ctm_json_stream *s)
{
	s->depth--;
	if (s->level[s->depth].any) {
		new_line(s);
	}
	fputc(s->level[s->depth].end, s->out);
}

/* A line of the value stands deeper here. In strings line feeds are escaped. */
static int write_part(const char *buf, size_t size, void *arg)
{
	struct ctm_json_stream *s = arg;

	while (size > 0) {
		const char *end = memchr(buf, '\n', size);
		size_t len = end ? (size_t)(end - buf) : size;

		(void)fwrite(buf, 1, len, s->out);
		if (end) {
			new_line(s);
			len++;
		}
		buf += len;
		size -= len;
	}
	return 0;
}

void ctm_json_put(struct ctm_json_stream *s, const char *key, json_t *value)
{
	if (!value) {
		s->r = -ENOMEM;
	}
	if (s->r == 0) {
		begin(s, key);
		if (json_dump_callback(value, write_part, s,
				       JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY)) {
			s->r = -ENOMEM;
		}
	}
	json_decref(value);
}

void ctm_json_put_members(struct ctm_json_stream *s, json_t *object)
{
	const char *key;
	json_t *value;

	if (!object) {
		s->r = -ENOMEM;
	}
	json_object_foreach(object, key, value)
	{
		ctm_json_put(s, key, json_incref(value));
	}
	json_decref(object);
}
