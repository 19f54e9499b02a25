/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sentence about a volume: what is wrong first of all, and what happened.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "plan/diagnosis.h"

/* Codes that come before all counts, then those that come when no id is wrong. */
static const enum ctm_finding_code before_ids[] = {
	CTM_F_CONF_SECTION,
	CTM_F_TREE_MAPPED,
	CTM_F_TREE_HOST,
	CTM_F_TREE_FIX,
};
static const enum ctm_finding_code after_ids[] = {
	CTM_F_RUN_RECORDS, CTM_F_RUN_DAMAGED,  CTM_F_RUN_NEWER,    CTM_F_RUN_UNFINISHED,
	CTM_F_PKG_HELD,    CTM_F_PKG_LOCK,     CTM_F_PKG_CACHE,    CTM_F_PKG_PARTIAL,
	CTM_F_PATH_PARENT, CTM_F_CONF_LOCK,    CTM_F_MAP_OVERLAP,  CTM_F_MAP_HOLE,
	CTM_F_MAP_PUNCH,   CTM_F_MAP_SUBID,    CTM_F_FLATTEN,      CTM_F_ATTR_FLAG,
	CTM_F_PATH_LINK,   CTM_F_LINK_OUTSIDE, CTM_F_CONF_FOREIGN, CTM_F_ERR,
};

/* What else a person must know at once, when the sentence is about something else. */
static const struct {
	enum ctm_finding_code code;
	const char *words;
} beside[] = {
	{ CTM_F_RUN_RECORDS, "the directory of its records cannot be trusted" },
	{ CTM_F_RUN_DAMAGED, "the record of a run is damaged" },
	{ CTM_F_RUN_NEWER, "a newer ctmend has recorded a run" },
	{ CTM_F_RUN_UNFINISHED, "an earlier run is not finished" },
	{ CTM_F_PKG_HELD, "a process works in it right now" },
	{ CTM_F_CONF_FOREIGN, "another guest has the volume, too" },
	{ CTM_F_CONF_LOCK, "its configuration is locked" },
	{ CTM_F_PATH_PARENT, "a directory above it does not let the container in" },
};

static const struct ctm_signs *first_of(const struct ctm_all_signs *all,
					const enum ctm_finding_code *codes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ctm_signs *s = ctm_signs_of(all, codes[i]);

		if (s) {
			return s;
		}
	}
	return NULL;
}

static const struct ctm_signs *most_of(const struct ctm_all_signs *all, enum ctm_finding_code first,
				       enum ctm_finding_code last)
{
	const struct ctm_signs *most = NULL;

	for (size_t i = 0; i < all->v.n; i++) {
		const struct ctm_signs *s = &all->v.v[i];

		if (s->code >= first && s->code <= last && (!most || s->inodes > most->inodes)) {
			most = s;
		}
	}
	return most;
}

/* The first that a repair or a person has to see to. */
static const struct ctm_signs *any(const struct ctm_all_signs *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		if (ctm_finding_info(all->v.v[i].code)->severity != CTM_INFO) {
			return &all->v.v[i];
		}
	}
	return NULL;
}

static const struct ctm_signs *choose(const struct ctm_all_signs *all)
{
	const struct ctm_signs *s = first_of(all, before_ids, ARRAY_LEN(before_ids));

	s = s ? s : most_of(all, CTM_F_OWN_FROM, CTM_F_OWN_BEYOND);
	s = s ? s : most_of(all, CTM_F_ACL_FROM, CTM_F_CAP_BEYOND);
	s = s ? s : first_of(all, after_ids, ARRAY_LEN(after_ids));
	return s ? s : any(all);
}

static const char *ids_words(enum ctm_finding_code code)
{
	switch (code) {
	case CTM_F_OWN_FROM:
		return "have ids of the map that --from-map names";
	case CTM_F_OWN_HOST:
		return "have the host's ids";
	case CTM_F_OWN_HOLE:
		return "have ids of another map";
	case CTM_F_OWN_TWICE:
		return "have ids that were shifted again";
	case CTM_F_OWN_BASE:
		return "have ids on another base";
	case CTM_F_OWN_OVERFLOW:
		return "belong to nobody any more";
	case CTM_F_OWN_BEYOND:
		return "have ids that the map does not hold";
	default:
		return NULL;
	}
}

static int put_owners(const struct ctm_plan *plan, const struct ctm_signs *s, enum ctm_cause cause,
		      struct ctm_buf *out)
{
	const char *why = ctm_cause_text(cause);
	int r = 0;

