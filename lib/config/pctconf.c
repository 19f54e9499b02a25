/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/pve/lxc/ID.conf, read as Proxmox VE reads it.
 *
 * parse_line() tries the forms in the order in which PVE's parser tries its regular expressions;
 * each take_*() says whether the line has its form.
 */
#include "config/pctconf.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/pctkeys.h"
#include "config/pctvalue.h"

#define SECTIONS_MAX 1000

struct parser {
	struct ctm_pctconf *conf;
	size_t section; /* index of the one that keys go to */
	unsigned int line;
};

/* What became of a line; a negative errno ends the parse. */
enum { NOT_MINE = 0, TAKEN = 1 };

static struct ctm_pctsection *section_now(struct parser *parser)
{
	return &parser->conf->sections.v[parser->section];
}

static const char *keep(struct parser *parser, struct ctm_bytes in)
{
	return ctm_arena_dup(&parser->conf->arena, in.p, in.len);
}

static int warn_line(struct parser *parser, const char *why, struct ctm_bytes line)
{
	return ctm_config_warn(&parser->conf->warnings, &parser->conf->arena, parser->line,
			       "%s: %.*s", why, line.len > 160 ? 160 : (int)line.len,
			       (const char *)line.p);
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

static void section_done(struct ctm_pctsection *section)
{
	ctm_vec_done(&section->keys);
	ctm_vec_done(&section->lxc);
}

/* A section that stands there twice starts anew. */
static int open_section(struct parser *parser, enum ctm_pctsection_kind kind, const char *name)
{
	struct ctm_pctsection one = { .kind = kind, .name = name, .line = parser->line };
	struct ctm_pctconf *conf = parser->conf;
	int r;

	for (size_t i = 0; i < conf->sections.n; i++) {
		struct ctm_pctsection *old = &conf->sections.v[i];

		if (old->kind == kind && strcmp(old->name, name) == 0) {
			section_done(old);
			*old = one;
			parser->section = i;
			return TAKEN;
		}
	}
	if (conf->sections.n > SECTIONS_MAX) {
		return -E2BIG;
	}
	r = ctm_vec_push(&conf->sections, &one);
	if (r < 0) {
		return r;
	}
	parser->section = conf->sections.n - 1;
	return TAKEN;
}

/*
 * "[pve:pending]" in any case; "[name]": a letter, then one or more of letters, digits, "_" and
 * "-"
 */
static int take_header(struct parser *parser, struct ctm_bytes line)
{
	struct ctm_bytes head = ctm_trim_back(line);
	const char *p = head.p;
	const char *name;

	if (ctm_bytes_is_nocase(head, "[pve:pending]")) {
		return open_section(parser, CTM_PCT_PENDING, "");
	}
	if (head.len < 4 || p[0] != '[' || p[head.len - 1] != ']' || !is_name(p[1]) ||
	    is_digit(p[1]) || p[1] == '_' || p[1] == '-') {
		return NOT_MINE;
	}
	for (size_t i = 2; i < head.len - 1; i++) {
		if (!is_name(p[i])) {
			return NOT_MINE;
		}
	}
	name = keep(parser, (struct ctm_bytes){ p + 1, head.len - 2 });
	return name ? open_section(parser, CTM_PCT_SNAPSHOT, name) : -ENOMEM;
}

static int push_lxc(struct parser *parser, struct ctm_bytes key, struct ctm_bytes value)
{
	struct ctm_pctentry one = { .line = parser->line };

	one.key = keep(parser, key);
	one.value = keep(parser, value);
	if (!one.key || !one.value) {
		return -ENOMEM;
	}
	return ctm_vec_push(&section_now(parser)->lxc, &one);
}

static int add_lxc(struct parser *parser, struct ctm_bytes line, struct ctm_bytes key,
		   struct ctm_bytes value)
{
	int r = 0;

	switch (ctm_pctkey_lxc(key)) {
	case CTM_PCTKEY_LXC_VALID:
		r = push_lxc(parser, key, value);
		break;
	case CTM_PCTKEY_LXC_DEPRECATED:
		r = warn_line(parser, "a key of an older LXC", line);
		if (r == 0) {
			r = push_lxc(parser, key, value);
		}
		break;
	case CTM_PCTKEY_LXC_REFUSED:
		r = warn_line(parser, "a key that Proxmox VE writes itself, ignored", line);
		break;
	case CTM_PCTKEY_LXC_UNKNOWN:
		r = warn_line(parser, "unable to parse, ignored", line);
		break;
	}
	return r < 0 ? r : TAKEN;
}

/* "lxc.key: value", where the colon touches the key, and "lxc.key = value" */
static int take_lxc(struct parser *parser, struct ctm_bytes line)
{
	const char *p = line.p;
	struct ctm_bytes key = { .p = p, .len = 4 };
	struct ctm_bytes rest;
	const char *r;

	if (!ctm_bytes_starts(line, "lxc.")) {
		return NOT_MINE;
	}
	while (key.len < line.len && (is_lower(p[key.len]) || is_digit(p[key.len]) ||
				      (p[key.len] != '\0' && strchr("_-.", p[key.len])))) {
		key.len++;
	}
	rest = (struct ctm_bytes){ p + key.len, line.len - key.len };
	if (!ctm_bytes_starts(rest, ":")) {
		rest = ctm_trim_front(rest);
		if (!ctm_bytes_starts(rest, "=")) {
			return NOT_MINE;
		}
	}
	if (key.len == 4) {
		return NOT_MINE;
	}
	r = rest.p;
	return add_lxc(parser, line, key, ctm_trim((struct ctm_bytes){ r + 1, rest.len - 1 }));
}

/* "description: text", which joins the comment lines: nobody here reads it */
static int take_description(struct ctm_bytes line)
{
	static const char prefix[] = "description:";
	struct ctm_bytes rest;

	if (!ctm_bytes_starts(line, prefix)) {
		return NOT_MINE;
	}
	rest = (struct ctm_bytes){ (const char *)line.p + sizeof(prefix) - 1,
				   line.len - sizeof(prefix) + 1 };
	return ctm_trim(rest).len > 0 ? TAKEN : NOT_MINE;
}

/* Ends in "snapstate: prepare" or "snapstate: delete", whatever stands before it. */
static int take_snapstate(struct parser *parser, struct ctm_bytes line)
{
	static const char *const states[] = { "prepare", "delete" };
	static const char word[] = "snapstate:";
	struct ctm_bytes text = ctm_trim_back(line);
	const char *p = text.p;

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		size_t len = strlen(states[i]);
		struct ctm_bytes head;

		if (text.len < len || memcmp(p + text.len - len, states[i], len) != 0) {
			continue;
		}
		head = ctm_trim_back((struct ctm_bytes){ p, text.len - len });
		if (head.len >= sizeof(word) - 1 &&
		    memcmp(p + head.len - (sizeof(word) - 1), word, sizeof(word) - 1) == 0) {
			section_now(parser)->snapstate = states[i];
			return TAKEN;
		}
	}
	return NOT_MINE;
}

