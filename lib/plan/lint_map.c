/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint of the id map.
 *
 * Works on the ranges as they are written, not on the map that was made of them: a map with an
 * overlap is refused, and to say so is what this is for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/ctmap.h"
#include "config/subid.h"
#include "plan/lint.h"

/* What lxc-pve's postinst puts into /etc/subuid and /etc/subgid. */
#define GRANTED_FIRST 100000u
#define GRANTED_COUNT 65536u

#define LAST_USUAL 65535u /* programs expect ids up to here; 65534 is nobody */

struct written {
	struct ctm_range range;
	unsigned int line; /* of the configuration, 0: not known */
};

struct ranges {
	struct written v[CTM_IDMAP_MAX]; /* by container id once they are sorted */
	size_t n;
};

struct lint {
	struct ctm_plan *plan;
	const struct ctm_target *target;
	struct ranges kind[2];
	bool custom; /* the map is written down, not built in */
	bool unread; /* a line makes no range, so what it would have mapped is not known */
};

static const char *const kinds[] = { "uid", "gid" };

static int note(const struct lint *lint, enum ctm_finding_code code, const char *text)
{
	return ctm_plan_note(lint->plan, code, NULL, 0, text);
}

static void add(struct lint *lint, enum ctm_idkind kind, struct ctm_range range, unsigned int line)
{
	struct ranges *ranges = &lint->kind[kind];

	if (ranges->n < CTM_IDMAP_MAX) {
		ranges->v[ranges->n++] = (struct written){ range, line };
	}
}

/* A line by itself makes a map of one range, or none. */
static int add_line(struct lint *lint, const struct ctm_pctentry *entry)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();

	if (!map) {
		return -ENOMEM;
	}
	if (ctm_idmap_add_line(map, entry->value, NULL) < 0) {
		lint->unread = true;
		return 0;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *range = ctm_idmap_ranges(map, kind, &n);

		if (n) {
			add(lint, kind, range[0], entry->line);
		}
	}
	return 0;
}

/* Where the lines are known they come with their numbers, else the ranges come from the map. */
static int collect(struct lint *lint)
{
	const struct ctm_target *target = lint->target;
	const struct ctm_pctsection *section =
		target->conf.sections.n ? ctm_pctconf_current(&target->conf) : NULL;
	int r = 0;

	lint->custom = !section;
	for (size_t i = 0; section && i < section->lxc.n && r == 0; i++) {
		if (strcmp(section->lxc.v[i].key, "lxc.idmap") == 0) {
			lint->custom = true;
			r = add_line(lint, &section->lxc.v[i]);
		}
	}
	if (section && lint->custom) {
		return r;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && target->map; kind++) {
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(target->map, kind, &n);

		for (size_t i = 0; i < n; i++) {
			add(lint, kind, v[i], 0);
		}
	}
	return r;
}

static int by_ct(const void *pa, const void *pb)
{
	const struct written *a = pa;
	const struct written *b = pb;

	if (a->range.ct != b->range.ct) {
		return a->range.ct < b->range.ct ? -1 : 1;
	}
	return a->line < b->line ? -1 : a->line > b->line;
}

static uint64_t ct_end(const struct ctm_range *range)
{
	return (uint64_t)range->ct + range->len;
}

/* "line 9: u 0 100000 65536" */
static const char *words(const struct written *one, enum ctm_idkind kind, char buf[static 64])
{
	char line[24] = "";

	if (one->line) {
		(void)snprintf(line, sizeof(line), "line %u: ", one->line);
	}
	(void)snprintf(buf, 64, "%s%c %" PRIu32 " %" PRIu32 " %" PRIu32, line, kinds[kind][0],
		       one->range.ct, one->range.disk, one->range.len);
	return buf;
}

static bool meet(uint32_t a, uint32_t a_len, uint32_t b, uint32_t b_len)
{
	return b - a < a_len || a - b < b_len;
}

