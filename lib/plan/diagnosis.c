/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which cause each group of findings has.
 */
#include "plan/diagnosis.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *word;
	const char *text;
	const char *means; /* of those without a text */
} causes[CTM_CAUSE_N] = {
	[CTM_CAUSE_NONE] = { .word = "none", .means = "nothing is wrong" },
	[CTM_CAUSE_UNKNOWN] = { .word = "unknown", .means = "nothing tells what happened" },
	[CTM_CAUSE_PACKAGE_RUN] = { .word = "package-run",
				    .text = "a package manager was run from the host" },
	[CTM_CAUSE_COPIED_IN] = { .word = "copied-in",
				  .text = "files were copied in from the host" },
	[CTM_CAUSE_CONVERTER_SKIPPED] = { .word = "converter-skipped",
					  .text = "a tool that shifts ids left some out" },
	[CTM_CAUSE_CONVERTER_TWICE] = { .word = "converter-twice",
					.text = "a tool that shifts ids added the base twice" },
	[CTM_CAUSE_MAP_CHANGED] = { .word = "map-changed",
				    .text = "the id map was changed after files were written" },
	[CTM_CAUSE_MAP_WRONG] = { .word = "map-wrong",
				  .text = "the map is wrong and not the files" },
	[CTM_CAUSE_FLAG_FLIPPED] = { .word = "flag-flipped",
				     .text = "the container's privileged flag was changed" },
	[CTM_CAUSE_FLAG_MISPLACED] = { .word = "flag-misplaced",
				       .text = "the line stands in a section that is not in "
					       "force" },
	[CTM_CAUSE_NEVER_SHIFTED] = { .word = "never-shifted",
				      .text = "the volume was never shifted, or the container "
					      "was privileged and its flag was changed" },
	[CTM_CAUSE_BACKUP_THROUGH_MAP] = { .word = "backup-through-map",
					   .text = "a backup or a copy was made through the map" },
	[CTM_CAUSE_OTHER_HOST] = { .word = "other-host",
				   .text = "files came from another host or container, or from "
					   "an earlier map" },
	[CTM_CAUSE_PVE_ROOT_OWNER] = { .word = "pve-root-owner",
				       .text = "Proxmox VE (pve-container 6.0.19) gave the top "
					       "directory to the host's root" },
	[CTM_CAUSE_NESTED] = { .word = "nested-container",
			       .text = "a container inside this one needs a larger map" },
	[CTM_CAUSE_FOREIGN_ID] = { .word = "foreign-id",
				   .text = "an archive or a directory service brought ids that "
					   "the map does not hold" },
	[CTM_CAUSE_SURROUNDINGS] = { .word = "surroundings",
				     .means = "no matter of files: a lock, a directory above, "
					      "lines of the configuration" },
	[CTM_CAUSE_ASKED] = { .word = "asked-for", .means = "an option asks for it" },
};

const char *ctm_cause_word(enum ctm_cause cause)
{
	return causes[(size_t)cause < ARRAY_LEN(causes) ? cause : CTM_CAUSE_UNKNOWN].word;
}

const char *ctm_cause_text(enum ctm_cause cause)
{
	return causes[(size_t)cause < ARRAY_LEN(causes) ? cause : CTM_CAUSE_UNKNOWN].text;
}

const char *ctm_cause_means(enum ctm_cause cause)
{
	const char *text = ctm_cause_text(cause);

	return text ? text : causes[(size_t)cause < ARRAY_LEN(causes) ? cause : 1].means;
}

/*
 * Its own files, or enough of those it installs: a few single ones may have been copied. Files that
 * it makes while it runs (caches of ld.so, links of alternatives) are on no list.
 */
static bool is_package_run(const struct ctm_pkgfiles_found *p)
{
	return p && (p->own > 0 || p->listed >= 3) && (p->own + p->listed) * 2 >= p->looked;
}

/* A part of the tree that somebody chose: not etc or usr as such, which many things write to. */
static bool is_one_place(const struct ctm_signs *s)
{
	if (!s->top || s->top_len == 0) {
		return false;
	}
	return s->top_found || memchr(s->top, '/', s->top_len);
}

static enum ctm_cause cause_of_host(const struct ctm_evidence *ev, const struct ctm_signs *s)
{
	if (s->inodes == 1 && s->top && s->top_len == 0) {
		return CTM_CAUSE_PVE_ROOT_OWNER;
	}
	if (s->by_id > 0 && s->other_map == s->by_id) {
		return CTM_CAUSE_MAP_CHANGED;
	}
	if (is_package_run(ev->packages)) {
		return CTM_CAUSE_PACKAGE_RUN;
	}
	if (s->inodes >= 2 && s->special + s->odd == s->inodes) {
		return CTM_CAUSE_CONVERTER_SKIPPED;
	}
	return is_one_place(s) ? CTM_CAUSE_COPIED_IN : CTM_CAUSE_UNKNOWN;
}

/* Of what is on the host's ids, when it is most of the volume. */
static enum ctm_cause cause_of_tree(const struct ctm_evidence *ev)
{
	return ev->privileged_in ? CTM_CAUSE_FLAG_FLIPPED : CTM_CAUSE_NEVER_SHIFTED;
}

/* A list that is wrong where owners are right was left out by whoever moved these. */
static enum ctm_cause cause_of_acl(const struct ctm_all_signs *all, const struct ctm_evidence *ev)
{
	const struct ctm_signs *owners = ctm_signs_of(all, CTM_F_OWN_HOST);
	enum ctm_cause cause;

