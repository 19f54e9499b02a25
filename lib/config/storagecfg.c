/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/pve/storage.cfg, read as Proxmox VE reads it.
 */
#include "config/storagecfg.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

#define SECTIONS_MAX 1000
#define PROPS_MAX    200 /* of one section */
#define LOCAL_PATH   "/var/lib/vz"

struct parser {
	struct ctm_storagecfg *cfg;
	struct ctm_lines lines;
};

static int warn_line(struct parser *parser, const char *why, struct ctm_bytes line)
{
	return ctm_config_warn(&parser->cfg->warnings, &parser->cfg->arena, parser->lines.no,
			       "%s: %.*s", why, line.len > 160 ? 160 : (int)line.len,
			       (const char *)line.p);
}

static const char *keep(struct parser *parser, struct ctm_bytes in)
{
	return ctm_arena_dup(&parser->cfg->arena, in.p, in.len);
}

static size_t word_len(struct ctm_bytes in)
{
	const char *p = in.p;
	size_t len = 0;

	while (len < in.len && !ctm_is_space(p[len])) {
		len++;
	}
	return len;
}

/*
 * The next line that is no comment; a line that Perl takes for false ("" and "0") counts as
 * empty.
 */
static bool next_line(struct parser *parser, struct ctm_bytes *ret, bool *ret_empty)
{
	struct ctm_bytes line;

	while (ctm_lines_next(&parser->lines, &line)) {
		if (!ctm_bytes_starts(ctm_trim_front(line), "#")) {
			*ret = line;
			*ret_empty = line.len == 0 || ctm_bytes_is(line, "0");
			return true;
		}
	}
	return false;
}

bool ctm_storage_id_valid(struct ctm_bytes id)
{
	const char *p = id.p;

	if (id.len < 2) {
		return false;
	}
	for (size_t i = 0; i < id.len; i++) {
		bool letter = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z');
		bool digit = p[i] >= '0' && p[i] <= '9';
		bool mark = p[i] == '-' || p[i] == '_' || p[i] == '.';

		if (i == 0          ? !letter :
		    i + 1 == id.len ? !(letter || digit) :
				      !(letter || digit || mark)) {
			return false;
		}
	}
	return true;
}

/*
 * "type: id". The type ends at the last colon that leaves a word behind it, so "a:b: c" has the
 * type "a:b"; and "dir:one" needs no blank.
 */
static bool split_header(struct ctm_bytes line, struct ctm_bytes *ret_type,
			 struct ctm_bytes *ret_id)
{
	struct ctm_bytes text = ctm_trim_back(line);
	const char *p = text.p;
	size_t first = word_len(text);

	for (size_t colon = first; colon > 1; colon--) {
		struct ctm_bytes id;

		if (p[colon - 1] != ':') {
			continue;
		}
		id = ctm_trim_front((struct ctm_bytes){ p + colon, text.len - colon });
		if (id.len > 0 && word_len(id) == id.len) {
			*ret_type = (struct ctm_bytes){ p, colon - 1 };
			*ret_id = id;
			return true;
		}
	}
	return false;
}

static int add_prop(struct parser *parser, struct ctm_storage *storage, struct ctm_bytes line)
{
	struct ctm_bytes text = ctm_trim(line);
	struct ctm_bytes key = { text.p, word_len(text) };
	struct ctm_bytes value = ctm_trim_front(
		(struct ctm_bytes){ (const char *)text.p + key.len, text.len - key.len });
	struct ctm_storage_prop one = { .line = parser->lines.no };

	if (text.len == 0 || text.p == line.p) {
		return warn_line(parser, "ignored", line);
	}
	one.key = keep(parser, key);
	one.value = keep(parser, value);
	if (!one.key || !one.value) {
		return -ENOMEM;
	}
	if (ctm_storage_prop(storage, one.key)) {
		return warn_line(parser, "a second value, ignored", line);
	}
	if (storage->props.n >= PROPS_MAX) {
		return warn_line(parser, "one property too many, ignored", line);
	}
	return ctm_vec_push(&storage->props, &one);
}

/* The later of two sections with one id counts. */
static int add_storage(struct ctm_storagecfg *cfg, struct ctm_storage *storage)
{
	for (size_t i = 0; i < cfg->storages.n; i++) {
		if (strcmp(cfg->storages.v[i].id, storage->id) == 0) {
			ctm_vec_done(&cfg->storages.v[i].props);
			cfg->storages.v[i] = *storage;
			return 0;
		}
	}
	if (cfg->storages.n >= SECTIONS_MAX) {
		return -E2BIG;
	}
	return ctm_vec_push(&cfg->storages, storage);
}

