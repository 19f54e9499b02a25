/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Find the cluster's id in a ceph.conf. */
#include "config/cephconf.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "config/lines.h"

static bool is_uuid(struct ctm_bytes value)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	const unsigned char *p = value.p;

	if (value.len != sizeof(form) - 1) {
		return false;
	}
	for (size_t i = 0; i < value.len; i++) {
		if (form[i] == 'x' ? !isxdigit(p[i]) : p[i] != '-') {
			return false;
		}
	}
	return true;
}

/* "KEY = VALUE"; blanks around both. */
static bool split(struct ctm_bytes line, struct ctm_bytes *ret_key, struct ctm_bytes *ret_value)
{
	const char *equals = line.len > 0 ? memchr(line.p, '=', line.len) : NULL;
	size_t len;

	if (!equals) {
		return false;
	}
	len = (size_t)(equals - (const char *)line.p);
	*ret_key = ctm_trim((struct ctm_bytes){ line.p, len });
	*ret_value = ctm_trim((struct ctm_bytes){ equals + 1, line.len - len - 1 });
	return true;
}

int ctm_cephconf_fsid(struct ctm_bytes text, char ret[static CTM_CEPH_FSID])
{
	struct ctm_lines lines = { .text = text };
	struct ctm_bytes line;
	struct ctm_bytes key;
	struct ctm_bytes value;
	bool global = false;
	int r = -ENOENT;

	while (ctm_lines_next(&lines, &line)) {
		line = ctm_trim(line);
		if (line.len > 1 && ((const char *)line.p)[0] == '[') {
			global = ctm_bytes_is_nocase(line, "[global]");
		} else if (global && split(line, &key, &value) && ctm_bytes_is(key, "fsid")) {
			/* of two the last counts */
			r = is_uuid(value) ? 0 : -EBADMSG;
			if (r == 0) {
				memcpy(ret, value.p, value.len);
				ret[value.len] = '\0';
			}
		}
	}
	return r;
}