	if (cause == CTM_CAUSE_COPIED_IN && s->inodes == 1) {
		r = ctm_buf_addf(out, "/");
		r = r < 0 ? r : ctm_path_escape(out, s->top, s->top_len);
		return r < 0 ? r : ctm_buf_addf(out, " was written from the host");
	}
	if (why) {
		r = ctm_buf_addf(out, "%s", why);
	} else if (s->code == CTM_F_OWN_HOST) {
		r = ctm_buf_addf(out, "somebody worked in it as the host's root");
	}
	if (r == 0 && s->code == CTM_F_OWN_OVERFLOW && s->text) {
		/* of the container's own nobody in bulk: the note has the numbers */
		return ctm_buf_addf(out, ": many inodes belong to nobody");
	}
	if (r == 0 && out->len) {
		r = ctm_buf_addf(out, ": ");
	}
	return r < 0 ? r :
		       ctm_buf_addf(out, "%" PRIu64 " of %" PRIu64 " inodes %s", s->inodes,
				    plan->totals.inodes, ids_words(s->code));
}

static int put_lists(const struct ctm_signs *s, enum ctm_cause cause, struct ctm_buf *out)
{
	const char *why = ctm_cause_text(cause);
	int r = why ? ctm_buf_addf(out, "%s: ", why) : 0;

	return r < 0 ? r :
		       ctm_buf_addf(out, "owners are right, but %s of %" PRIu64 " inode%s are not",
				    s->code >= CTM_F_CAP_ROOT ? "capabilities" : "access lists",
				    s->inodes, s->inodes == 1 ? "" : "s");
}

static int put_packages(const struct ctm_all_signs *all, struct ctm_buf *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < all->v.n; i++) {
		const struct ctm_signs *s = &all->v.v[i];

		n += s->code == CTM_F_PKG_LOCK || s->code == CTM_F_PKG_CACHE ||
				     s->code == CTM_F_PKG_PARTIAL ?
			     s->inodes :
			     0;
	}
	return ctm_buf_addf(out,
			    "%" PRIu64 " stale %s of package managers %s in the way; all ids are "
			    "right",
			    n, n == 1 ? "file" : "files", n == 1 ? "is" : "are");
}

static int put_with_text(const struct ctm_signs *s, const char *words, struct ctm_buf *out)
{
	int r = ctm_buf_addf(out, "%s", words);

	if (r == 0 && s->text) {
		r = ctm_buf_addf(out, ": ");
		r = r < 0 ? r : ctm_text_escape(out, s->text, strlen(s->text));
	}
	return r;
}

static int put_main(const struct ctm_plan *plan, const struct ctm_all_signs *all,
		    const struct ctm_signs *s, enum ctm_cause cause, struct ctm_buf *out)
{
	switch (s->code) {
	case CTM_F_TREE_HOST:
		return put_with_text(s, ctm_cause_text(cause), out);
	case CTM_F_TREE_MAPPED:
		return put_with_text(s,
				     "the files are shifted, but the configuration says "
				     "privileged",
				     out);
	case CTM_F_PKG_LOCK:
	case CTM_F_PKG_CACHE:
	case CTM_F_PKG_PARTIAL:
		return put_packages(all, out);
	default:
		break;
	}
	if (ids_words(s->code)) {
		return put_owners(plan, s, cause, out);
	}
	if (s->code >= CTM_F_ACL_FROM && s->code <= CTM_F_CAP_BEYOND) {
		return put_lists(s, cause, out);
	}
	return put_with_text(s, ctm_finding_info(s->code)->title, out);
}

static int put_beside(const struct ctm_all_signs *all, enum ctm_finding_code code,
		      struct ctm_buf *out)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(beside) && r == 0; i++) {
		if (beside[i].code != code && ctm_signs_of(all, beside[i].code)) {
			r = ctm_buf_addf(out, "; %s", beside[i].words);
		}
	}
	return r;
}

static int put_clean(const struct ctm_plan *plan, struct ctm_buf *out)
{
	return ctm_buf_addf(out,
			    "clean: every id of %" PRIu64 " inode%s belongs to the map (ids are "
			    "checked, not who should own what)",
			    plan->totals.inodes, plan->totals.inodes == 1 ? "" : "s");
}

static const char *next_for(const struct ctm_diagnosis *d)
{
	switch (d->cause) {
	case CTM_CAUSE_MAP_WRONG:
		return "correct the lines of lxc.idmap ('ctmend map TARGET' shows what is wrong); "
		       "only if the new map is meant: ctmend repair --fix hole --convert TARGET";
	default:
		return ctm_finding_info(d->code)->next;
	}
}

int ctm_diagnosis_conclude(const struct ctm_plan *plan, const struct ctm_all_signs *all,
			   struct ctm_diagnosis *diagnosis)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	const struct ctm_signs *s = choose(all);
	int r;

	diagnosis->code = s ? s->code : CTM_F_N;
	diagnosis->cause = s ? ctm_diagnosis_of(diagnosis, s->code)->cause : CTM_CAUSE_NONE;
	if (s) {
		r = put_main(plan, all, s, diagnosis->cause, &text);
		r = r < 0 ? r : put_beside(all, s->code, &text);
		diagnosis->next = next_for(diagnosis);
	} else {
		r = put_clean(plan, &text);
	}
	if (r < 0) {
		return r;
	}
	diagnosis->text = ctm_arena_dup(&diagnosis->arena, text.p, text.len);
	return diagnosis->text ? 0 : -ENOMEM;
}
