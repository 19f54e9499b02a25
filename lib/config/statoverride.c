/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dpkg's database of owners and modes.
 */
#include "config/statoverride.h"

#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *name;
	uint32_t id;
} groups[] = {
	{ "mail", 8 }, { "shadow", 42 }, { "staff", 50 }, { "tty", 5 }, { "utmp", 43 },
};

/* The bytes up to the next blank, which must be there; the blank is passed over. */
static bool word(struct ctm_bytes *rest, struct ctm_bytes *ret)
{
	const char *p = rest->p;
	const char *blank = memchr(p, ' ', rest->len);

	if (!blank || blank == p) {
		return false;
	}
	ret->p = p;
	ret->len = (size_t)(blank - p);
	rest->p = blank + 1;
	rest->len -= ret->len + 1;
	return true;
}

static bool number(struct ctm_bytes in, uint32_t base, uint32_t most, uint32_t *ret)
{
	const char *p = in.p;
	uint64_t value = 0;

	for (size_t i = 0; i < in.len; i++) {
		if (p[i] < '0' || (uint32_t)(p[i] - '0') >= base) {
			return false;
		}
		value = value * base + (uint64_t)(p[i] - '0');
		if (value > most) {
			return false;
		}
	}
	*ret = (uint32_t)value;
	return in.len > 0;
}

static bool is_word(struct ctm_bytes in, const char *text)
{
	return in.len == strlen(text) && memcmp(in.p, text, in.len) == 0;
}

static void known_group(struct ctm_bytes in, uint32_t *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		if (is_word(in, groups[i].name)) {
			*ret = groups[i].id;
		}
	}
}

/* False for a bad number. *exact is cleared for a name other than root. */
static bool account(struct ctm_bytes in, enum ctm_idkind kind, ctm_cid *ret, bool *exact)
{
	const char *p = in.p;

	ret->v = CTM_ID_INVALID;
	if (p[0] == '#') {
		const struct ctm_bytes digits = { p + 1, in.len - 1 };

		return number(digits, 10, CTM_ID_INVALID - 1, &ret->v);
	}
	if (is_word(in, "root")) {
		ret->v = 0;
		return true;
	}
	*exact = false;
	if (kind == CTM_GID) {
		known_group(in, &ret->v);
	}
	return true;
}

static bool parse(struct ctm_bytes line, struct ctm_statoverride *ret)
{
	struct ctm_bytes user;
	struct ctm_bytes group;
	struct ctm_bytes mode;

	ret->exact = true;
	if (!word(&line, &user) || !word(&line, &group) || !word(&line, &mode) ||
	    !account(user, CTM_UID, &ret->uid, &ret->exact) ||
	    !account(group, CTM_GID, &ret->gid, &ret->exact) ||
	    !number(mode, 8, 07777, &ret->mode)) {
		return false;
	}
	ret->path = line;
	return line.len > 1 && *(const char *)line.p == '/';
}

int ctm_statoverride_each(struct ctm_bytes text,
			  int (*fn)(const struct ctm_statoverride *line, void *arg), void *arg)
{
	const char *p = text.p;
	const char *end = p + text.len;
	int r = 0;

	while (p < end && r == 0) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const struct ctm_bytes line = { p, (size_t)((eol ? eol : end) - p) };
		struct ctm_statoverride one;

		p += line.len + 1;
		if (line.len > 0 && parse(line, &one)) {
			r = fn(&one, arg);
		}
	}
	return r;
}
