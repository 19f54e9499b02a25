/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which entries matter. */
#include "scan/sieve.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "id/acl.h"
#include "id/fcaps.h"

/*
 * uid 0..999 -> 100000.., 1000 -> 1000 (punched through), 1001..65535 -> 101001..; gid 0..65535 ->
 * 200000..
 */
static struct ctm_idmap *punched(void)
{
	struct ctm_idmap *map = ctm_idmap_new();

	cr_assert_not_null(map);
	cr_assert_eq(ctm_idmap_add(map, CTM_UID, (struct ctm_range){ 0, 100000, 1000 }), 0);
	cr_assert_eq(ctm_idmap_add(map, CTM_UID, (struct ctm_range){ 1000, 1000, 1 }), 0);
	cr_assert_eq(ctm_idmap_add(map, CTM_UID, (struct ctm_range){ 1001, 101001, 64535 }), 0);
	cr_assert_eq(ctm_idmap_add(map, CTM_GID, (struct ctm_range){ 0, 200000, 65536 }), 0);
	return map;
}

static const struct {
	const char *name;
	enum ctm_idkind kind;
	uint32_t id;
	bool off;
} ids[] = {
	{ "host root", CTM_UID, 0, true },
	{ "below the punched id", CTM_UID, 999, true },
	{ "the punched id", CTM_UID, 1000, false },
	{ "above the punched id", CTM_UID, 1001, true },
	{ "before the first range", CTM_UID, 99999, true },
	{ "first of the first range", CTM_UID, 100000, false },
	{ "last of the first range", CTM_UID, 100999, false },
	{ "the hole between", CTM_UID, 101000, true },
	{ "first of the last range", CTM_UID, 101001, false },
	{ "last of the last range", CTM_UID, 165535, false },
	{ "behind the last range", CTM_UID, 165536, true },
	{ "invalid", CTM_UID, UINT32_MAX, true },
	{ "the uid's base as a gid", CTM_GID, 100000, true },
	{ "first gid", CTM_GID, 200000, false },
	{ "last gid", CTM_GID, 265535, false },
	{ "behind the last gid", CTM_GID, 265536, true },
};

CASES(sieve, an_id_alone, ids)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = punched();
	const struct ctm_scan_request req = { .map = map };
	struct ctm_sieve sieve;

	ctm_sieve_init(&sieve, &req);
	cr_assert_eq(ctm_sieve_off(&sieve, ids[*i].kind, (ctm_did){ ids[*i].id }), ids[*i].off,
		     "%s", ids[*i].name);
}

/* What the sieve remembers of one id must not change the answer for the next. */
Test(sieve, every_pair_of_ids)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = punched();
	const struct ctm_scan_request req = { .map = map };

	for (size_t a = 0; a < ARRAY_LEN(ids); a++) {
		for (size_t b = 0; b < ARRAY_LEN(ids); b++) {
			struct ctm_sieve sieve;

			ctm_sieve_init(&sieve, &req);
			(void)ctm_sieve_off(&sieve, ids[a].kind, (ctm_did){ ids[a].id });
			cr_assert_eq(ctm_sieve_off(&sieve, ids[b].kind, (ctm_did){ ids[b].id }),
				     ids[b].off, "%s after %s", ids[b].name, ids[a].name);
		}
	}
}

Test(sieve, owners_are_a_set_of_kinds)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = punched();
	const struct ctm_scan_request req = { .map = map };
	const struct ctm_scan_request no_map = { .jobs = 1 };
	const ctm_did good_uid = { 100000 }, good_gid = { 200000 }, bad = { 5 };
	struct ctm_sieve sieve;

	ctm_sieve_init(&sieve, &req);
	cr_assert_eq(ctm_sieve_owner(&sieve, good_uid, good_gid), 0);
	cr_assert_eq(ctm_sieve_owner(&sieve, bad, good_gid), CTM_OFF(CTM_UID));
	cr_assert_eq(ctm_sieve_owner(&sieve, good_uid, bad), CTM_OFF(CTM_GID));
	cr_assert_eq(ctm_sieve_owner(&sieve, bad, bad), CTM_OFF(CTM_UID) | CTM_OFF(CTM_GID));
	ctm_sieve_init(&sieve, &no_map);
	cr_assert_eq(ctm_sieve_owner(&sieve, good_uid, good_gid),
		     CTM_OFF(CTM_UID) | CTM_OFF(CTM_GID), "without a map every id counts");
}

