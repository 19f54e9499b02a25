/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The digest that a person approves: a hash over everything that a repair would do.
 *
 * The hashed bytes, version 1. Numbers are little endian; text and values have their length (u64)
 * in front, so that no two plans give the same bytes:
 *
 *	"ctmend plan 1" identity
 *	twice (uids, gids): number of ranges u64, of each: container id, disk id, length u32
 *	of each action: kind u8 (1 set, 2 remove, 3 set with flags lifted, 4 restore), path, state
 *	before, then
 *	of a set: state after, with flags these, CTM_ATTR_* u32, and of a device its number u64;
 *	of a removal: size u64, sha256 of the content (32 bytes);
 *	of a restore: state after instead of before, then as of a removal
 *	of each subvolume that is made writable for them: 5 u8, path
 *	number of actions u64
 *
 *	state = mode u32, uid u32, gid u32, access ACL, default ACL, capability
 *	value = 0 u8 when it is absent, else 1 u8 and the bytes with their length
 *
 * Device and inode numbers are left out: the one is another with every mount, the other with every
 * file that an undo has brought back, and neither is what a person agrees to.
 */
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>

#include "plan/plan.h"

#define MAGIC "ctmend plan 1"

_Static_assert(sizeof(((struct ctm_action *)0)->sha256) == SHA256_DIGEST_SIZE, "length of a hash");

static void put_number(struct sha256_ctx *ctx, uint64_t number, size_t bytes)
{
	uint8_t raw[8];

	for (size_t i = 0; i < bytes; i++) {
		raw[i] = (uint8_t)(number >> (8 * i));
	}
	sha256_update(ctx, bytes, raw);
}

static void put_bytes(struct sha256_ctx *ctx, const void *p, size_t len)
{
	put_number(ctx, len, 8);
	if (len) {
		sha256_update(ctx, len, p);
	}
}

static void put_value(struct sha256_ctx *ctx, struct ctm_bytes value)
{
	put_number(ctx, value.p != NULL, 1);
	if (value.p) {
		put_bytes(ctx, value.p, value.len);
	}
}

static void put_state(struct sha256_ctx *ctx, const struct ctm_inode_state *state)
{
	put_number(ctx, state->mode, 4);
	put_number(ctx, state->uid.v, 4);
	put_number(ctx, state->gid.v, 4);
	put_value(ctx, state->acl_access);
	put_value(ctx, state->acl_default);
	put_value(ctx, state->caps);
}

static void put_map(struct sha256_ctx *ctx, const struct ctm_idmap *map, enum ctm_idkind kind)
{
	const struct ctm_range *v = NULL;
	size_t n = 0;

	if (map) {
		v = ctm_idmap_ranges(map, kind, &n);
	}
	put_number(ctx, n, 8);
	for (size_t i = 0; i < n; i++) {
		put_number(ctx, v[i].ct, 4);
		put_number(ctx, v[i].disk, 4);
		put_number(ctx, v[i].len, 4);
	}
}

static void put_action(struct sha256_ctx *ctx, const struct ctm_action *a)
{
	static const unsigned int kinds[] = {
		[CTM_ACT_SET] = 1,
		[CTM_ACT_REMOVE] = 2,
		[CTM_ACT_RESTORE] = 4,
	};

	put_number(ctx, a->kind == CTM_ACT_SET && a->attr ? 3 : kinds[a->kind], 1);
	put_bytes(ctx, a->path, a->path_len);
	put_state(ctx, a->kind == CTM_ACT_RESTORE ? &a->after : &a->before);
	if (a->kind == CTM_ACT_SET) {
		put_state(ctx, &a->after);
		if (a->attr) {
			put_number(ctx, a->attr, 4);
		}
		if (S_ISCHR(a->before.mode) || S_ISBLK(a->before.mode)) {
			put_number(ctx, a->rdev, 8);
		}
	} else {
		put_number(ctx, a->size, 8);
		sha256_update(ctx, sizeof(a->sha256), a->sha256);
	}
}

void ctm_plan_digest(const struct ctm_plan *plan, const char *identity, char ret[static 33])
{
	static const char hex[] = "0123456789abcdef";
	uint8_t hash[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	put_bytes(&ctx, MAGIC, strlen(MAGIC));
	put_bytes(&ctx, identity, strlen(identity));
	put_map(&ctx, plan->policy.map, CTM_UID);
	put_map(&ctx, plan->policy.map, CTM_GID);
	for (size_t i = 0; i < plan->actions.n; i++) {
		put_action(&ctx, &plan->actions.v[i]);
		ctm_spill_pass(plan->spill);
	}
	for (size_t i = 0; i < plan->subvols.n; i++) {
		put_number(&ctx, 5, 1);
		put_bytes(&ctx, plan->subvols.v[i].path, plan->subvols.v[i].path_len);
	}
	put_number(&ctx, plan->actions.n, 8);
	sha256_digest(&ctx, sizeof(hash), hash);
	for (size_t i = 0; i < 16; i++) {
		ret[2 * i] = hex[hash[i] >> 4];
		ret[2 * i + 1] = hex[hash[i] & 15];
	}
	ret[32] = '\0';
}
