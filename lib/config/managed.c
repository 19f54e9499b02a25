/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ha/resources.cfg and replication.cfg: sections "type: id" at column 1, with properties behind
 * blanks (pve-common SectionConfig.pm).
 */
#include "config/managed.h"

#include <stdio.h>
#include <string.h>

#include "config/lines.h"

/* Splits "ct: 115" or a property "state ignored"; what stands behind end is trimmed. */
static bool split(struct ctm_bytes line, char end, struct ctm_bytes *ret_key,
		  struct ctm_bytes *ret_value)
{
	const char *p = line.p;
	const char *stop = memchr(p, end, line.len);
	size_t len = stop ? (size_t)(stop - p) : line.len;

	if (!stop && end == ':') {
		return false;
	}
	*ret_key = (struct ctm_bytes){ p, len };
	*ret_value = stop ? ctm_trim((struct ctm_bytes){ stop + 1, line.len - len - 1 }) :
			    (struct ctm_bytes){ p + len, 0 };
	return len > 0;
}

static bool is_guest(struct ctm_bytes id, const char *number, bool job)
{
	size_t len = strlen(number);

	if (!ctm_bytes_starts(id, number)) {
		return false;
	}
	/* a job is GUEST-NUMBER */
	return job ? id.len > len && ((const char *)id.p)[len] == '-' : id.len == len;
}

struct want {
	const char *type; /* of the section; NULL: any */
	bool job;
	const char *off_key; /* the property that takes it out again, */
	const char *off;     /* with this value */
};

/* Whether a section of the guest is there that no property takes out again. */
static bool find(struct ctm_bytes text, unsigned int vmid, const struct want *want)
{
	struct ctm_lines lines = { .text = text };
	struct ctm_bytes line;
	char number[16];
	bool here = false;
	bool found = false;

	(void)snprintf(number, sizeof(number), "%u", vmid);
	while (ctm_lines_next(&lines, &line)) {
		struct ctm_bytes key;
		struct ctm_bytes value;
		struct ctm_bytes words = ctm_trim(line);
		bool header = line.len > 0 && !ctm_is_space(*(const char *)line.p);

		if (words.len == 0 || ctm_bytes_starts(words, "#")) {
			continue;
		}
		if (header && split(words, ':', &key, &value)) {
			found = found || here;
			here = (!want->type || ctm_bytes_is_nocase(key, want->type)) &&
			       is_guest(value, number, want->job);
		} else if (here && split(words, ' ', &key, &value) &&
			   ctm_bytes_is(key, want->off_key) &&
			   (value.len == 0 || ctm_bytes_is(value, want->off))) {
			here = false;
		}
	}
	return found || here;
}

bool ctm_managed_ha(struct ctm_bytes text, unsigned int vmid)
{
	static const struct want want = { .type = "ct", .off_key = "state", .off = "ignored" };

	return find(text, vmid, &want);
}

bool ctm_managed_replicated(struct ctm_bytes text, unsigned int vmid)
{
	static const struct want want = { .job = true, .off_key = "disable", .off = "1" };

	return find(text, vmid, &want);
}