	if (ctm_signs_of(all, CTM_F_TREE_HOST)) {
		return cause_of_tree(ev);
	}
	if (!owners) {
		return CTM_CAUSE_CONVERTER_SKIPPED;
	}
	cause = cause_of_host(ev, owners);
	/* no package manager sets one */
	return cause == CTM_CAUSE_COPIED_IN || cause == CTM_CAUSE_MAP_CHANGED ? cause :
										CTM_CAUSE_UNKNOWN;
}

static enum ctm_cause cause_of_hole(const struct ctm_plan *plan, const struct ctm_signs *s)
{
	return plan->volume.inodes && s->inodes > plan->volume.inodes / 2 ? CTM_CAUSE_MAP_WRONG :
									    CTM_CAUSE_MAP_CHANGED;
}

/* A lock with a foreign owner is the trace of a run; one that is damaged may be the container's. */
static enum ctm_cause cause_of_package(const struct ctm_signs *s)
{
	return s->by_id > 0 ? CTM_CAUSE_PACKAGE_RUN : CTM_CAUSE_UNKNOWN;
}

static enum ctm_cause cause_of(const struct ctm_plan *plan, const struct ctm_evidence *ev,
			       const struct ctm_all_signs *all, const struct ctm_signs *s)
{
	switch (s->code) {
	case CTM_F_TREE_HOST:
		return cause_of_tree(ev);
	case CTM_F_TREE_MAPPED:
		return CTM_CAUSE_FLAG_FLIPPED;
	case CTM_F_CONF_SECTION:
		return CTM_CAUSE_FLAG_MISPLACED;
	case CTM_F_OWN_HOST:
		return ctm_signs_of(all, CTM_F_TREE_HOST) ? cause_of_tree(ev) :
							    cause_of_host(ev, s);
	case CTM_F_ACL_HOST:
		return cause_of_acl(all, ev);
	case CTM_F_OWN_HOLE:
		return cause_of_hole(plan, s);
	case CTM_F_ACL_HOLE:
		return CTM_CAUSE_MAP_CHANGED;
	case CTM_F_OWN_TWICE:
	case CTM_F_ACL_TWICE:
		return CTM_CAUSE_CONVERTER_TWICE;
	case CTM_F_OWN_BASE:
	case CTM_F_ACL_BASE:
		return CTM_CAUSE_OTHER_HOST;
	case CTM_F_OWN_OVERFLOW:
	case CTM_F_ACL_OVERFLOW:
		return CTM_CAUSE_BACKUP_THROUGH_MAP;
	case CTM_F_OWN_BEYOND:
	case CTM_F_ACL_BEYOND:
		return s->nested == s->inodes ? CTM_CAUSE_NESTED : CTM_CAUSE_FOREIGN_ID;
	case CTM_F_OWN_FROM:
	case CTM_F_ACL_FROM:
	case CTM_F_FLATTEN:
		return CTM_CAUSE_ASKED;
	case CTM_F_PKG_LOCK:
	case CTM_F_PKG_CACHE:
	case CTM_F_PKG_PARTIAL:
		return cause_of_package(s);
	case CTM_F_CONF_FOREIGN:
	case CTM_F_CONF_LOCK:
	case CTM_F_CONF_SNAPSHOT:
	case CTM_F_CONF_UNKNOWN:
	case CTM_F_PATH_PARENT:
	case CTM_F_MAP_OVERLAP:
	case CTM_F_MAP_HOLE:
	case CTM_F_MAP_PUNCH:
	case CTM_F_MAP_SUBID:
	case CTM_F_MAP_ASYM:
	case CTM_F_MAP_ACCOUNT:
	case CTM_F_PKG_HELD:
	case CTM_F_MOUNT_BELOW:
		return CTM_CAUSE_SURROUNDINGS;
	default:
		return CTM_CAUSE_UNKNOWN;
	}
}

int ctm_diagnose(const struct ctm_plan *plan, const struct ctm_evidence *evidence,
		 struct ctm_diagnosis *ret)
{
	static const struct ctm_evidence none = { 0 };
	CLEANUP(ctm_all_signs_done) struct ctm_all_signs all = { 0 };
	CLEANUP(ctm_diagnosis_done) struct ctm_diagnosis d = { 0 };
	int r = ctm_signs_read(plan, &all);

	evidence = evidence ? evidence : &none;
	for (size_t i = 0; i < all.v.n && r == 0; i++) {
		const struct ctm_signs *s = &all.v.v[i];
		struct ctm_diagnosed one = {
			.code = s->code,
			.cause = cause_of(plan, evidence, &all, s),
		};

		r = ctm_diagnosis_support(plan, evidence, s, &d.arena, &one);
		r = r < 0 ? r : ctm_vec_push(&d.groups, &one);
	}
	r = r < 0 ? r : ctm_diagnosis_conclude(plan, &all, &d);
	if (r < 0) {
		return r;
	}
	*ret = d;
	d = (struct ctm_diagnosis){ 0 };
	return 0;
}

void ctm_diagnosis_done(struct ctm_diagnosis *diagnosis)
{
	ctm_vec_done(&diagnosis->groups);
	ctm_arena_done(&diagnosis->arena);
	*diagnosis = (struct ctm_diagnosis){ 0 };
}

const struct ctm_diagnosed *ctm_diagnosis_of(const struct ctm_diagnosis *diagnosis,
					     enum ctm_finding_code code)
{
	for (size_t i = 0; i < diagnosis->groups.n; i++) {
		if (diagnosis->groups.v[i].code == code) {
			return &diagnosis->groups.v[i];
		}
	}
	return NULL;
}
