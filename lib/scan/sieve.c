/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sieve: which entries of a volume matter. */
#include "scan/sieve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pathname.h"
#include "id/acl.h"
#include "id/fcaps.h"

void ctm_sieve_init(struct ctm_sieve *sieve, const struct ctm_scan_request *req)
{
	*sieve = (struct ctm_sieve){
		.map = req->map,
		.from = req->map ? req->from : NULL,
		.all = req->want_all && !req->want_none,
		.none = req->want_none,
		.rules = req->rules && !req->want_none,
	};
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		ctm_did *nobody = &sieve->nobody[kind];

		/* where it is passed through, nothing tells the one from the other */
		if (!req->map ||
		    ctm_idmap_to_disk(req->map, kind, (ctm_cid){ CTM_ID_OVERFLOW }, nobody) < 0 ||
		    nobody->v == CTM_ID_OVERFLOW) {
			nobody->v = CTM_ID_INVALID;
		}
	}
}

bool ctm_sieve_off_far(struct ctm_sieve *sieve, enum ctm_idkind kind, ctm_did id)
{
	const struct ctm_range *range;
	size_t n;

	if (!sieve->map) {
		return true;
	}
	range = ctm_idmap_ranges(sieve->map, kind, &n);
	for (size_t i = 0; i < n; i++) {
		if (id.v - range[i].disk < range[i].len) {
			sieve->near[kind].first = range[i].disk;
			sieve->near[kind].len = range[i].len;
			return false;
		}
	}
	return true;
}

bool ctm_sieve_from(const struct ctm_sieve *sieve, enum ctm_idkind kind, ctm_did id)
{
	ctm_did to;

	return sieve->from && ctm_idmap_carry(sieve->from, sieve->map, kind, id, &to) &&
	       to.v != id.v;
}

bool ctm_sieve_needs_attrs(const struct ctm_sieve *sieve, bool ruled)
{
	if (sieve->none) {
		return false;
	}
	return sieve->all || sieve->map || (sieve->rules && ruled);
}

static bool caps_off(struct ctm_sieve *sieve, struct ctm_bytes raw)
{
	struct ctm_fcaps caps;

	if (ctm_fcaps_parse(raw, &caps) < 0) {
		return true;
	}
	/* Revision 2 has no root id and works in every user namespace. */
	return caps.revision == 3 && (ctm_sieve_off(sieve, CTM_UID, caps.rootid) ||
				      ctm_sieve_from(sieve, CTM_UID, caps.rootid));
}

static bool acl_off(const struct ctm_sieve *sieve, struct ctm_bytes acl)
{
	int n;

	if (ctm_acl_off_map(acl, sieve->map)) {
		return true;
	}
	n = sieve->from ? ctm_acl_count(acl) : 0;
	for (int i = 0; i < n; i++) {
		const struct ctm_acl_entry e = ctm_acl_get(acl, i);
		enum ctm_idkind kind;

		if (ctm_acl_names(&e, &kind) && ctm_sieve_from(sieve, kind, (ctm_did){ e.id })) {
			return true;
		}
	}
	return false;
}

bool ctm_sieve_wants(struct ctm_sieve *sieve, const struct ctm_fact *inode, unsigned int off,
		     bool ruled)
{
	if (sieve->none) {
		return false;
	}
	if (sieve->all || (sieve->rules && ruled)) {
		return true;
	}
	if (!sieve->map) {
		return false;
	}
	return off != 0 || (inode->acl_access.p && acl_off(sieve, inode->acl_access)) ||
	       (inode->acl_default.p && acl_off(sieve, inode->acl_default)) ||
	       (inode->caps.p && caps_off(sieve, inode->caps));
}

static int by_path(const void *a, const void *b)
{
	const char *x = *(const char *const *)a;
	const char *y = *(const char *const *)b;

	return ctm_path_cmp(x, strlen(x), y, strlen(y));
}

int ctm_sieve_starts(const struct ctm_scan_request *req, const char ***ret, size_t *ret_n)
{
	const size_t n = req->n_starts;
	const char **starts = calloc(n ? n : 1, sizeof(*starts));
	size_t kept = 0;

	if (!starts) {
		return -ENOMEM;
	}
	if (n == 0) {
		starts[kept++] = "";
	} else {
		memcpy(starts, req->starts, n * sizeof(*starts));
		qsort(starts, n, sizeof(*starts), by_path);
	}
	/* What is within a start comes directly behind it. */
	for (size_t i = 0; i < n; i++) {
		const char *last = kept > 0 ? starts[kept - 1] : NULL;

		if (!last || !ctm_path_within(starts[i], strlen(starts[i]), last, strlen(last))) {
			starts[kept++] = starts[i];
		}
	}
	*ret = starts;
	*ret_n = kept;
	return 0;
}
