/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What speaks for a cause, in words, and lines to paste.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "plan/diagnosis.h"

#define BASES_SHOWN 4

static const char letters[] = { 'u', 'g' };

static int put_path(struct ctm_buf *out, const struct ctm_signs *s)
{
	int r = ctm_buf_add(out, "/", 1);

	return r < 0 ? r : ctm_path_escape(out, s->top, s->top_len);
}

static int say_packages(const struct ctm_pkgfiles_found *p, const struct ctm_signs *s,
			struct ctm_buf *out)
{
	int r = ctm_buf_addf(out, "%" PRIu64 " of %" PRIu64 " paths%s", p->listed + p->own,
			     p->looked, p->looked < s->inodes ? " looked up" : "");

	r = r < 0 ? r : ctm_buf_addf(out, " are files of ");
	for (size_t i = 0; i < p->n_names && r == 0; i++) {
		r = ctm_buf_addf(out, "%s%s", i == 0 ? "packages (" : ", ", p->names[i]);
	}
	if (r == 0 && p->packages > p->n_names) {
		r = ctm_buf_addf(out, " and %zu more", p->packages - p->n_names);
	}
	if (r == 0 && p->n_names) {
		r = ctm_buf_addf(out, ")%s", p->own ? " and of " : "");
	} else if (r == 0 && p->listed) {
		r = ctm_buf_addf(out, "packages%s", p->own ? " and of " : "");
	}
	if (r == 0 && p->own) {
		r = ctm_buf_addf(out, "the package manager itself");
	}
	return r == 0 && p->rpm ? ctm_buf_addf(out, "; there is a database of rpm, too") : r;
}

static int say_place(const struct ctm_signs *s, struct ctm_buf *out)
{
	int r = ctm_buf_addf(out, "%s",
			     s->inodes == 1 ? "it is the only one: " :
			     s->top_found   ? "all are in " :
					      "all are below ");

	return r < 0 ? r : put_path(out, s);
}

static int say_skipped(const struct ctm_signs *s, struct ctm_buf *out)
{
	if (s->code == CTM_F_ACL_HOST) {
		return ctm_buf_addf(out, "the owners are right, the access lists are not");
	}
	if (s->odd == 0) {
		return ctm_buf_addf(out, "all are links, FIFOs, sockets or devices");
	}
	return ctm_buf_addf(out,
			    "%" PRIu64 " are links, FIFOs, sockets or devices, %" PRIu64 " have a "
			    "blank, "
			    "quote or "
			    "backslash"
			    " in the "
			    "path",
			    s->special, s->odd);
}

static int say_twice(const struct ctm_signs *s, struct ctm_buf *out)
{
	if (s->links == 0) {
		return 0;
	}
	if (s->links == s->inodes) {
		return ctm_buf_addf(out, "all are hard links, shifted once for each name");
	}
	return ctm_buf_addf(out, "%" PRIu64 " of %" PRIu64 " are hard links", s->links, s->inodes);
}

static int say_other_map(const struct ctm_signs *s, struct ctm_buf *out)
{
	int r;

	if (!s->other) {
		return ctm_buf_addf(out, "the ids fit other maps of the container");
	}
	r = ctm_buf_addf(out, "%s",
			 s->other_map == s->by_id ? "all ids fit " : "most of the ids fit ");
	return r < 0 ? r : ctm_text_escape(out, s->other, strlen(s->other));
}

static int say_map_wrong(const struct ctm_plan *plan, const struct ctm_signs *s,
			 struct ctm_buf *out)
{
	int r = ctm_buf_addf(out, "%" PRIu64 " of %" PRIu64 " inodes fit ", s->inodes,
			     plan->volume.inodes);

	if (r == 0) {
		r = s->other ? ctm_text_escape(out, s->other, strlen(s->other)) :
			       ctm_buf_addf(out, "other maps of the container");
	}
	return r < 0 ? r : ctm_buf_addf(out, ", and not the configuration");
}

static int say_privileged(const char *section, struct ctm_buf *out)
{
	int r = ctm_buf_addf(out, "the container is privileged in ");

	return r < 0 ? r : ctm_text_escape(out, section, strlen(section));
}

/* The bases that ids were judged by, those with most inodes first. */
static size_t used_bases(const struct ctm_plan *plan,
			 const struct ctm_lens_base *ret[static BASES_SHOWN])
{
	const struct ctm_lens *lens = &plan->lens;
	size_t n = 0;

	for (size_t i = 0; i < lens->known.n + lens->found.n; i++) {
		const struct ctm_lens_base *base =
			i < lens->known.n ? &lens->known.v[i] : &lens->found.v[i - lens->known.n];
		uint64_t all = base->n[CTM_UID] + base->n[CTM_GID];
		size_t at = n;

		if (all == 0) {
			continue;
		}
		while (at > 0 && ret[at - 1]->n[CTM_UID] + ret[at - 1]->n[CTM_GID] < all) {
			at--;
		}
		n += n < BASES_SHOWN;
		for (size_t k = n - 1; k > at; k--) {
			ret[k] = ret[k - 1];
		}
		if (at < BASES_SHOWN) {
			ret[at] = base;
		}
	}
	return n;
}

