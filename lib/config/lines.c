/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all configuration files have in common.
 */
#include "config/lines.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

bool ctm_lines_next(struct ctm_lines *lines, struct ctm_bytes *ret)
{
	const char *start;
	const char *end;
	size_t left;

	if (lines->pos >= lines->text.len) {
		return false;
	}
	start = (const char *)lines->text.p + lines->pos;
	left = lines->text.len - lines->pos;
	end = memchr(start, '\n', left);
	*ret = (struct ctm_bytes){ .p = start, .len = end ? (size_t)(end - start) : left };
	lines->pos += ret->len + (end ? 1 : 0);
	lines->no++;
	return true;
}

int ctm_lines_check(struct ctm_bytes text, struct ctm_err *err)
{
	struct ctm_lines lines = { .text = text };
	struct ctm_bytes line;

	if (text.len > CTM_CONFIG_MAX) {
		return ctm_err_set(err, CTM_REFUSED, EFBIG, "larger than %zu bytes",
				   CTM_CONFIG_MAX);
	}
	if (text.len > 0 && memchr(text.p, '\0', text.len)) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "it holds a NUL byte: not a configuration file");
	}
	while (ctm_lines_next(&lines, &line)) {
		if (lines.no > CTM_CONFIG_LINES_MAX) {
			return ctm_err_set(err, CTM_REFUSED, EFBIG, "more than %u lines",
					   CTM_CONFIG_LINES_MAX);
		}
	}
	return 0;
}

bool ctm_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct ctm_bytes ctm_trim_front(struct ctm_bytes in)
{
	const char *p = in.p;

	while (in.len > 0 && ctm_is_space(*p)) {
		p++;
		in.len--;
	}
	in.p = p;
	return in;
}

struct ctm_bytes ctm_trim_back(struct ctm_bytes in)
{
	const char *p = in.p;

	while (in.len > 0 && ctm_is_space(p[in.len - 1])) {
		in.len--;
	}
	return in;
}

struct ctm_bytes ctm_trim(struct ctm_bytes in)
{
	return ctm_trim_back(ctm_trim_front(in));
}

bool ctm_bytes_is(struct ctm_bytes in, const char *text)
{
	return in.len == strlen(text) && memcmp(in.p, text, in.len) == 0;
}

bool ctm_bytes_is_nocase(struct ctm_bytes in, const char *text)
{
	return in.len == strlen(text) && strncasecmp(in.p, text, in.len) == 0;
}

bool ctm_bytes_starts(struct ctm_bytes in, const char *prefix)
{
	size_t len = strlen(prefix);

	return in.len >= len && memcmp(in.p, prefix, len) == 0;
}

int ctm_bool_word(struct ctm_bytes in)
{
	static const char *const yes[] = { "1", "on", "yes", "true" };
	static const char *const no[] = { "0", "off", "no", "false" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (ctm_bytes_is_nocase(in, yes[i])) {
			return 1;
		}
		if (ctm_bytes_is_nocase(in, no[i])) {
			return 0;
		}
	}
	return -1;
}

int ctm_config_warn(struct ctm_config_warnings *warnings, struct ctm_arena *arena,
		    unsigned int line, const char *fmt, ...)
{
	struct ctm_config_warning one = { .line = line };
	char text[768];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	one.text = ctm_arena_dup(arena, text, strlen(text));
	if (!one.text) {
		return -ENOMEM;
	}
	return ctm_vec_push(warnings, &one);
}