/* "delete: keys", which only the pending section may have */
static int take_delete(struct parser *parser, struct ctm_bytes line)
{
	static const char prefix[] = "delete:";
	struct ctm_pctsection *section = section_now(parser);
	struct ctm_bytes value;
	int r;

	if (!ctm_bytes_starts(line, prefix)) {
		return NOT_MINE;
	}
	value = ctm_trim((struct ctm_bytes){ (const char *)line.p + sizeof(prefix) - 1,
					     line.len - sizeof(prefix) + 1 });
	if (value.len == 0) {
		return NOT_MINE;
	}
	if (section->kind != CTM_PCT_PENDING) {
		r = warn_line(parser, "'delete' outside [pve:pending], ignored", line);
		return r < 0 ? r : TAKEN;
	}
	section->remove = keep(parser, value);
	return section->remove ? TAKEN : -ENOMEM;
}

/*
 * What \s*(.+?)\s*$ keeps of the text behind the colon. A value of blanks alone is not empty:
 * the last of them is the value, and Perl takes it for true.
 */
static struct ctm_bytes key_value(struct ctm_bytes rest)
{
	struct ctm_bytes value = ctm_trim(rest);

	if (value.len == 0 && rest.len > 0) {
		value = (struct ctm_bytes){ (const char *)rest.p + rest.len - 1, 1 };
	}
	return value;
}

