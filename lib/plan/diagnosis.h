/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Diagnosis: what most likely happened to a volume, with what speaks for it. Pure.
 *
 * A cause is said, never acted on: what a repair does follows from classes and options alone.
 */
#ifndef CTM_PLAN_DIAGNOSIS_H
#define CTM_PLAN_DIAGNOSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "plan/pkgfiles.h"
#include "plan/plan.h"

/** The words of ctm_cause_word() are interface: the JSON report has them. */
enum ctm_cause {
	CTM_CAUSE_NONE,    /* nothing is wrong */
	CTM_CAUSE_UNKNOWN, /* nothing tells what it was */
	CTM_CAUSE_PACKAGE_RUN,
	CTM_CAUSE_COPIED_IN,
	CTM_CAUSE_CONVERTER_SKIPPED, /* links, special files, odd names, or access lists */
	CTM_CAUSE_CONVERTER_TWICE,
	CTM_CAUSE_MAP_CHANGED, /* the files are older than the map */
	CTM_CAUSE_MAP_WRONG,   /* most of the volume fits another map of the container */
	CTM_CAUSE_FLAG_FLIPPED,
	CTM_CAUSE_FLAG_MISPLACED,
	CTM_CAUSE_NEVER_SHIFTED,
	CTM_CAUSE_BACKUP_THROUGH_MAP,
	CTM_CAUSE_OTHER_HOST,
	CTM_CAUSE_PVE_ROOT_OWNER, /* pve-container 6.0.19 gave "/" to the host's root */
	CTM_CAUSE_NESTED,
	CTM_CAUSE_FOREIGN_ID,
	CTM_CAUSE_SURROUNDINGS, /* no matter of files: locks, directories above, the map's lines */
	CTM_CAUSE_ASKED,        /* --from-map, --flatten, --clean all */
	CTM_CAUSE_N
};
/** "package-run"; never NULL. */
const char *ctm_cause_word(enum ctm_cause cause);
/** In a few words, as it stands behind "cause:"; NULL for those that have nothing to say. */
const char *ctm_cause_text(enum ctm_cause cause);

/** The same, and for the others what the word means; never NULL. */
const char *ctm_cause_means(enum ctm_cause cause);

/** What the plan does not know. Borrowed for the call alone. */
struct ctm_evidence {
	const struct ctm_pkgfiles_found *packages; /* or NULL: not looked for */
	const char *privileged_in; /* a section in which the container is privileged, or NULL */
	bool mount_point;          /* the volume is not the rootfs */
	bool plain_lxc;            /* "lxc.idmap = u ..." and not "lxc.idmap: u ..." */
};

/** All texts are in the arena or static, safe to show, and end without a full stop. */
struct ctm_diagnosed {
	enum ctm_finding_code code;
	enum ctm_cause cause;
	const char *evidence; /* or NULL */
	const char *note;     /* what else follows for a person, or NULL */
	const char *lines;    /* lines for a configuration, each with a newline; or NULL */
};

/** Zero-initialise. */
struct ctm_diagnosis {
	enum ctm_cause cause;
	enum ctm_finding_code code; /* what the sentence is about; CTM_F_N: nothing is wrong */
	const char *text;           /* one sentence; NULL: there is no diagnosis */
	const char *next;           /* what to do, with the word TARGET for the target; or NULL */
	CTM_VEC(struct ctm_diagnosed) groups; /* one for each code that the plan has, in order */
	struct ctm_arena arena;
};

/** plan: finished. evidence may be NULL. -ENOMEM. */
int ctm_diagnose(const struct ctm_plan *plan, const struct ctm_evidence *evidence,
		 struct ctm_diagnosis *ret);
void ctm_diagnosis_done(struct ctm_diagnosis *diagnosis);
/** That of a code, or NULL. */
const struct ctm_diagnosed *ctm_diagnosis_of(const struct ctm_diagnosis *diagnosis,
					     enum ctm_finding_code code);

/* --- between the files of the diagnosis --- */

/** What the findings of one code have in common. Counts are of inodes if nothing else is said. */
struct ctm_signs {
	enum ctm_finding_code code;
	uint64_t inodes;
	uint64_t findings;
	uint64_t by_id;   /* findings that name an id */
	uint64_t special; /* links, FIFOs, sockets, devices */
	uint64_t odd; /* others, with a blank, a quote, a backslash or a control byte in the path */
	uint64_t links;      /* with several names */
	uint64_t unreadable; /* not for everybody, so not for a reader through the map */
	uint64_t nested;
	uint64_t other_map;    /* findings whose id is on the disk side of another map */
	const char *other;     /* its name, where it is one for all of them; else NULL */
	const char *top;       /* the directory that holds all, or the only inode; NULL: no paths */
	size_t top_len;        /* 0: the root */
	bool top_found;        /* the top itself is one of them */
	uint32_t largest[2];   /* of the ids, by enum ctm_idkind */
	uint64_t with_kind[2]; /* findings that name an id of this kind */
	const char *text;      /* of the first one of the volume as a whole, or NULL */
};

struct ctm_all_signs {
	CTM_VEC(struct ctm_signs) v; /* one for each code that occurs, in order */
};
static inline void ctm_all_signs_done(struct ctm_all_signs *all)
{
	ctm_vec_done(&all->v);
}
/** -ENOMEM. */
int ctm_signs_read(const struct ctm_plan *plan, struct ctm_all_signs *ret);
const struct ctm_signs *ctm_signs_of(const struct ctm_all_signs *all, enum ctm_finding_code code);

/** Fills in evidence, note and lines of a group whose cause is known. -ENOMEM. */
int ctm_diagnosis_support(const struct ctm_plan *plan, const struct ctm_evidence *evidence,
			  const struct ctm_signs *signs, struct ctm_arena *arena,
			  struct ctm_diagnosed *one);
/** Fills in cause, code, text and next from the groups. -ENOMEM. */
int ctm_diagnosis_conclude(const struct ctm_plan *plan, const struct ctm_all_signs *all,
			   struct ctm_diagnosis *diagnosis);

#endif
