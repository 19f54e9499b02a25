/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Id maps as people write them: the value of an lxc.idmap key, and the argument of --map.
 */
#include "id/idmap.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"

struct word {
	const char *p;
	size_t len;
};

enum { W_TYPE, W_CT, W_DISK, W_LEN, W_N };

static const char *const word_names[W_N] = {
	[W_TYPE] = "type",
	[W_CT] = "first container id",
	[W_DISK] = "first disk id",
	[W_LEN] = "count",
};

/* Room for a word as a person may see it; longer ones are cut. */
#define SHOWN_MAX 80
struct shown {
	char text[SHOWN_MAX + sizeof("...")];
};

static struct shown show(struct word word)
{
	struct shown shown = { 0 };
	struct ctm_buf buf = { 0 };
	size_t len = word.len < SHOWN_MAX ? word.len : SHOWN_MAX;

	if (ctm_path_escape(&buf, word.p, len) == 0) {
		len = buf.len < SHOWN_MAX ? buf.len : SHOWN_MAX;
		memcpy(shown.text, buf.p, len);
		if (word.len > SHOWN_MAX || buf.len > SHOWN_MAX) {
			memcpy(shown.text + len, "...", sizeof("..."));
		}
	}
	ctm_buf_done(&buf);
	return shown;
}

/* A decimal number as every parser reads it alike: digits alone, no leading zero, 32 bits. */
static int number(struct word word, const char *name, enum ctm_code code, uint32_t *ret,
		  struct ctm_err *err)
{
	uint64_t value = 0;

	for (size_t i = 0; i < word.len; i++) {
		if (word.p[i] < '0' || word.p[i] > '9') {
			return ctm_err_set(err, code, EINVAL, "%s \"%s\" is not a decimal number",
					   name, show(word).text);
		}
		if (value <= UINT32_MAX) {
			value = value * 10 + (uint64_t)(word.p[i] - '0');
		}
	}
	if (word.len == 0) {
		return ctm_err_set(err, code, EINVAL, "%s is missing", name);
	}
	if (word.len > 1 && word.p[0] == '0') {
		return ctm_err_set(err, code, EINVAL,
				   "%s \"%s\" has a leading zero (decimal for PVE, octal for LXC)",
				   name, show(word).text);
	}
	if (value > UINT32_MAX) {
		return ctm_err_set(err, code, ERANGE, "%s \"%s\" does not fit into 32 bits", name,
				   show(word).text);
	}
	*ret = (uint32_t)value;
	return 0;
}

static bool meet(uint32_t a, uint32_t alen, uint32_t b, uint32_t blen)
{
	return b - a < alen || a - b < blen;
}

/* Which earlier range the new one collides with, in words. */
static int say_overlap(const struct ctm_idmap *map, enum ctm_idkind kind, struct ctm_range range,
		       enum ctm_code code, struct ctm_err *err)
{
	size_t n;
	const struct ctm_range *old = ctm_idmap_ranges(map, kind, &n);

	for (size_t i = 0; i < n; i++) {
		bool ct = meet(old[i].ct, old[i].len, range.ct, range.len);

		if (ct || meet(old[i].disk, old[i].len, range.disk, range.len)) {
			uint32_t first = ct ? range.ct : range.disk;

			return ctm_err_set(err, code, EEXIST,
					   "%s ids %u-%u overlap with the range %c %u %u %u",
					   ct ? "container" : "disk", first, first + range.len - 1,
					   kind == CTM_UID ? 'u' : 'g', old[i].ct, old[i].disk,
					   old[i].len);
		}
	}
	return ctm_err_set(err, code, EEXIST, "the range overlaps with an earlier one");
}

static int add(struct ctm_idmap *map, enum ctm_idkind kind, struct ctm_range range,
	       enum ctm_code code, struct ctm_err *err)
{
	int r = ctm_idmap_add(map, kind, range);

	switch (r) {
	case 0:
		return 0;
	case -EINVAL:
		return ctm_err_set(err, code, EINVAL, "count 0 makes no range");
	case -ERANGE:
		return ctm_err_set(err, code, ERANGE,
				   "the range reaches past 4294967294, the last id there is");
	case -EEXIST:
		return say_overlap(map, kind, range, code, err);
	case -E2BIG:
		return ctm_err_set(err, code, E2BIG, "more than %d ranges of one kind",
				   CTM_IDMAP_MAX);
	default:
		return ctm_err_set(err, CTM_SYS, r, "id map");
	}
}

/* Three numbers make a range. */
static int read_range(const struct word word[static W_N], enum ctm_code code, struct ctm_range *ret,
		      struct ctm_err *err)
{
	struct ctm_range range = { 0 };
	int r;

	r = number(word[W_CT], word_names[W_CT], code, &range.ct, err);
	if (r == 0) {
		r = number(word[W_DISK], word_names[W_DISK], code, &range.disk, err);
	}
	if (r == 0) {
		r = number(word[W_LEN], word_names[W_LEN], code, &range.len, err);
	}
	if (r == 0) {
		*ret = range;
	}
	return r;
}

