/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/subuid and /etc/subgid.
 */
#include "config/subid.h"

#include "config/lines.h"

/* Splits the next field off at a colon; false when there is none. */
static bool field(struct ctm_bytes *rest, struct ctm_bytes *ret)
{
	const char *p = rest->p;

	for (size_t i = 0; i < rest->len; i++) {
		if (p[i] == ':') {
			*ret = (struct ctm_bytes){ p, i };
			*rest = (struct ctm_bytes){ p + i + 1, rest->len - i - 1 };
			return true;
		}
	}
	return false;
}

static bool number(struct ctm_bytes in, uint64_t *ret)
{
	const char *p = in.p;
	uint64_t value = 0;

	for (size_t i = 0; i < in.len; i++) {
		if (p[i] < '0' || p[i] > '9' || value > UINT32_MAX) {
			return false;
		}
		value = value * 10 + (uint64_t)(p[i] - '0');
	}
	*ret = value;
	return in.len > 0;
}

/* The owner and range of this line; false for what is none. */
static bool parts(struct ctm_bytes line, struct ctm_bytes *ret_name, uint64_t *ret_first,
		  uint64_t *ret_count)
{
	struct ctm_bytes rest = ctm_trim(line);
	struct ctm_bytes first;

	return field(&rest, ret_name) && field(&rest, &first) && number(first, ret_first) &&
	       number(rest, ret_count);
}

/* Whose lines count. */
struct owner {
	const char *name; /* or NULL */
	uint32_t uid;
};

/* The owner's range in this line; false for another one's and for what is none. */
static bool range(struct ctm_bytes line, const struct owner *owner, uint64_t *ret_first,
		  uint64_t *ret_count)
{
	struct ctm_bytes name;
	uint64_t uid;

	return parts(line, &name, ret_first, ret_count) &&
	       ((owner->name && ctm_bytes_is(name, owner->name)) ||
		(number(name, &uid) && uid == owner->uid));
}

/* The first id of the range that the lines do not hold, its end when they hold all. */
static uint64_t granted_up_to(struct ctm_bytes text, const struct owner *owner, uint32_t first,
			      uint32_t count)
{
	const uint64_t end = (uint64_t)first + count;
	uint64_t at = first;
	bool moved = true;

	/* Each round goes on from where the last one came to: the lines are in no order. */
	while (at < end && moved) {
		struct ctm_lines lines = { .text = text };
		struct ctm_bytes line;

		moved = false;
		while (ctm_lines_next(&lines, &line)) {
			uint64_t from;
			uint64_t n;

			if (range(line, owner, &from, &n) && from <= at && from + n > at) {
				at = from + n;
				moved = true;
			}
		}
	}
	return at < end ? at : end;
}

bool ctm_subid_grants(struct ctm_bytes text, uint32_t first, uint32_t count)
{
	uint32_t missing;

	return ctm_subid_grants_to(text, "root", 0, first, count, &missing);
}

bool ctm_subid_grants_to(struct ctm_bytes text, const char *name, uint32_t uid, uint32_t first,
			 uint32_t count, uint32_t *ret_missing)
{
	const struct owner owner = { name, uid };
	const uint64_t at = granted_up_to(text, &owner, first, count);

	if (at == (uint64_t)first + count) {
		return true;
	}
	*ret_missing = (uint32_t)at;
	return false;
}

int ctm_subid_each(struct ctm_bytes text, int (*fn)(uint32_t first, uint32_t count, void *arg),
		   void *arg)
{
	struct ctm_lines lines = { .text = text };
	struct ctm_bytes line;
	int r = 0;

	while (r == 0 && ctm_lines_next(&lines, &line)) {
		struct ctm_bytes name;
		uint64_t first;
		uint64_t count;

		if (parts(line, &name, &first, &count) && name.len > 0 && count > 0 &&
		    first + count <= UINT32_MAX) {
			r = fn((uint32_t)first, (uint32_t)count, arg);
		}
	}
	return r;
}
