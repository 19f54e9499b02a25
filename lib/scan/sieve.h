/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sieve: which entries of a volume matter. Pure, and the same for every source of facts.
 *
 * A sieve remembers the range that held the last id, because nearly all ids of a volume are in one:
 * the test of a healthy entry is two subtractions. One sieve for each thread, therefore.
 */
#ifndef CTM_SCAN_SIEVE_H
#define CTM_SCAN_SIEVE_H

#include <stdbool.h>
#include <stddef.h>

#include "id/idmap.h"
#include "scan/fact.h"
#include "scan/scan.h"

/** The bit of this kind of id in a set. */
#define CTM_OFF(kind) (1u << (kind))

/** The bit of this kind for an id that the request's other map would have elsewhere. */
#define CTM_FROM(kind) (4u << (kind))

struct ctm_sieve {
	const struct ctm_idmap *map;
	const struct ctm_idmap *from;
	ctm_did nobody[2]; /* container id 65534 on disk; CTM_ID_INVALID when it has no place */
	bool all;
	bool none;
	bool rules;
	struct {
		uint32_t first;
		uint32_t len;
	} near[2];
};

/** The request and its map outlive the sieve. */
void ctm_sieve_init(struct ctm_sieve *sieve, const struct ctm_scan_request *req);

/* ctm_sieve_off() for an id outside the remembered range. */
bool ctm_sieve_off_far(struct ctm_sieve *sieve, enum ctm_idkind kind, ctm_did id);

/** Whether the id is off the map's disk side; without a map every id is. */
static inline bool ctm_sieve_off(struct ctm_sieve *sieve, enum ctm_idkind kind, ctm_did id)
{
	if (id.v - sieve->near[kind].first < sieve->near[kind].len) {
		return false;
	}
	return ctm_sieve_off_far(sieve, kind, id);
}

/** Whether the id would stand elsewhere if it was written under the request's other map. */
bool ctm_sieve_from(const struct ctm_sieve *sieve, enum ctm_idkind kind, ctm_did id);

/** What there is to say of an owner's ids: a set of CTM_OFF() and CTM_FROM(). */
static inline unsigned int ctm_sieve_owner(struct ctm_sieve *sieve, ctm_did uid, ctm_did gid)
{
	unsigned int off = (ctm_sieve_off(sieve, CTM_UID, uid) ? CTM_OFF(CTM_UID) : 0) |
			   (ctm_sieve_off(sieve, CTM_GID, gid) ? CTM_OFF(CTM_GID) : 0);

	if (sieve->from) {
		off |= (ctm_sieve_from(sieve, CTM_UID, uid) ? CTM_FROM(CTM_UID) : 0) |
		       (ctm_sieve_from(sieve, CTM_GID, gid) ? CTM_FROM(CTM_GID) : 0);
	}
	return off;
}

/** Whether ACLs and capabilities of an entry have to be read; ruled: a rule names its path. */
bool ctm_sieve_needs_attrs(const struct ctm_sieve *sieve, bool ruled);

/**
 * Whether an inode becomes a fact; off as from ctm_sieve_owner(). Errors and mounts always do,
 * except for .none.
 */
bool ctm_sieve_wants(struct ctm_sieve *sieve, const struct ctm_fact *inode, unsigned int off,
		     bool ruled);

/**
 * The start paths in the order of ctm_path_cmp(), without those that are repeated or within
 * another; "" alone when the request names none. An array of borrowed strings for free(). -ENOMEM.
 */
int ctm_sieve_starts(const struct ctm_scan_request *req, const char ***ret, size_t *ret_n);

#endif
