/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configuration of a plain LXC container, read as liblxc reads it.
 */
#include "config/lxcconf.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/lines.h"

/* A file that is being read; one that it includes lies on top of it. */
struct frame {
	const char *path;
	struct ctm_lxcconf_source source;
	struct ctm_lines lines;
	size_t next_file; /* of a folder */
};

struct reader {
	struct ctm_lxcconf *conf;
	ctm_lxcconf_read_fn read;
	void *arg;
	struct frame stack[CTM_LXCCONF_DEPTH];
	size_t depth;
	unsigned int files;
};

void ctm_lxcconf_source_done(struct ctm_lxcconf_source *source)
{
	for (size_t i = 0; i < source->files.n; i++) {
		free(source->files.v[i]);
	}
	ctm_vec_done(&source->files);
	ctm_buf_done(&source->text);
}

static int enter(struct reader *reader, const char *path, struct ctm_err *err)
{
	struct frame *frame;
	int r;

	if (reader->depth == CTM_LXCCONF_DEPTH || ++reader->files > CTM_LXCCONF_FILES) {
		return ctm_err_set(err, CTM_REFUSED, ELOOP, "'%s': lxc.include has no end", path);
	}
	frame = &reader->stack[reader->depth];
	*frame = (struct frame){ 0 };
	frame->path = ctm_arena_dup(&reader->conf->arena, path, strlen(path));
	if (!frame->path) {
		return ctm_err_nomem(err);
	}
	reader->depth++;
	r = reader->read(reader->arg, frame->path, &frame->source, err);
	if (r < 0) {
		return r;
	}
	frame->lines.text = (struct ctm_bytes){ frame->source.text.p, frame->source.text.len };
	if (ctm_lines_check(frame->lines.text, err) < 0) {
		return ctm_err_wrap(err, "'%s'", frame->path);
	}
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct ctm_bytes trim_blanks(struct ctm_bytes in)
{
	const char *p = in.p;

	while (in.len > 0 && is_blank(*p)) {
		p++;
		in.len--;
	}
	while (in.len > 0 && is_blank(p[in.len - 1])) {
		in.len--;
	}
	in.p = p;
	return in;
}

static struct ctm_bytes unquote(struct ctm_bytes in)
{
	const char *p = in.p;

	if (in.len > 1 && (p[0] == '"' || p[0] == '\'') && p[in.len - 1] == p[0]) {
		return (struct ctm_bytes){ p + 1, in.len - 2 };
	}
	return in;
}

static int take_line(struct reader *reader, struct ctm_bytes line, struct ctm_err *err)
{
	const struct frame *frame = &reader->stack[reader->depth - 1];
	struct ctm_lxcconf_entry one = { .file = frame->path, .line = frame->lines.no };
	struct ctm_bytes text = trim_blanks(line);
	struct ctm_bytes key = { .p = text.p };
	struct ctm_bytes value;
	const char *eq;

	if (!ctm_bytes_starts(text, "lxc.")) {
		return 0;
	}
	eq = memchr(text.p, '=', text.len);
	if (!eq) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' line %u: no '=' behind the key: '%.*s'", one.file,
				   one.line, text.len > 80 ? 80 : (int)text.len,
				   (const char *)text.p);
	}
	key.len = (size_t)(eq - (const char *)text.p);
	value = (struct ctm_bytes){ eq + 1, text.len - key.len - 1 };
	key = trim_blanks(key);
	value = unquote(trim_blanks(value));
	one.key = ctm_arena_dup(&reader->conf->arena, key.p, key.len);
	one.value = ctm_arena_dup(&reader->conf->arena, value.p, value.len);
	if (!one.key || !one.value) {
		return ctm_err_nomem(err);
	}
	if (strcmp(one.key, "lxc.include") == 0) {
		if (one.value[0] != '\0' && enter(reader, one.value, err) < 0) {
			return ctm_err_wrap(err, "'%s' line %u", one.file, one.line);
		}
		return 0;
	}
	return ctm_vec_push(&reader->conf->entries, &one) < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_lxcconf_read(const char *path, ctm_lxcconf_read_fn read, void *arg, struct ctm_lxcconf *ret,
		     struct ctm_err *err)
{
	struct reader state = { .conf = ret, .read = read, .arg = arg };
	struct reader *reader = &state;
	int r;

	r = enter(reader, path, err);
	while (reader->depth > 0 && r == 0) {
		struct frame *frame = &reader->stack[reader->depth - 1];
		struct ctm_bytes line;

		if (frame->next_file < frame->source.files.n) {
			r = enter(reader, frame->source.files.v[frame->next_file++], err);
		} else if (ctm_lines_next(&frame->lines, &line)) {
			r = take_line(reader, line, err);
		} else {
			ctm_lxcconf_source_done(&frame->source);
			reader->depth--;
		}
	}
	while (reader->depth > 0) {
		ctm_lxcconf_source_done(&reader->stack[--reader->depth].source);
	}
	return r;
}

void ctm_lxcconf_done(struct ctm_lxcconf *conf)
{
	ctm_vec_done(&conf->entries);
	ctm_arena_done(&conf->arena);
}

const struct ctm_lxcconf_entry *ctm_lxcconf_find(const struct ctm_lxcconf *conf, const char *key)
{
	for (size_t i = conf->entries.n; i > 0; i--) {
		if (strcmp(conf->entries.v[i - 1].key, key) == 0) {
			return &conf->entries.v[i - 1];
		}
	}
	return NULL;
}
