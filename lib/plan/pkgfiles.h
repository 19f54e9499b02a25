/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of a plan's paths are files of packages: held against the lists that dpkg keeps in
 * var/lib/dpkg/info. Pure, and bounded whatever the lists say, since the container wrote them.
 *
 *	ctm_pkgfiles_new(plan, CTM_F_OWN_HOST, &files)
 *	ctm_pkgfiles_list(files, "nano", 4, content)	for each list
 *	ctm_pkgfiles_found(files, &found)
 *
 * A directory is in the lists of many packages, so a path speaks for a package only when no other
 * one lists it.
 */
#ifndef CTM_PLAN_PKGFILES_H
#define CTM_PLAN_PKGFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "plan/plan.h"

#define CTM_PKGFILES_PATHS 4096 /* of more findings, so many are looked up, evenly spread */
#define CTM_PKGFILES_NAMES 3
#define CTM_PKGFILES_NAME  64

struct ctm_pkgfiles;

struct ctm_pkgfiles_found {
	uint64_t looked; /* paths looked up */
	uint64_t listed; /* of these, files and directories of packages */
	uint64_t own;    /* others, in directories of package managers (struct ctm_rules) */
	/* the packages with most of them, by number, then by name */
	char names[CTM_PKGFILES_NAMES][CTM_PKGFILES_NAME];
	size_t n_names;
	size_t packages; /* all that were found */
	bool lists;      /* there were any */
	bool rpm;        /* there is a database of rpm, which is not read */
};

/** Takes the paths of the findings of a code; they stay in the plan. -ENOMEM. */
int ctm_pkgfiles_new(const struct ctm_plan *plan, enum ctm_finding_code code,
		     struct ctm_pkgfiles **ret);
void ctm_pkgfiles_free(struct ctm_pkgfiles *files);
static inline void ctm_pkgfiles_freep(struct ctm_pkgfiles **files)
{
	ctm_pkgfiles_free(*files);
}

/**
 * One package's list: a path on each line, from the root. A name that is no package's, or too long,
 * is passed over. "/bin/x" is also looked for as "usr/bin/x", where it lies after a merge of both.
 * -ENOMEM.
 */
int ctm_pkgfiles_list(struct ctm_pkgfiles *files, const char *package, size_t len,
		      struct ctm_bytes list);

/** What was found; once, at the end. Zero counts where the plan has no such findings. */
void ctm_pkgfiles_found(struct ctm_pkgfiles *files, struct ctm_pkgfiles_found *ret);

#endif