static int say_bases(const struct ctm_plan *plan, struct ctm_buf *out)
{
	const struct ctm_lens_base *bases[BASES_SHOWN];
	size_t n = used_bases(plan, bases);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		r = i ? ctm_buf_addf(out, "; ") : 0;
		r = r < 0 ? r : ctm_text_escape(out, bases[i]->text, strlen(bases[i]->text));
	}
	return r;
}

static int put_range(struct ctm_buf *out, const struct ctm_evidence *ev, enum ctm_idkind kind,
		     const struct ctm_range *range)
{
	return ctm_buf_addf(out, "lxc.idmap%s %c %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
			    ev->plain_lxc ? " =" : ":", letters[kind], range->ct, range->disk,
			    range->len);
}

static int put_map(struct ctm_buf *out, const struct ctm_evidence *ev, const struct ctm_idmap *map)
{
	int r = 0;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(map, kind, &n);

		for (size_t i = 0; i < n && r == 0; i++) {
			r = put_range(out, ev, kind, &v[i]);
		}
	}
	return r;
}

static int put_grants(struct ctm_buf *out, const struct ctm_idmap *map)
{
	static const char *const files[] = { "/etc/subuid", "/etc/subgid" };
	int r = 0;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(map, kind, &n);

		for (size_t i = 0; i < n && r == 0; i++) {
			r = ctm_buf_addf(out, "%s: root:%" PRIu32 ":%" PRIu32 "\n", files[kind],
					 v[i].disk, v[i].len);
		}
	}
	return r;
}

/* The base that holds most, in place of the map for those kinds that it has. */
static int base_lines(const struct ctm_plan *plan, const struct ctm_evidence *ev,
		      struct ctm_buf *out)
{
	const struct ctm_lens_base *bases[BASES_SHOWN];
	int r = 0;

	if (used_bases(plan, bases) != 1) {
		return 0;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && r == 0; kind++) {
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(plan->policy.map, kind, &n);

		if (bases[0]->n[kind]) {
			r = put_range(out, ev, kind, &bases[0]->range);
		}
		for (size_t i = 0; i < n && r == 0 && !bases[0]->n[kind]; i++) {
			r = put_range(out, ev, kind, &v[i]);
		}
	}
	return r;
}

/* The ranges of a kind, with one made longer or added; -EINVAL: that makes no map. */
static int widen(const struct ctm_idmap *map, enum ctm_idkind kind, const struct ctm_range *need,
		 struct ctm_idmap *to)
{
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(map, kind, &n);
	bool taken = need == NULL;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		bool this_one = need && v[i].ct == need->ct && v[i].disk == need->disk;

		r = ctm_idmap_add(to, kind, this_one ? *need : v[i]);
		taken = taken || this_one;
	}
	return r == 0 && !taken ? ctm_idmap_add(to, kind, *need) : r;
}

/* The largest id that the map has to hold: of a container inside, the last that it may use. */
static ctm_did largest(const struct ctm_plan *plan, const struct ctm_signs *s, enum ctm_idkind kind)
{
	const struct ctm_place inner = { .nested = true };
	const ctm_did id = { s->largest[kind] };
	struct ctm_verdict verdict;

	if (s->nested < s->inodes) {
		return id;
	}
	ctm_lens_look(&plan->lens, kind, id, &inner, &verdict);
	return verdict.nested ? ctm_lens_last_nested(id, verdict.inside) : id;
}

/* The map that would hold the ids, and what root must be granted for it. */
static int needed_lines(const struct ctm_plan *plan, const struct ctm_evidence *ev,
			const struct ctm_signs *s, struct ctm_buf *out)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = ctm_idmap_new();

	if (!map) {
		return -ENOMEM;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		const ctm_did id = largest(plan, s, kind);
		struct ctm_range need;
		int r;

		if (s->with_kind[kind] == 0) {
			r = widen(plan->policy.map, kind, NULL, map);
		} else if (ctm_class_needed(plan->policy.map, kind, id, &need)) {
			r = widen(plan->policy.map, kind, &need, map);
		} else {
			return 0;
		}
		if (r < 0) {
			return r == -ENOMEM ? r : 0;
		}
	}
	return put_map(out, ev, map) < 0 || put_grants(out, map) < 0 ? -ENOMEM : 0;
}

