/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digest tells any two plans apart, and is the same for the same plan. */
#include <nettle/sha2.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"

/* One action with everything in it, one removal; changed one detail at a time. */
struct sample {
	struct ctm_idmap *map;
	const char *identity;
	struct ctm_action acts[2];
	unsigned char raw[8][64];
	char path[8];
};

static struct sample sample(void)
{
	struct sample s = { .map = map_of("100000"), .identity = "volume_id=local:1\n" };

	memcpy(s.path, "usr/x", 6);
	for (size_t i = 0; i < 6; i++) {
		memset(s.raw[i], 'a' + (int)i, 24);
	}
	s.acts[0] = (struct ctm_action){
		.kind = CTM_ACT_SET,
		.path_len = 5,
		.dev = 1,
		.ino = 2,
		.nlink = 1,
		.names = 1,
		.before = { .mode = 0100644 },
		.after = { .mode = 0100644, .uid = { 100000 }, .gid = { 100000 } },
	};
	s.acts[1] = (struct ctm_action){
		.kind = CTM_ACT_REMOVE,
		.path = "var/lib/dpkg/lock",
		.path_len = 17,
		.ino = 3,
		.before = { .mode = 0100640 },
		.size = 5,
	};
	return s;
}

static void digest(struct sample *s, char ret[33])
{
	struct ctm_plan plan = { .policy = { .map = s->map }, .actions = { .v = s->acts, .n = 2 } };
	struct ctm_inode_state *st[2] = { &s->acts[0].before, &s->acts[0].after };

	s->acts[0].path = s->path;
	for (size_t i = 0; i < 2; i++) {
		if (st[i]->acl_access.len == 0) {
			st[i]->acl_access = (struct ctm_bytes){ .p = s->raw[3 * i], .len = 20 };
			st[i]->acl_default =
				(struct ctm_bytes){ .p = s->raw[3 * i + 1], .len = 20 };
			st[i]->caps = (struct ctm_bytes){ .p = s->raw[3 * i + 2], .len = 20 };
		}
	}
	ctm_plan_digest(&plan, s->identity, ret);
}

enum change {
	NOTHING,
	DEVICE,
	INO,
	CAUSE,
	NAMES,
	/* from here on the digest must differ */
	IDENTITY,
	MAP,
	PATH,
	PATH_SHORTER,
	BEFORE_MODE,
	BEFORE_UID,
	BEFORE_GID,
	AFTER_MODE,
	AFTER_UID,
	AFTER_GID,
	BEFORE_ACL,
	BEFORE_DEFAULT,
	BEFORE_CAPS,
	AFTER_ACL,
	AFTER_DEFAULT,
	AFTER_CAPS,
	SIZE,
	HASH,
	REMOVED_UID,
	KIND,
	SWAPPED,
	CHANGES
};

static void change(struct sample *s, enum change what)
{
	switch (what) {
	case NOTHING:
	case CHANGES:
		break;
	case DEVICE:
		s->acts[0].dev++;
		break;
	case CAUSE:
		s->acts[0].cause = CTM_F_ACL_HOST;
		break;
	case NAMES:
		s->acts[0].names++;
		break;
	case IDENTITY:
		s->identity = "volume_id=local:2\n";
		break;
	case MAP:
		ctm_idmap_free(s->map);
		s->map = map_of("0:100000:65535");
		break;
	case PATH:
		s->path[4] = 'y';
		break;
	case PATH_SHORTER:
		s->acts[0].path_len--;
		break;
	case INO:
		s->acts[0].ino++;
		break;
	case BEFORE_MODE:
		s->acts[0].before.mode = 0104644;
		break;
	case BEFORE_UID:
		s->acts[0].before.uid.v++;
		break;
	case BEFORE_GID:
		s->acts[0].before.gid.v++;
		break;
	case AFTER_MODE:
		s->acts[0].after.mode = 0104644;
		break;
	case AFTER_UID:
		s->acts[0].after.uid.v++;
		break;
	case AFTER_GID:
		s->acts[0].after.gid.v++;
		break;
	case BEFORE_ACL:
	case BEFORE_DEFAULT:
	case BEFORE_CAPS:
	case AFTER_ACL:
	case AFTER_DEFAULT:
	case AFTER_CAPS:
		s->raw[what - BEFORE_ACL][19] ^= 1;
		break;
	case SIZE:
		s->acts[1].size++;
		break;
	case HASH:
		s->acts[1].sha256[31] = 1;
		break;
	case REMOVED_UID:
		s->acts[1].before.uid.v++;
		break;
	case KIND:
		s->acts[1].kind = CTM_ACT_SET;
		break;
	case SWAPPED: {
		struct ctm_inode_state tmp = s->acts[0].before;

		s->acts[0].before = s->acts[0].after;
		s->acts[0].after = tmp;
		break;
	}
	}
}