static int overlaps(const struct lint *lint, enum ctm_idkind kind)
{
	const struct ranges *ranges = &lint->kind[kind];
	char text[256];
	char first[64];
	char second[64];
	int r = 0;

	for (size_t i = 0; i < ranges->n; i++) {
		for (size_t k = i + 1; k < ranges->n && r == 0; k++) {
			const struct ctm_range *a = &ranges->v[i].range;
			const struct ctm_range *b = &ranges->v[k].range;
			bool ct = meet(a->ct, a->len, b->ct, b->len);

			if (!ct && !meet(a->disk, a->len, b->disk, b->len)) {
				continue;
			}
			(void)snprintf(text, sizeof(text), "%s and %s have %ss in common %s",
				       words(&ranges->v[i], kind, first),
				       words(&ranges->v[k], kind, second), kinds[kind],
				       ct ? "in the container" : "on disk");
			r = note(lint, CTM_F_MAP_OVERLAP, text);
		}
	}
	return r;
}

static int hole(const struct lint *lint, enum ctm_idkind kind, uint64_t from, uint64_t to)
{
	char text[128];

	if (from == to) {
		return 0;
	}
	(void)snprintf(text, sizeof(text), "%s %" PRIu64 "%s", kinds[kind], from,
		       from == 0 ? ", the container's root," : "");
	if (to - from > 1) {
		(void)snprintf(text, sizeof(text), "%ss %" PRIu64 " to %" PRIu64 "%s", kinds[kind],
			       from, to - 1,
			       from == 0 ? ", the container's root first" :
			       from <= 65534 && to == LAST_USUAL + 1 ?
					   ", nobody (65534) among them" :
					   "");
	}
	return note(lint, CTM_F_MAP_HOLE, text);
}

static int holes(const struct lint *lint, enum ctm_idkind kind)
{
	const struct ranges *ranges = &lint->kind[kind];
	uint64_t at = 0;
	int r = 0;

	if (!ranges->n) {
		return note(lint, CTM_F_MAP_HOLE,
			    kind == CTM_UID ? "no uid at all: the container cannot start" :
					      "no gid at all: the container cannot start");
	}
	for (size_t i = 0; i < ranges->n && r == 0; i++) {
		const struct ctm_range *range = &ranges->v[i].range;

		if (range->ct > at) {
			r = hole(lint, kind, at, range->ct);
		}
		at = ct_end(range) > at ? ct_end(range) : at;
	}
	/* a map that ends with 65534 is common, and nothing misses 65535 */
	if (r == 0 && at < LAST_USUAL) {
		r = hole(lint, kind, at, LAST_USUAL + 1);
	}
	return r;
}

/* What a map without a hole would begin a range of disk ids with. */
static bool is_base(uint32_t disk)
{
	return disk && (disk % 65536 == 0 || disk % 100000 == 0);
}

/* Container ids from first on stand gap ids lower on disk than they would without the hole. */
static int moved(const struct lint *lint, enum ctm_idkind kind, const struct ctm_range *range,
		 uint32_t gap)
{
	char text[192];

	(void)snprintf(text, sizeof(text),
		       "%s %" PRIu32 " and those above are moved by %" PRIu32 ": on disk %" PRIu32
		       ", not %" PRIu64,
		       kinds[kind], range->ct, gap, range->disk, (uint64_t)range->disk + gap);
	return note(lint, CTM_F_MAP_PUNCH, text);
}

static int root_punched(const struct lint *lint, enum ctm_idkind kind)
{
	const struct ranges *ranges = &lint->kind[kind];
	const struct ctm_range *root = &ranges->v[0].range;
	char text[128];
	int r;

	if (!ranges->n || root->ct != 0 || root->disk != 0) {
		return 0;
	}
	(void)snprintf(text, sizeof(text), "%s 0 is 0 on disk: the container's root is the host's",
		       kinds[kind]);
	r = note(lint, CTM_F_MAP_PUNCH, text);
	if (r == 0 && ranges->n > 1 && ranges->v[1].range.ct == ct_end(root) &&
	    is_base(ranges->v[1].range.disk)) {
		r = moved(lint, kind, &ranges->v[1].range, root->len);
	}
	return r;
}

/*
 * A range that goes on with the disk ids of an earlier one, although ids in between went elsewhere:
 * whoever wrote it counted on one side only.
 */
static int punches(const struct lint *lint, enum ctm_idkind kind)
{
	const struct ranges *ranges = &lint->kind[kind];
	int r = root_punched(lint, kind);

	for (size_t k = 2; k < ranges->n && r == 0; k++) {
		const struct ctm_range *b = &ranges->v[k].range;

		for (size_t i = 0; i + 1 < k && r == 0; i++) {
			const struct ctm_range *a = &ranges->v[i].range;
			uint64_t gap = b->ct - ct_end(a);

			if (b->ct > ct_end(a) && b->disk == (uint64_t)a->disk + a->len) {
				r = moved(lint, kind, b, (uint32_t)gap);
			}
		}
	}
	return r;
}

