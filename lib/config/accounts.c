/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * passwd(5) and group(5).
 */
#include "config/accounts.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

#define FIELDS 4 /* name, password, uid or gid, and of passwd the gid */

/* The first fields of a line; returns how many there are. */
static size_t split(struct ctm_bytes line, struct ctm_bytes ret[static FIELDS])
{
	const char *p = line.p;
	const char *end = p + line.len;

	for (size_t n = 0; n < FIELDS; n++) {
		const char *colon = memchr(p, ':', (size_t)(end - p));

		ret[n] = (struct ctm_bytes){ p, (size_t)((colon ? colon : end) - p) };
		if (!colon) {
			return n + 1;
		}
		p = colon + 1;
	}
	return FIELDS;
}

static bool number(struct ctm_bytes in, ctm_cid *ret)
{
	const char *p = in.p;
	uint64_t value = 0;

	for (size_t i = 0; i < in.len; i++) {
		if (p[i] < '0' || p[i] > '9') {
			return false;
		}
		value = value * 10 + (uint64_t)(p[i] - '0');
		if (value > UINT32_MAX) {
			return false;
		}
	}
	ret->v = (uint32_t)value;
	return in.len > 0;
}

int ctm_accounts_each(enum ctm_accounts_file file, struct ctm_bytes text,
		      int (*fn)(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg),
		      void *arg)
{
	const char *p = text.p;
	const char *end = p + text.len;
	int r = 0;

	while (p < end && r == 0) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		struct ctm_bytes line = { p, (size_t)((eol ? eol : end) - p) };
		struct ctm_bytes fields[FIELDS];
		size_t n = split(line, fields);
		ctm_cid id;

		p += line.len + 1;
		if (n < FIELDS || fields[0].len == 0) {
			continue;
		}
		if (number(fields[2], &id)) {
			r = fn(fields[0], file == CTM_ACCOUNTS_PASSWD ? CTM_UID : CTM_GID, id, arg);
		}
		if (r == 0 && file == CTM_ACCOUNTS_PASSWD && number(fields[3], &id)) {
			r = fn(fields[0], CTM_GID, id, arg);
		}
	}
	return r;
}