/* Version 2 with u::rwx,u:ID:rwx,g::r-x,g:GID:r-x,m::rwx,o::r-x, ids little endian at 16 and 32. */
#define ACL(u0, u1, u2, g0, g1, g2)                                                          \
	"\x02\0\0\0"                                                                         \
	"\x01\0\x07\0\xff\xff\xff\xff\x02\0\x07\0" u0 u1 u2 "\0\x04\0\x05\0\xff\xff\xff\xff" \
	"\x08\0\x05\0" g0 g1 g2 "\0\x10\0\x07\0\xff\xff\xff\xff\x20\0\x05\0\xff\xff\xff\xff"

static const char acl_good[] = ACL("\xa1", "\x86", "\x01", "\x41", "\x0d", "\x03");
static const char acl_bad_uid[] = ACL("\x01", "\0", "\0", "\x41", "\x0d", "\x03");
static const char acl_bad_gid[] = ACL("\xa1", "\x86", "\x01", "\x01", "\0", "\0");
static const char acl_short[] = "\x02\0\0\0\x01";
/* cap_net_raw=ep, revision 2; revision 3 with root id 100000 and 0x10000 */
static const char caps_v2[] = "\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
static const char caps_good[] = "\x01\0\0\x03\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xa0\x86\x01\0";
static const char caps_bad[] = "\x01\0\0\x03\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0";
static const char caps_broken[] = "\x01\0\0\x02\0\x20";

enum which { NONE, ACCESS, DEFAULT, CAPS };

static const struct {
	const char *name;
	enum which which;
	const char *p;
	size_t len;
	bool wants;
} values[] = {
	{ "nothing", NONE, NULL, 0, false },
	{ "ids of an ACL on the map", ACCESS, acl_good, sizeof(acl_good) - 1, false },
	{ "user of an ACL off the map", ACCESS, acl_bad_uid, sizeof(acl_bad_uid) - 1, true },
	{ "group of an ACL off the map", ACCESS, acl_bad_gid, sizeof(acl_bad_gid) - 1, true },
	{ "ACL that is none", ACCESS, acl_short, sizeof(acl_short) - 1, true },
	{ "default ACL on the map", DEFAULT, acl_good, sizeof(acl_good) - 1, false },
	{ "default ACL off the map", DEFAULT, acl_bad_gid, sizeof(acl_bad_gid) - 1, true },
	{ "capability without root id", CAPS, caps_v2, sizeof(caps_v2) - 1, false },
	{ "root id on the map", CAPS, caps_good, sizeof(caps_good) - 1, false },
	{ "root id off the map", CAPS, caps_bad, sizeof(caps_bad) - 1, true },
	{ "capability that is none", CAPS, caps_broken, sizeof(caps_broken) - 1, true },
	{ "empty capability", CAPS, "", 0, true },
};

CASES(sieve, values_of_a_healthy_owner, values)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = punched();
	const struct ctm_scan_request req = { .map = map };
	const struct ctm_bytes value = { values[*i].p, values[*i].len };
	struct ctm_fact fact = { .kind = CTM_FACT_INODE, .mode = S_IFREG | 0644 };
	struct ctm_sieve sieve;

	switch (values[*i].which) {
	case NONE:
		break;
	case ACCESS:
		fact.acl_access = value;
		break;
	case DEFAULT:
		fact.acl_default = value;
		break;
	case CAPS:
		fact.caps = value;
		break;
	}
	ctm_sieve_init(&sieve, &req);
	cr_assert_eq(ctm_sieve_wants(&sieve, &fact, 0, false), values[*i].wants, "%s",
		     values[*i].name);
}

static const struct {
	const char *name;
	bool map, all, none, rules; /* the request */
	bool off, ruled;            /* the entry */
	bool wants, needs;
} requests[] = {
	{ "a healthy entry", .map = true, .needs = true },
	{ "owner off the map", .map = true, .off = true, .needs = true, .wants = true },
	{ "rules not asked for", .map = true, .ruled = true, .needs = true },
	{ "rule", .map = true, .rules = true, .ruled = true, .needs = true, .wants = true },
	{ "rules, but not here", .map = true, .rules = true, .needs = true },
	{ "everything", .map = true, .all = true, .needs = true, .wants = true },
	{ "everything without a map", .all = true, .off = true, .needs = true, .wants = true },
	{ "no map", .off = true },
	{ "rule without a map", .rules = true, .ruled = true, .off = true, .needs = true,
	  .wants = true },
	{ "rules without a map, but not here", .rules = true, .off = true },
	{ "totals only", .map = true, .none = true, .off = true },
	{ "totals only wins", .map = true, .all = true, .none = true, .rules = true, .ruled = true,
	  .off = true },
};