static bool granted(const struct lint *lint, const struct ctm_range *range, struct ctm_bytes text)
{
	/* newuidmap lets everybody map his own id, and root's is 0 */
	if (range->disk == 0 && range->len == 1) {
		return true;
	}
	if (lint->target->kind == CTM_TARGET_PVE && range->disk >= GRANTED_FIRST &&
	    (uint64_t)range->disk + range->len <= GRANTED_FIRST + GRANTED_COUNT) {
		return true;
	}
	return ctm_subid_grants(text, range->disk, range->len);
}

static int missing_grants(const struct lint *lint, enum ctm_idkind kind, struct ctm_bytes text)
{
	const struct ranges *ranges = &lint->kind[kind];
	char line[128];
	int r = 0;

	for (size_t i = 0; i < ranges->n && r == 0; i++) {
		const struct ctm_range *range = &ranges->v[i].range;

		if (!granted(lint, range, text)) {
			(void)snprintf(line, sizeof(line),
				       "/etc/sub%s lacks: root:%" PRIu32 ":%" PRIu32, kinds[kind],
				       range->disk, range->len);
			r = note(lint, CTM_F_MAP_SUBID, line);
		}
	}
	return r;
}

/* Makes one of ranges that continue each other on both sides. */
static void join(struct ranges *ranges)
{
	size_t n = 0;

	for (size_t i = 0; i < ranges->n; i++) {
		const struct ctm_range *b = &ranges->v[i].range;
		struct ctm_range *a = n ? &ranges->v[n - 1].range : NULL;

		if (a && b->ct == ct_end(a) && b->disk == (uint64_t)a->disk + a->len) {
			a->len += b->len;
		} else {
			ranges->v[n++] = ranges->v[i];
		}
	}
	ranges->n = n;
}

/* Names the first range that is another one, or missing, for gids. */
static int asymmetry(struct lint *lint)
{
	struct ranges *uids = &lint->kind[CTM_UID];
	struct ranges *gids = &lint->kind[CTM_GID];
	size_t n;
	size_t i = 0;
	char text[192];
	char first[64] = "no more uids";
	char second[64] = "no more gids";

	join(uids);
	join(gids);
	n = uids->n < gids->n ? uids->n : gids->n;
	while (i < n &&
	       memcmp(&uids->v[i].range, &gids->v[i].range, sizeof(struct ctm_range)) == 0) {
		i++;
	}
	if (!n || (i == uids->n && i == gids->n)) {
		return 0;
	}
	if (i < uids->n) {
		(void)words(&uids->v[i], CTM_UID, first);
	}
	if (i < gids->n) {
		(void)words(&gids->v[i], CTM_GID, second);
	}
	(void)snprintf(text, sizeof(text), "%s, but %s", first, second);
	return note(lint, CTM_F_MAP_ASYM, text);
}

int ctm_lint_map(const struct ctm_target *target, const struct ctm_lint_subids *subids,
		 struct ctm_plan *plan)
{
	CLEANUP_FREE struct lint *lint = calloc(1, sizeof(*lint));
	int r;

	if (!lint) {
		return -ENOMEM;
	}
	lint->plan = plan;
	lint->target = target;
	r = collect(lint);
	if (r < 0 || (!lint->kind[CTM_UID].n && !lint->kind[CTM_GID].n)) {
		return r;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && r == 0; kind++) {
		struct ranges *ranges = &lint->kind[kind];

		qsort(ranges->v, ranges->n, sizeof(ranges->v[0]), by_ct);
		r = overlaps(lint, kind);
		if (lint->unread) {
			continue;
		}
		r = r == 0 ? holes(lint, kind) : r;
		r = r == 0 ? punches(lint, kind) : r;
		if (r == 0 && lint->custom && target->kind != CTM_TARGET_PATH) {
			r = missing_grants(lint, kind, subids->text[kind]);
		}
	}
	return r == 0 && !lint->unread ? asymmetry(lint) : r;
}
