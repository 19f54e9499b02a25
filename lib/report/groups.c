/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Findings grouped by cause.
 */
#include "report/groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"

/* What a hostile tree can make of the lists: beyond this, ids and places are not told apart. */
#define DISTINCT_MAX 512
#define IDS_SHOWN    4

static size_t top_dir_len(const char *path, size_t len)
{
	const char *slash = memchr(path, '/', len);
	const char *second;

	if (!slash) {
		return len;
	}
	second = memchr(slash + 1, '/', len - (size_t)(slash + 1 - path));
	return second ? (size_t)(second - path) : (size_t)(slash - path);
}

static int count_id(struct ctm_group *group, int kind, uint32_t id)
{
	struct ctm_group_id one = { .kind = kind, .id = id, .n = 1 };

	for (size_t i = 0; i < group->ids.n; i++) {
		if (group->ids.v[i].kind == kind && group->ids.v[i].id == id) {
			group->ids.v[i].n++;
			return 0;
		}
	}
	return group->ids.n < DISTINCT_MAX ? ctm_vec_push(&group->ids, &one) : 0;
}

/* Findings of a group come in path order, so the place is nearly always the last one found. */
static struct ctm_group_place *find_place(struct ctm_group *group, const char *dir)
{
	for (size_t i = group->places.n; i-- > 0;) {
		if (strcmp(group->places.v[i].dir, dir) == 0) {
			return &group->places.v[i];
		}
	}
	return NULL;
}

static int count_place(struct ctm_groups *groups, struct ctm_group *group, const char *path,
		       size_t len)
{
	CLEANUP(ctm_buf_done) struct ctm_buf safe = { 0 };
	struct ctm_group_place one = { .n = 1 };
	struct ctm_group_place *known;
	int r = ctm_path_escape(&safe, path, top_dir_len(path, len));

	if (r < 0) {
		return r;
	}
	known = find_place(group, safe.p ? safe.p : "");
	if (known) {
		known->n++;
		return 0;
	}
	if (group->places.n >= DISTINCT_MAX) {
		return 0;
	}
	one.dir = ctm_arena_dup(&groups->arena, safe.p ? safe.p : "", safe.len);
	return one.dir ? ctm_vec_push(&group->places, &one) : -ENOMEM;
}

static int add_finding(struct ctm_groups *groups, struct ctm_group *group,
		       const struct ctm_plan *plan, size_t i)
{
	const struct ctm_finding *f = &plan->findings.v[i];
	const struct ctm_finding *prev = group->n_findings ? f - 1 : NULL;
	bool same_inode = prev && prev->path && f->path && prev->path_len == f->path_len &&
			  memcmp(prev->path, f->path, f->path_len) == 0;
	int r = 0;

	group->n_findings++;
	if (f->kind >= 0) {
		r = count_id(group, f->kind, f->id);
	}
	if (r == 0 && !same_inode) {
		group->n++;
		if (f->path) {
			r = count_place(groups, group, f->path, f->path_len);
		}
	}
	return r;
}

static int larger_id_first(const void *pa, const void *pb)
{
	const struct ctm_group_id *a = pa;
	const struct ctm_group_id *b = pb;

	if (a->n != b->n) {
		return a->n > b->n ? -1 : 1;
	}
	if (a->kind != b->kind) {
		return a->kind - b->kind;
	}
	return a->id < b->id ? -1 : 1;
}

static int larger_place_first(const void *pa, const void *pb)
{
	const struct ctm_group_place *a = pa;
	const struct ctm_group_place *b = pb;

	if (a->n != b->n) {
		return a->n > b->n ? -1 : 1;
	}
	return strcmp(a->dir, b->dir);
}

int ctm_groups_make(const struct ctm_plan *plan, struct ctm_groups *ret)
{
	struct ctm_groups groups = { 0 };
	int r = 0;

	for (size_t i = 0; i < plan->findings.n && r == 0; i++) {
		enum ctm_finding_code code = plan->findings.v[i].code;

		if (!groups.v.n || groups.v.v[groups.v.n - 1].code != code) {
			struct ctm_group one = { .code = code, .first = i };

			r = ctm_vec_push(&groups.v, &one);
		}
		ctm_spill_pass(plan->spill);
		if (r == 0) {
			r = add_finding(&groups, &groups.v.v[groups.v.n - 1], plan, i);
		}
	}
	if (r < 0) {
		ctm_groups_done(&groups);
		return r;
	}
	for (size_t i = 0; i < groups.v.n; i++) {
		struct ctm_group *g = &groups.v.v[i];

		if (g->ids.n) {
			qsort(g->ids.v, g->ids.n, sizeof(g->ids.v[0]), larger_id_first);
		}
		if (g->places.n) {
			qsort(g->places.v, g->places.n, sizeof(g->places.v[0]), larger_place_first);
		}
	}
	*ret = groups;
	return 0;
}

void ctm_groups_done(struct ctm_groups *groups)
{
	for (size_t i = 0; i < groups->v.n; i++) {
		ctm_vec_done(&groups->v.v[i].ids);
		ctm_vec_done(&groups->v.v[i].places);
	}
	ctm_vec_done(&groups->v);
	ctm_arena_done(&groups->arena);
}

int ctm_group_ids_text(const struct ctm_group *group, struct ctm_buf *out)
{
	size_t shown = group->ids.n < IDS_SHOWN ? group->ids.n : IDS_SHOWN;
	int r = 0;

	for (size_t i = 0; i < shown && r == 0; i++) {
		const struct ctm_group_id *id = &group->ids.v[i];

		r = ctm_buf_addf(out, "%s%s %" PRIu32 " on %" PRIu64, i ? ", " : "",
				 id->kind == CTM_UID ? "uid" : "gid", id->id, id->n);
	}
	if (r == 0 && group->ids.n > shown) {
		r = ctm_buf_addf(out, " and %zu more", group->ids.n - shown);
	}
	return r;
}
