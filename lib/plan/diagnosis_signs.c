/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the findings of a code have in common. One pass over all, a few numbers for each code.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "plan/diagnosis.h"
#include "plan/nested.h"

static bool same_path(const struct ctm_finding *a, const struct ctm_finding *b)
{
	return a->path && b->path && a->path_len == b->path_len &&
	       memcmp(a->path, b->path, a->path_len) == 0;
}

/* Shortens the top to what both have in common, by components. */
static void share_top(struct ctm_signs *s, const char *path, size_t len)
{
	size_t most = s->top_len < len ? s->top_len : len;
	size_t i = 0;
	size_t end = 0;

	while (i < most && s->top[i] == path[i]) {
		if (path[i] == '/') {
			end = i;
		}
		i++;
	}
	if (i == s->top_len && (i == len || path[i] == '/' || i == 0)) {
		return;
	}
	/* the whole of one may be a directory of the other */
	if (i == len && s->top[i] == '/') {
		end = len;
	}
	s->top_len = end;
	s->top_found = false;
}

/* What a loop over "for f in $(find ...)", or one that reads lines, stumbles over. */
static bool is_odd(const char *path, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];

		if (c <= ' ' || c == 0x7f || c == '\\' || c == '"' || c == '\'') {
			return true;
		}
	}
	return false;
}

/* Root of a user namespace that does not hold the owner is one of the others, without privilege. */
static bool unreadable(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return !(mode & S_IROTH);
	case S_IFDIR:
		return (mode & (S_IROTH | S_IXOTH)) != (S_IROTH | S_IXOTH);
	default:
		return false;
	}
}

static void add_inode(struct ctm_signs *s, const struct ctm_finding *f)
{
	const uint32_t type = f->mode & S_IFMT;

	s->inodes++;
	if (!f->path) {
		return;
	}
	if (!s->top) {
		s->top = f->path;
		s->top_len = f->path_len;
		s->top_found = true;
	} else {
		share_top(s, f->path, f->path_len);
	}
	if (type != 0 && type != S_IFREG && type != S_IFDIR) {
		s->special++;
	} else if (is_odd(f->path, f->path_len)) {
		s->odd++;
	}
	s->links += f->nlink > 1 && type != S_IFDIR;
	s->unreadable += unreadable(f->mode);
	s->nested += ctm_path_nested(f->path, f->path_len);
}

static void add_id(const struct ctm_plan *plan, struct ctm_signs *s, const struct ctm_finding *f)
{
	const char *name;
	ctm_cid inside;

	s->by_id++;
	s->with_kind[f->kind]++;
	s->largest[f->kind] = f->id > s->largest[f->kind] ? f->id : s->largest[f->kind];
	name = plan->lens.builtin ? ctm_lens_other_map(&plan->lens, (enum ctm_idkind)f->kind,
						       (ctm_did){ f->id }, &inside) :
				    NULL;
	if (!name) {
		return;
	}
	if (s->other_map == 0) {
		s->other = name;
	} else if (s->other && strcmp(s->other, name) != 0) {
		s->other = NULL;
	}
	s->other_map++;
}

int ctm_signs_read(const struct ctm_plan *plan, struct ctm_all_signs *ret)
{
	struct ctm_all_signs all = { 0 };
	struct ctm_signs *s = NULL;

	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		ctm_spill_pass(plan->spill);
		if (!s || s->code != f->code) {
			const struct ctm_signs fresh = { .code = f->code };

			if (ctm_vec_push(&all.v, &fresh) < 0) {
				ctm_vec_done(&all.v);
				return -ENOMEM;
			}
			s = &all.v.v[all.v.n - 1];
		}
		if (s->findings++ == 0 || !same_path(f, f - 1)) {
			add_inode(s, f);
		}
		if (f->kind >= 0) {
			add_id(plan, s, f);
		}
		if (!f->path && f->text && !s->text) {
			s->text = f->text;
		}
	}
	*ret = all;
	return 0;
}

const struct ctm_signs *ctm_signs_of(const struct ctm_all_signs *all, enum ctm_finding_code code)
{
	for (size_t i = 0; i < all->v.n; i++) {
		if (all->v.v[i].code == code) {
			return &all->v.v[i];
		}
	}
	return NULL;
}