static int parse_section(struct parser *parser, struct ctm_bytes type, struct ctm_bytes id)
{
	const bool skip = !ctm_storage_id_valid(id);
	struct ctm_storage one = { .line = parser->lines.no };
	struct ctm_bytes line;
	bool empty;
	int r = 0;

	if (skip) {
		r = warn_line(parser, "not a storage id, section skipped", id);
	}
	while (r == 0 && next_line(parser, &line, &empty) && !empty) {
		if (!skip) {
			r = add_prop(parser, &one, line);
		}
	}
	if (r == 0 && !skip) {
		char *lower = ctm_arena_dup(&parser->cfg->arena, type.p, type.len);

		one.id = keep(parser, id);
		one.type = lower;
		for (char *p = lower; p && *p; p++) {
			if (*p >= 'A' && *p <= 'Z') {
				*p = (char)(*p - 'A' + 'a');
			}
		}
		r = one.id && lower ? add_storage(parser->cfg, &one) : -ENOMEM;
	}
	if (r < 0 || skip) {
		ctm_vec_done(&one.props);
	}
	return r;
}

/* PVE drops slashes at the end before it compares. */
static bool is_local_path(const char *path)
{
	size_t len = sizeof(LOCAL_PATH) - 1;

	return strncmp(path, LOCAL_PATH, len) == 0 && path[len + strspn(path + len, "/")] == '\0';
}

/*
 * "local" is there on every node and the same on all: a definition that is missing, has another
 * type or another path gives way to the built-in one, and it has no list of nodes.
 */
static int fix_local(struct ctm_storagecfg *cfg)
{
	static const struct ctm_storage_prop builtin[] = {
		{ .key = "path", .value = LOCAL_PATH },
		{ .key = "content", .value = "backup,images,iso,rootdir,snippets,vztmpl" },
	};
	struct ctm_storage fresh = { .id = "local", .type = "dir" };
	const struct ctm_storage *old = ctm_storagecfg_find(cfg, "local");
	const char *path = old ? ctm_storage_prop(old, "path") : NULL;
	int r = 0;

	if (old && path && strcmp(old->type, "dir") == 0 && is_local_path(path)) {
		fresh.line = old->line;
		for (size_t i = 0; i < old->props.n && r == 0; i++) {
			if (strcmp(old->props.v[i].key, "nodes") != 0) {
				r = ctm_vec_push(&fresh.props, &old->props.v[i]);
			}
		}
	} else {
		for (size_t i = 0; i < ARRAY_LEN(builtin) && r == 0; i++) {
			r = ctm_vec_push(&fresh.props, &builtin[i]);
		}
	}
	if (r == 0) {
		r = add_storage(cfg, &fresh);
	}
	if (r < 0) {
		ctm_vec_done(&fresh.props);
	}
	return r;
}

int ctm_storagecfg_parse(struct ctm_bytes text, struct ctm_storagecfg *ret, struct ctm_err *err)
{
	struct parser parser = { .cfg = ret, .lines = { .text = text } };
	struct ctm_bytes line;
	bool empty;
	int r;

	r = ctm_lines_check(text, err);
	if (r < 0) {
		return r;
	}
	while (r == 0 && next_line(&parser, &line, &empty)) {
		struct ctm_bytes type;
		struct ctm_bytes id;

		if (empty) {
			continue;
		}
		r = split_header(line, &type, &id) ? parse_section(&parser, type, id) :
						     warn_line(&parser, "ignored", line);
	}
	if (r == 0) {
		r = fix_local(ret);
	}
	if (r == -E2BIG) {
		return ctm_err_set(err, CTM_REFUSED, E2BIG, "line %u: more than %d storages",
				   parser.lines.no, SECTIONS_MAX);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

void ctm_storagecfg_done(struct ctm_storagecfg *cfg)
{
	for (size_t i = 0; i < cfg->storages.n; i++) {
		ctm_vec_done(&cfg->storages.v[i].props);
	}
	ctm_vec_done(&cfg->storages);
	ctm_vec_done(&cfg->warnings);
	ctm_arena_done(&cfg->arena);
}

const struct ctm_storage *ctm_storagecfg_find(const struct ctm_storagecfg *cfg, const char *id)
{
	for (size_t i = 0; i < cfg->storages.n; i++) {
		if (strcmp(cfg->storages.v[i].id, id) == 0) {
			return &cfg->storages.v[i];
		}
	}
	return NULL;
}

const char *ctm_storage_prop(const struct ctm_storage *storage, const char *key)
{
	for (size_t i = 0; i < storage->props.n; i++) {
		if (strcmp(storage->props.v[i].key, key) == 0) {
			return storage->props.v[i].value;
		}
	}
	return NULL;
}

bool ctm_storage_flag(const struct ctm_storage *storage, const char *key)
{
	const char *value = ctm_storage_prop(storage, key);

	return value &&
	       (value[0] == '\0' ||
		ctm_bool_word((struct ctm_bytes){ .p = value, .len = strlen(value) }) == 1);
}