static int read_kind(struct word word, enum ctm_code code, enum ctm_idkind *ret,
		     struct ctm_err *err)
{
	if (word.len == 1 && (word.p[0] == 'u' || word.p[0] == 'g')) {
		*ret = word.p[0] == 'u' ? CTM_UID : CTM_GID;
		return 0;
	}
	return ctm_err_set(err, code, EINVAL, "type \"%s\" is neither u nor g", show(word).text);
}

/* Both parsers, PVE's \s and LXC's own set, have these in common. */
#define BLANKS " \t\r"

static int read_line(struct ctm_idmap *map, const char *line, struct ctm_err *err)
{
	struct word word[W_N];
	struct ctm_range range = { 0 };
	enum ctm_idkind kind = CTM_UID;
	const char *at = line + strspn(line, BLANKS);
	size_t n = 0;
	int r;

	while (*at && n < W_N) {
		word[n].p = at;
		word[n].len = strcspn(at, BLANKS);
		at += word[n].len;
		at += strspn(at, BLANKS);
		n++;
	}
	if (n < W_N) {
		return ctm_err_set(err, CTM_REFUSED, EINVAL, "the %s is missing", word_names[n]);
	}
	if (*at) {
		struct word rest = { .p = at, .len = strlen(at) };

		return ctm_err_set(err, CTM_REFUSED, EINVAL, "\"%s\" after the count",
				   show(rest).text);
	}
	r = read_kind(word[W_TYPE], CTM_REFUSED, &kind, err);
	if (r == 0) {
		r = read_range(word, CTM_REFUSED, &range, err);
	}
	return r == 0 ? add(map, kind, range, CTM_REFUSED, err) : r;
}

int ctm_idmap_add_line(struct ctm_idmap *map, const char *line, struct ctm_err *err)
{
	const struct word all = { .p = line, .len = strlen(line) };
	int r = read_line(map, line, err);

	if (r < 0) {
		(void)ctm_err_wrap(err, "id map \"%s\"", show(all).text);
	}
	if (r == -EINVAL) {
		ctm_err_hint(err, "expected: u or g, first container id, first disk id, count, as "
				  "in \"u 0 100000 65536\"");
	}
	return r;
}

static int add_both(struct ctm_idmap *map, struct ctm_range range, struct ctm_err *err)
{
	int r = add(map, CTM_UID, range, CTM_USAGE, err);

	return r < 0 ? r : add(map, CTM_GID, range, CTM_USAGE, err);
}

/* One part between commas: BASE, CT:DISK:COUNT or KIND:CT:DISK:COUNT. */
static int read_part(struct ctm_idmap *map, struct word part, bool alone, struct ctm_err *err)
{
	struct word word[W_N] = { 0 };
	struct ctm_range range = { .ct = 0, .len = CTM_IDMAP_DEFAULT_LEN };
	enum ctm_idkind kind = CTM_UID;
	const char *end = part.p + part.len;
	const char *at = part.p;
	size_t colons = 0;
	size_t n;
	int r;

	for (size_t i = 0; i < part.len; i++) {
		colons += part.p[i] == ':';
	}
	if (colons == 0 && alone) {
		r = number(part, "base", CTM_USAGE, &range.disk, err);
		return r == 0 ? add_both(map, range, err) : r;
	}
	if (colons != 2 && colons != 3) {
		return ctm_err_set(err, CTM_USAGE, EINVAL, "\"%s\" is not a range",
				   show(part).text);
	}
	for (n = colons == 2 ? W_CT : W_TYPE; n < W_N; n++) {
		const char *colon = memchr(at, ':', (size_t)(end - at));
		const char *stop = colon ? colon : end;

		word[n] = (struct word){ .p = at, .len = (size_t)(stop - at) };
		at = colon ? colon + 1 : end;
	}
	r = read_range(word, CTM_USAGE, &range, err);
	if (r < 0) {
		return r;
	}
	if (colons == 2) {
		return add_both(map, range, err);
	}
	r = read_kind(word[W_TYPE], CTM_USAGE, &kind, err);
	return r == 0 ? add(map, kind, range, CTM_USAGE, err) : r;
}

static int read_spec(struct ctm_idmap *map, const char *spec, struct ctm_err *err)
{
	const bool alone = !strchr(spec, ',');
	const char *at = spec;
	int r;

	do {
		const struct word part = { .p = at, .len = strcspn(at, ",") };

		r = read_part(map, part, alone, err);
		at += part.len;
	} while (r == 0 && *at++ == ',');
	return r;
}

int ctm_idmap_parse_spec(const char *spec, struct ctm_idmap **ret, struct ctm_err *err)
{
	const struct word all = { .p = spec, .len = strlen(spec) };
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();
	int r;

	if (!map) {
		return ctm_err_nomem(err);
	}
	r = read_spec(map, spec, err);
	if (r < 0) {
		(void)ctm_err_wrap(err, "id map \"%s\"", show(all).text);
		if (r == -EINVAL) {
			ctm_err_hint(err,
				     "expected: 100000 (base, %d ids), 0:100000:65536 or "
				     "u:0:100000:65536,g:0:100000:65536",
				     CTM_IDMAP_DEFAULT_LEN);
		}
		return r;
	}
	*ret = TAKE_PTR(map);
	return 0;
}
