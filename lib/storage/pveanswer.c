/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read the answers of share/pve-storage.pl. */
#include "storage/pveanswer.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/lines.h"
#include "storage/images.h"

static const char first_line[] = "ctmend-pve 1";
static const char last_line[] = "end";

void ctm_pve_answer_done(struct ctm_pve_answer *answer)
{
	free(answer->path);
	*answer = (struct ctm_pve_answer){ 0 };
}

static int no_answer(struct ctm_err *err)
{
	return ctm_err_set(err, CTM_REFUSED, 0,
			   "what Proxmox VE's storage library answered is not to be understood");
}

/* The next line, which must be "KEY VALUE". */
static bool next_value(struct ctm_lines *lines, const char *key, struct ctm_bytes *ret)
{
	const size_t len = strlen(key);
	struct ctm_bytes line;
	const char *p;

	if (!ctm_lines_next(lines, &line)) {
		return false;
	}
	p = line.p;
	if (line.len < len + 1 || memcmp(p, key, len) != 0 || p[len] != ' ') {
		return false;
	}
	*ret = (struct ctm_bytes){ p + len + 1, line.len - len - 1 };
	return true;
}

static bool next_flag(struct ctm_lines *lines, const char *key, bool *ret)
{
	struct ctm_bytes value;

	if (!next_value(lines, key, &value) ||
	    (!ctm_bytes_is(value, "0") && !ctm_bytes_is(value, "1"))) {
		return false;
	}
	*ret = ctm_bytes_is(value, "1");
	return true;
}

static bool next_is(struct ctm_lines *lines, const char *text)
{
	struct ctm_bytes line;

	return ctm_lines_next(lines, &line) && ctm_bytes_is(line, text);
}

static bool valid_path(struct ctm_bytes path)
{
	const char *p = path.p;

	if (path.len < 2 || path.len >= PATH_MAX || p[0] != '/') {
		return false;
	}
	for (size_t i = 0; i < path.len; i++) {
		if (iscntrl((unsigned char)p[i])) {
			return false;
		}
	}
	while (path.len > 1 && p[0] == '/') {
		path = (struct ctm_bytes){ ++p, path.len - 1 };
	}
	return ctm_path_stays_below(path.p, path.len);
}

static int read_format(struct ctm_bytes value, struct ctm_pve_answer *ret, struct ctm_err *err)
{
	static const char *const formats[] = { "raw", "subvol" };

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (ctm_bytes_is(value, formats[i])) {
			ret->format = formats[i];
			return 0;
		}
	}
	for (size_t i = 0; i < value.len; i++) {
		if (!isalnum(((const unsigned char *)value.p)[i])) {
			return no_answer(err);
		}
	}
	return ctm_err_set(err, CTM_REFUSED, 0,
			   "the volume has the format '%.*s', which no "
			   "container has",
			   (int)value.len, (const char *)value.p);
}

/* Whole lines alone: the text ends with a newline, and has no byte that ends a string. */
static bool is_text(struct ctm_bytes text)
{
	return text.len > 0 && text.len <= CTM_PVE_ANSWER_MAX && !memchr(text.p, '\0', text.len) &&
	       ((const char *)text.p)[text.len - 1] == '\n';
}

int ctm_pve_answer_parse(struct ctm_bytes text, struct ctm_pve_answer *ret, struct ctm_err *err)
{
	struct ctm_lines lines = { .text = text };
	struct ctm_pve_answer answer = { 0 };
	struct ctm_bytes path;
	struct ctm_bytes format;
	int r;

	if (!is_text(text) || !next_is(&lines, first_line) || !next_value(&lines, "path", &path) ||
	    !next_value(&lines, "format", &format) || !next_flag(&lines, "base", &answer.base) ||
	    !next_flag(&lines, "active", &answer.active) || !next_is(&lines, last_line) ||
	    lines.pos < text.len || (path.len > 0 && !valid_path(path))) {
		return no_answer(err);
	}
	r = read_format(format, &answer, err);
	if (r < 0) {
		return r;
	}
	if (path.len > 0) {
		answer.path = ctm_bytes_dup(path);
		if (!answer.path) {
			return ctm_err_nomem(err);
		}
	}
	*ret = answer;
	return 0;
}

int ctm_pve_answer_parse_done(struct ctm_bytes text, struct ctm_err *err)
{
	struct ctm_lines lines = { .text = text };

	return is_text(text) && next_is(&lines, first_line) && next_is(&lines, last_line) &&
			       lines.pos >= text.len ?
		       0 :
		       no_answer(err);
}