/* "key: value": lower-case letters and "_", then digits; the colon touches the key */
static int take_key(struct parser *parser, struct ctm_bytes line)
{
	const char *p = line.p;
	struct ctm_bytes key = { .p = p };
	struct ctm_bytes value;
	struct ctm_pctentry one = { .line = parser->line };
	struct ctm_err why = { 0 };
	int r;

	if (line.len == 0 || !is_lower(p[0])) {
		return NOT_MINE;
	}
	while (key.len < line.len && (is_lower(p[key.len]) || p[key.len] == '_')) {
		key.len++;
	}
	while (key.len < line.len && is_digit(p[key.len])) {
		key.len++;
	}
	if (key.len == line.len || p[key.len] != ':') {
		return NOT_MINE;
	}
	value = key_value((struct ctm_bytes){ p + key.len + 1, line.len - key.len - 1 });
	if (value.len == 0) {
		return NOT_MINE;
	}
	one.key = keep(parser, key);
	one.value = keep(parser, value);
	if (!one.key || !one.value) {
		return -ENOMEM;
	}
	r = ctm_pctvalue_check(key, one.value, &value, &why);
	if (r == -ENOMEM) {
		return r;
	}
	if (r < 0) {
		r = ctm_config_warn(&parser->conf->warnings, &parser->conf->arena, parser->line,
				    "unable to parse the value of '%s', kept as text: %s", one.key,
				    why.msg);
	} else {
		one.value = keep(parser, value);
		r = one.value ? 0 : -ENOMEM;
	}
	if (r == 0) {
		r = ctm_vec_push(&section_now(parser)->keys, &one);
	}
	return r < 0 ? r : TAKEN;
}

static int parse_line(struct parser *parser, struct ctm_bytes line)
{
	int r;

	if (ctm_trim(line).len == 0) {
		return TAKEN;
	}
	r = take_header(parser, line);
	if (r == NOT_MINE && ctm_bytes_starts(line, "#")) {
		r = TAKEN; /* description text */
	}
	if (r == NOT_MINE) {
		r = take_lxc(parser, line);
	}
	if (r == NOT_MINE) {
		r = take_description(line);
	}
	if (r == NOT_MINE) {
		r = take_snapstate(parser, line);
	}
	if (r == NOT_MINE) {
		r = take_delete(parser, line);
	}
	if (r == NOT_MINE) {
		r = take_key(parser, line);
	}
	if (r == NOT_MINE) {
		r = warn_line(parser, "unable to parse, ignored", line);
	}
	return r;
}

int ctm_pctconf_parse(struct ctm_bytes text, struct ctm_pctconf *ret, struct ctm_err *err)
{
	struct parser parser = { .conf = ret };
	struct ctm_lines lines = { .text = text };
	struct ctm_bytes line;
	int r;

	r = ctm_lines_check(text, err);
	if (r < 0) {
		return r;
	}
	r = open_section(&parser, CTM_PCT_CURRENT, "");
	while (r >= 0 && ctm_lines_next(&lines, &line)) {
		parser.line = lines.no;
		r = parse_line(&parser, line);
	}
	if (r == -E2BIG) {
		return ctm_err_set(err, CTM_REFUSED, E2BIG, "line %u: more than %d sections",
				   parser.line, SECTIONS_MAX);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

void ctm_pctconf_done(struct ctm_pctconf *conf)
{
	for (size_t i = 0; i < conf->sections.n; i++) {
		section_done(&conf->sections.v[i]);
	}
	ctm_vec_done(&conf->sections);
	ctm_vec_done(&conf->warnings);
	ctm_arena_done(&conf->arena);
}

const struct ctm_pctentry *ctm_pctconf_find(const struct ctm_pctsection *section, const char *key)
{
	for (size_t i = section->keys.n; i > 0; i--) {
		if (strcmp(section->keys.v[i - 1].key, key) == 0) {
			return &section->keys.v[i - 1];
		}
	}
	return NULL;
}

const char *ctm_pctconf_get(const struct ctm_pctsection *section, const char *key)
{
	const struct ctm_pctentry *entry = ctm_pctconf_find(section, key);

	return entry ? entry->value : NULL;
}

bool ctm_pctconf_flag(const struct ctm_pctsection *section, const char *key)
{
	const char *value = ctm_pctconf_get(section, key);

	return value && value[0] != '\0' && strcmp(value, "0") != 0;
}

const struct ctm_pctsection *ctm_pctconf_current(const struct ctm_pctconf *conf)
{
	return &conf->sections.v[0];
}
