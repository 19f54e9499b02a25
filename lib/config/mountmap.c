/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The property idmap= of a volume: which disk id a container id has there.
 */
#include "config/mountmap.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

/* Sorted by .ct. */
struct entries {
	struct ctm_range *v;
	size_t n;
	size_t cap;
};

/*
 * A decimal number that ends at the character end; leading zeros are decimal for PVE, its only
 * reader.
 */
static bool number(const char **p, char end, uint32_t *ret)
{
	uint64_t value = 0;
	const char *q = *p;

	if (*q < '0' || *q > '9') {
		return false;
	}
	for (; *q >= '0' && *q <= '9'; q++) {
		value = value * 10 + (uint64_t)(*q - '0');
		if (value > UINT32_MAX) {
			return false;
		}
	}
	if (*q != end) {
		return false;
	}
	*ret = (uint32_t)value;
	*p = end == '\0' ? q : q + 1;
	return true;
}

static int insert(struct entries *entries, struct ctm_range one)
{
	size_t at;
	int r;

	r = ctm_vec_push(entries, &one);
	if (r < 0) {
		return r;
	}
	for (at = entries->n - 1; at > 0 && entries->v[at - 1].ct > one.ct; at--) {
		entries->v[at] = entries->v[at - 1];
	}
	entries->v[at] = one;
	return 0;
}

/* Reads "u:0:5:1" up to the semicolon or the end. */
static int parse_entry(const char *text, size_t len, struct entries lists[2], struct ctm_err *err)
{
	struct ctm_range one;
	char word[64];
	const char *p = word + 2;

	if (len < sizeof(word)) {
		memcpy(word, text, len);
		word[len] = '\0';
		if ((word[0] == 'u' || word[0] == 'g') && word[1] == ':' &&
		    number(&p, ':', &one.ct) && number(&p, ':', &one.disk) &&
		    number(&p, '\0', &one.len) && one.len > 0) {
			struct entries *list = &lists[word[0] == 'u' ? CTM_UID : CTM_GID];

			if (list->n >= CTM_IDMAP_MAX) {
				return ctm_err_set(err, CTM_REFUSED, 0,
						   "more than %d entries in idmap=", CTM_IDMAP_MAX);
			}
			return insert(list, one) < 0 ? ctm_err_nomem(err) : 0;
		}
	}
	return ctm_err_set(err, CTM_REFUSED, 0,
			   "'%.*s' in idmap= is not type:container:disk:length", (int)len, text);
}

static int add_piece(struct ctm_idmap *map, enum ctm_idkind kind, uint64_t from, uint64_t to,
		     uint64_t disk)
{
	if (from == to) {
		return 0;
	}
	if (disk >= CTM_ID_INVALID) {
		return -ERANGE;
	}
	return ctm_idmap_add(map, kind,
			     (struct ctm_range){ .ct = (uint32_t)from,
						 .disk = (uint32_t)disk,
						 .len = (uint32_t)(to - from) });
}

/* The container's range in the pieces that the entries cut it into. */
static int add_range(struct ctm_idmap *map, enum ctm_idkind kind, const struct ctm_range *range,
		     const struct entries *entries)
{
	const uint64_t end = (uint64_t)range->ct + range->len;
	uint64_t at = range->ct;
	int r;

	for (size_t i = 0; i < entries->n; i++) {
		const struct ctm_range *entry = &entries->v[i];
		uint64_t from = entry->ct > at ? entry->ct : at;
		uint64_t to = (uint64_t)entry->ct + entry->len;

		to = to < end ? to : end;
		if (from >= to) {
			continue;
		}
		r = add_piece(map, kind, at, from, (uint64_t)range->disk + (at - range->ct));
		if (r < 0) {
			return r;
		}
		r = add_piece(map, kind, from, to, (uint64_t)entry->disk + (from - entry->ct));
		if (r < 0) {
			return r;
		}
		at = to;
	}
	return add_piece(map, kind, at, end, (uint64_t)range->disk + (at - range->ct));
}

static int check_overlap(const struct entries *entries, struct ctm_err *err)
{
	for (size_t i = 1; i < entries->n; i++) {
		const struct ctm_range *prev = &entries->v[i - 1];

		if ((uint64_t)prev->ct + prev->len > entries->v[i].ct) {
			return ctm_err_set(
				err, CTM_REFUSED, 0,
				"container id %u stands twice in idmap=", entries->v[i].ct);
		}
	}
	return 0;
}

static int explain(int r, enum ctm_idkind kind, struct ctm_err *err)
{
	const char *name = kind == CTM_UID ? "uid" : "gid";

	switch (r) {
	case -ENOMEM:
		return ctm_err_nomem(err);
	case -EEXIST:
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "idmap= puts two container %ss at one disk %s", name, name);
	case -E2BIG:
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "idmap= cuts the %s map into more than %d ranges", name,
				   CTM_IDMAP_MAX);
	default:
		return ctm_err_set(err, CTM_REFUSED, 0, "idmap= reaches beyond the largest %s",
				   name);
	}
}

static int build(const struct ctm_idmap *container, const struct entries *lists, bool passthrough,
		 struct ctm_idmap *map, struct ctm_err *err)
{
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *ranges = ctm_idmap_ranges(container, kind, &n);

		for (size_t i = 0; i < n; i++) {
			struct ctm_range same = { ranges[i].ct, ranges[i].ct, ranges[i].len };
			int r = passthrough ? ctm_idmap_add(map, kind, same) :
					      add_range(map, kind, &ranges[i], &lists[kind]);

			if (r < 0) {
				return explain(r, kind, err);
			}
		}
	}
	return 0;
}

int ctm_mountmap(const struct ctm_idmap *container, const char *option, struct ctm_idmap **ret,
		 struct ctm_err *err)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();
	struct entries lists[2] = { 0 };
	const bool passthrough = option && strcmp(option, "passthrough") == 0;
	int r = 0;

	if (!map) {
		return ctm_err_nomem(err);
	}
	for (const char *p = option; p && !passthrough && r == 0;) {
		size_t len = strcspn(p, ";");

		r = parse_entry(p, len, lists, err);
		if (p[len] == '\0') {
			break;
		}
		p += len + 1;
	}
	for (int kind = 0; kind < 2 && r == 0; kind++) {
		r = check_overlap(&lists[kind], err);
	}
	if (r == 0) {
		r = build(container, lists, passthrough, map, err);
	}
	ctm_vec_done(&lists[CTM_UID]);
	ctm_vec_done(&lists[CTM_GID]);
	if (r == 0) {
		*ret = TAKE_PTR(map);
	}
	return r;
}