/* Of a map by its name, if there is one alone. */
static int other_lines(const struct ctm_plan *plan, const struct ctm_evidence *ev,
		       const struct ctm_signs *s, struct ctm_buf *out)
{
	const struct ctm_kin *kin = plan->lens.kin;

	if (!s->other) {
		return 0;
	}
	for (size_t i = 0; kin && i < kin->n_maps; i++) {
		if (strcmp(kin->maps[i].name, s->other) == 0) {
			return put_map(out, ev, kin->maps[i].map);
		}
	}
	return put_map(out, ev, plan->lens.builtin);
}

static int put_evidence(const struct ctm_plan *plan, const struct ctm_evidence *ev,
			const struct ctm_signs *s, enum ctm_cause cause, struct ctm_buf *out)
{
	switch (cause) {
	case CTM_CAUSE_PACKAGE_RUN:
		return s->code == CTM_F_OWN_HOST ? say_packages(ev->packages, s, out) : 0;
	case CTM_CAUSE_COPIED_IN:
		return s->code == CTM_F_OWN_HOST ? say_place(s, out) : 0;
	case CTM_CAUSE_CONVERTER_SKIPPED:
		return say_skipped(s, out);
	case CTM_CAUSE_CONVERTER_TWICE:
		return say_twice(s, out);
	case CTM_CAUSE_MAP_CHANGED:
		return say_other_map(s, out);
	case CTM_CAUSE_MAP_WRONG:
		return say_map_wrong(plan, s, out);
	case CTM_CAUSE_FLAG_FLIPPED:
		return ev->privileged_in ? say_privileged(ev->privileged_in, out) : 0;
	case CTM_CAUSE_OTHER_HOST:
		return s->code == CTM_F_OWN_BASE ? say_bases(plan, out) : 0;
	case CTM_CAUSE_PVE_ROOT_OWNER:
		return ctm_buf_addf(out, "the top directory alone is wrong");
	default:
		return 0;
	}
}

static const char *note_for(const struct ctm_evidence *ev, const struct ctm_signs *s,
			    enum ctm_cause cause)
{
	switch (cause) {
	case CTM_CAUSE_OTHER_HOST:
		if (s->code != CTM_F_OWN_BASE) {
			return NULL;
		}
		return ev->mount_point ? "a volume that several containers use wants one map for "
					 "all of "
					 "them, or idmap= on its mount point" :
					 "if the files are right and the map is not, the "
					 "configuration "
					 "wants the old map";
	case CTM_CAUSE_MAP_WRONG:
		return "correct its lines: the files need no repair";
	case CTM_CAUSE_NESTED:
	case CTM_CAUSE_FOREIGN_ID:
		return s->code == CTM_F_OWN_BEYOND ? "the map can be made to hold these ids" : NULL;
	default:
		return NULL;
	}
}

static int put_lines(const struct ctm_plan *plan, const struct ctm_evidence *ev,
		     const struct ctm_signs *s, enum ctm_cause cause, struct ctm_buf *out)
{
	switch (s->code) {
	case CTM_F_OWN_BASE:
		return ev->mount_point ? 0 : base_lines(plan, ev, out);
	case CTM_F_OWN_BEYOND:
		return needed_lines(plan, ev, s, out);
	case CTM_F_OWN_HOLE:
		return cause == CTM_CAUSE_MAP_WRONG ? other_lines(plan, ev, s, out) : 0;
	default:
		return 0;
	}
}

static bool is_off_the_map(enum ctm_finding_code code)
{
	return code >= CTM_F_OWN_HOST && code <= CTM_F_OWN_BEYOND;
}

/* Takes what was written, NULL when that is nothing. */
static int take(struct ctm_arena *arena, struct ctm_buf *text, const char **ret)
{
	if (text->len == 0) {
		return 0;
	}
	*ret = ctm_arena_dup(arena, text->p, text->len);
	text->len = 0;
	return *ret ? 0 : -ENOMEM;
}

int ctm_diagnosis_support(const struct ctm_plan *plan, const struct ctm_evidence *evidence,
			  const struct ctm_signs *signs, struct ctm_arena *arena,
			  struct ctm_diagnosed *one)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = put_evidence(plan, evidence, signs, one->cause, &text);

	r = r < 0 ? r : take(arena, &text, &one->evidence);
	one->note = note_for(evidence, signs, one->cause);
	if (r == 0 && is_off_the_map(signs->code) && signs->unreadable) {
		r = ctm_buf_addf(&text,
				 "%s%s%" PRIu64 " of them may be read by their owner or group "
				 "alone: a backup, which reads through the map, misses them or "
				 "ends there",
				 one->note ? one->note : "", one->note ? "; " : "",
				 signs->unreadable);
		r = r < 0 ? r : take(arena, &text, &one->note);
	}
	r = r < 0 ? r : put_lines(plan, evidence, signs, one->cause, &text);
	return r < 0 ? r : take(arena, &text, &one->lines);
}
