/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lens: all that an id is judged by. The volume's map, other maps that the id may come from,
 * the counts of all ids that are off the map, and what the user asked for.
 *
 *	ctm_lens_init(&lens, &policy)
 *	ctm_lens_look(&lens, ...)		certain already, or .unsure
 *	ctm_lens_settle(&lens, &totals)		when the volume is counted
 *	ctm_lens_look(&lens, ...)		pure from here on
 *	ctm_lens_done(&lens)
 */
#ifndef CTM_PLAN_LENS_H
#define CTM_PLAN_LENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "id/idmap.h"
#include "plan/classify.h"
#include "plan/kin.h"
#include "scan/scan.h"

struct ctm_policy;

/** A range of ids that count from another base, with what speaks for it. */
struct ctm_lens_base {
	struct ctm_range range;
	const char *owner; /* whose it is known to be, or NULL: found by its place and its ids */
	bool for_kind[2];  /* by enum ctm_idkind: ids of this kind are judged by it */
	uint64_t n[2];     /* inodes of the volume with an id in it */
	const char *text;  /* "base 165536, uid of 512 inodes: --from-map ..." */
};

/** Zero-initialise. What is private is so marked; the rest may be read once it is settled. */
struct ctm_lens {
	const struct ctm_idmap *map;
	const struct ctm_idmap *from; /* --from-map, or NULL */
	const struct ctm_kin *kin;    /* or NULL */
	unsigned int fix;             /* set of enum ctm_fix */
	bool convert;
	bool settled;
	/* Counts of the volume, or of the selection where there are no others; borrowed. */
	const struct ctm_id_histogram *ids;
	uint64_t inodes;
	uint64_t mapped[2];                  /* inodes whose uid/gid is on the map's disk side */
	CTM_VEC(struct ctm_lens_base) known; /* in the order of kin */
	CTM_VEC(struct ctm_lens_base) found; /* by first disk id */
	struct ctm_idmap *builtin;           /* private: Proxmox VE's default map */
	struct ctm_arena arena;              /* private: texts */
};

/** The policy and what it points to outlive the lens. -ENOMEM. */
int ctm_lens_init(struct ctm_lens *lens, const struct ctm_policy *policy);
void ctm_lens_done(struct ctm_lens *lens);

/** Takes the counts into account; they outlive the lens. NULL: there are none. -ENOMEM. */
int ctm_lens_settle(struct ctm_lens *lens, const struct ctm_scan_totals *totals);

/** Where an inode is, as far as its ids are judged by it. */
struct ctm_place {
	bool nested; /* in a container of the container: ctm_path_nested() */
	bool links;  /* it has several names */
};

struct ctm_verdict {
	enum ctm_class class;
	bool unsure; /* BEYOND, and counts may make it another one: the lens is not settled */
	bool moves;  /* by default, or because it was asked for: to target */
	bool placed; /* target is known */
	ctm_did target;
	/*
	 * of all but MAPPED and BEYOND: the container's id that it means; nested: the inner one's
	 */
	ctm_cid inside;
	/* HOLE: the name of the map; BASE: what speaks for the base; else NULL */
	const char *of;
	unsigned int times; /* TWICE: how often the offset is there too much */
	bool nested;        /* BEYOND: it would be TWICE elsewhere */
};

void ctm_lens_look(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
		   const struct ctm_place *place, struct ctm_verdict *ret);

/**
 * A verdict in words that a title does not have: what it is taken for, the map that it would need.
 * Made in buf or static; NULL when there is nothing to add.
 */
const char *ctm_lens_say(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
			 const struct ctm_verdict *verdict, char buf[static 256]);

/**
 * The last id of the range that a container inside has, of which this is an id: as a rule it has
 * 65536. inside: of the verdict.
 */
ctm_did ctm_lens_last_nested(ctm_did id, ctm_cid inside);

/* --- between the files of the lens --- */

/** Ids that systems give out: accounts of a distribution, the first users, nobody. */
#define CTM_LENS_LOW_END 2000u
static inline bool ctm_lens_is_low(uint32_t inside)
{
	return inside < CTM_LENS_LOW_END || inside == CTM_ID_OVERFLOW;
}
/** First index of the histogram whose id is not below this one. */
size_t ctm_lens_at(const struct ctm_id_histogram *ids, uint32_t id);
/**
 * Whether every id off the map was counted. Of more than CTM_ID_COUNT_MAX it depends on the threads
 * which ones were, so that nothing may follow from it.
 */
bool ctm_lens_complete(const struct ctm_lens *lens);
/** Inodes with an id in len ids from first on. */
uint64_t ctm_lens_count(const struct ctm_id_histogram *ids, uint32_t first, uint32_t len);
/** Another map of the container that holds this id on its disk side; its name, or NULL. */
const char *ctm_lens_other_map(const struct ctm_lens *lens, enum ctm_idkind kind, ctm_did id,
			       ctm_cid *ret);
/** Fills known and found. -ENOMEM. */
int ctm_lens_find_bases(struct ctm_lens *lens);
/** The base that an id is judged by, or NULL; known_only: those that somebody is known to have. */
const struct ctm_lens_base *ctm_lens_base_of(const struct ctm_lens *lens, enum ctm_idkind kind,
					     ctm_did id, bool known_only);

#endif