Test(digest, every_detail_counts)
{
	char seen[CHANGES][33];

	for (int i = 0; i < CHANGES; i++) {
		struct sample s = sample();

		change(&s, (enum change)i);
		digest(&s, seen[i]);
		ctm_idmap_free(s.map);
		cr_assert_eq(strlen(seen[i]), 32);
		cr_assert_eq(strspn(seen[i], "0123456789abcdef"), 32);
		if (i < IDENTITY) {
			cr_assert_str_eq(seen[i], seen[NOTHING], "change %d is of no importance",
					 i);
			continue;
		}
		for (int k = IDENTITY; k < i; k++) {
			cr_assert_str_neq(seen[i], seen[k], "changes %d and %d", i, k);
		}
		cr_assert_str_neq(seen[i], seen[NOTHING], "change %d", i);
	}
}

/* A value moved to the field beside it, and absent against empty. */
Test(digest, nothing_is_ambiguous)
{
	struct ctm_action a = { .kind = CTM_ACT_SET, .path = "ab", .path_len = 2 };
	struct ctm_plan plan = { .actions = { .v = &a, .n = 1 } };
	char seen[6][33];

	a.after.acl_access = (struct ctm_bytes){ .p = "xy", .len = 2 };
	ctm_plan_digest(&plan, "i", seen[0]);
	a.after.acl_default = a.after.acl_access;
	a.after.acl_access.p = NULL;
	a.after.acl_access.len = 0;
	ctm_plan_digest(&plan, "i", seen[1]);
	a.after.acl_access.p = "";
	ctm_plan_digest(&plan, "i", seen[2]);
	a.path = "a";
	a.path_len = 1;
	ctm_plan_digest(&plan, "ib", seen[3]);
	plan.actions.n = 0;
	ctm_plan_digest(&plan, "i", seen[4]);
	ctm_plan_digest(&plan, "", seen[5]);
	for (size_t i = 0; i < 6; i++) {
		for (size_t k = 0; k < i; k++) {
			cr_assert_str_neq(seen[i], seen[k], "%zu and %zu", i, k);
		}
	}
}

/*
 * The documented bytes of the smallest plan, hashed here: magic with its length, identity with its
 * length, two empty maps, no actions.
 */
Test(digest, documented_form)
{
	static const char bytes[] = "\x0d\0\0\0\0\0\0\0"
				    "ctmend plan 1"
				    "\x02\0\0\0\0\0\0\0"
				    "id"
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0"
				    "\0\0\0\0\0\0\0\0";
	struct ctm_plan plan = { 0 };
	struct sha256_ctx ctx;
	uint8_t hash[32];
	char want[33];
	char got[33];

	sha256_init(&ctx);
	sha256_update(&ctx, sizeof(bytes) - 1, (const uint8_t *)bytes);
	sha256_digest(&ctx, sizeof(hash), hash);
	for (size_t i = 0; i < 16; i++) {
		snprintf(want + 2 * i, 3, "%02x", hash[i]);
	}
	ctm_plan_digest(&plan, "id", got);
	cr_assert_str_eq(got, want);
}