CASES(sieve, what_was_asked_for, requests)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = punched();
	const struct ctm_scan_request req = {
		.map = requests[*i].map ? map : NULL,
		.want_all = requests[*i].all,
		.want_none = requests[*i].none,
		.rules = requests[*i].rules,
	};
	const struct ctm_fact fact = { .kind = CTM_FACT_INODE, .mode = S_IFREG | 0644 };
	struct ctm_sieve sieve;

	ctm_sieve_init(&sieve, &req);
	cr_assert_eq(ctm_sieve_wants(&sieve, &fact, requests[*i].off ? CTM_OFF(CTM_GID) : 0,
				     requests[*i].ruled),
		     requests[*i].wants, "%s: wanted", requests[*i].name);
	cr_assert_eq(ctm_sieve_needs_attrs(&sieve, requests[*i].ruled), requests[*i].needs,
		     "%s: attributes", requests[*i].name);
}

#define START_MAX 6

static const struct {
	const char *name;
	const char *in[START_MAX];
	const char *want[START_MAX];
} starts[] = {
	{ "none is the root", { NULL }, { "" } },
	{ "one", { "var/lib" }, { "var/lib" } },
	{ "repeated", { "var", "etc", "var" }, { "etc", "var" } },
	{ "nested", { "var/lib/dpkg", "var/lib", "var/lib/apt" }, { "var/lib" } },
	{ "the root holds all", { "var", "", "etc" }, { "" } },
	{ "a common beginning is not nesting", { "a.b", "a", "a/b", "ab" }, { "a", "a.b", "ab" } },
	{ "siblings stay", { "c", "b/x", "b/y" }, { "b/x", "b/y", "c" } },
};

CASES(sieve, start_paths, starts)
{
	CLEANUP_FREE const char **got = NULL;
	struct ctm_scan_request req = { .starts = starts[*i].in };
	size_t n = 0, want = 0;

	while (req.n_starts < START_MAX && starts[*i].in[req.n_starts]) {
		req.n_starts++;
	}
	while (want < START_MAX && starts[*i].want[want]) {
		want++;
	}
	cr_assert_eq(ctm_sieve_starts(&req, &got, &n), 0);
	cr_assert_eq(n, want, "%s: %zu paths", starts[*i].name, n);
	for (size_t k = 0; k < n; k++) {
		cr_assert_str_eq(got[k], starts[*i].want[k], "%s", starts[*i].name);
	}
}

/* With another map, what would stand elsewhere matters, in every place that holds ids. */
Test(sieve, ids_of_another_map_matter)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = punched();
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *from = ctm_idmap_new();
	struct ctm_scan_request req = { .map = map };
	struct ctm_fact fact = { .kind = CTM_FACT_INODE, .uid = { 100000 }, .gid = { 200000 } };
	struct ctm_sieve sieve;

	/* as the map has it but for one gid, and for a uid that the map does not hold */
	cr_assert_eq(ctm_idmap_add(from, CTM_UID, (struct ctm_range){ 0, 100000, 1000 }), 0);
	cr_assert_eq(ctm_idmap_add(from, CTM_UID, (struct ctm_range){ 70000, 1000, 1 }), 0);
	cr_assert_eq(ctm_idmap_add(from, CTM_GID, (struct ctm_range){ 5, 200001, 1 }), 0);
	ctm_sieve_init(&sieve, &req);
	cr_assert_eq(ctm_sieve_owner(&sieve, (ctm_did){ 1000 }, (ctm_did){ 200001 }), 0);
	req.from = from;
	ctm_sieve_init(&sieve, &req);
	cr_assert_eq(ctm_sieve_owner(&sieve, (ctm_did){ 1000 }, (ctm_did){ 200000 }), 0);
	cr_assert_eq(ctm_sieve_owner(&sieve, (ctm_did){ 1000 }, (ctm_did){ 200001 }),
		     CTM_FROM(CTM_GID));
	cr_assert_not(ctm_sieve_wants(&sieve, &fact, 0, false));
	cr_assert(ctm_sieve_wants(&sieve, &fact, CTM_FROM(CTM_GID), false));
	/* acl_good names uid 100001 and gid 200001 */
	fact.acl_default = (struct ctm_bytes){ .p = acl_good, .len = sizeof(acl_good) - 1 };
	cr_assert(ctm_sieve_wants(&sieve, &fact, 0, false));
	req.from = NULL;
	ctm_sieve_init(&sieve, &req);
	cr_assert_not(ctm_sieve_wants(&sieve, &fact, 0, false));
}
