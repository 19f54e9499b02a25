/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a reader of a hostile tree may send when it is under somebody else's control, up to the
 * plan that comes of it. The first byte of the input chooses the policy, the rest are records.
 *
 * A path never leads upwards, and no inode gets an owner that is not on the disk side of the map.
 */
#include "fuzz/fuzz.h"
#include "plan/plan.h"
#include "rules/rules.h"
#include "scan/feed.h"

#include <errno.h>

#define STREAMS   2
#define RULES_MAX 32

static void check_path(const char *path, size_t len)
{
	FUZZ_CHECK(path && path[len] == '\0' && strlen(path) == len);
	for (size_t at = 0; at < len;) {
		const char *slash = memchr(path + at, '/', len - at);
		size_t n = slash ? (size_t)(slash - (path + at)) : len - at;

		FUZZ_CHECK(n > 0 && n <= CTM_FEED_NAME_MAX && (!slash || at + n + 1 < len));
		FUZZ_CHECK(!(n <= 2 && path[at] == '.' && path[at + n - 1] == '.'));
		at += n + 1;
	}
}

static void check_owner(const struct ctm_plan *plan, enum ctm_idkind kind, ctm_did was, ctm_did now)
{
	FUZZ_CHECK(was.v == now.v || ctm_idmap_on_disk(plan->policy.map, kind, now));
}

static void check_plan(const struct ctm_plan *plan)
{
	for (size_t i = 0; i < plan->actions.n; i++) {
		const struct ctm_action *a = &plan->actions.v[i];

		check_path(a->path, a->path_len);
		if (a->kind == CTM_ACT_SET) {
			FUZZ_CHECK(!ctm_inode_state_eq(&a->before, &a->after));
			check_owner(plan, CTM_UID, a->before.uid, a->after.uid);
			check_owner(plan, CTM_GID, a->before.gid, a->after.gid);
		} else {
			FUZZ_CHECK(a->rule && (a->before.mode & 0170000) == 0100000 &&
				   a->nlink == 1);
		}
	}
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		FUZZ_CHECK(f->action == CTM_NO_ACTION || f->action < plan->actions.n);
		FUZZ_CHECK(f->code < CTM_F_N);
	}
}

/* Whether there is more to read. */
static bool take(struct ctm_feed_in *in, const struct ctm_feed_msg *msg, struct ctm_plan *plan)
{
	switch (msg->kind) {
	case CTM_FEED_FACT:
		check_path(msg->fact.path, msg->fact.path_len);
		FUZZ_CHECK(ctm_plan_fact(&msg->fact, plan) == 0);
		return true;
	case CTM_FEED_END:
		ctm_plan_totals(plan, &in->totals, NULL);
		FUZZ_CHECK(ctm_plan_finish(plan) == 0);
		check_plan(plan);
		return false;
	case CTM_FEED_FAIL:
		FUZZ_CHECK(msg->err > 0 && msg->op);
		return false;
	case CTM_FEED_MORE:
		break;
	}
	return false;
}

static void read_all(struct ctm_feed_in *in, struct ctm_bytes bytes, struct ctm_plan *plan)
{
	size_t at = 0;
	bool more = true;

	while (more) {
		struct ctm_feed_msg msg;
		size_t used = 0;
		int r = ctm_feed_next(in, (const char *)bytes.p + at, bytes.len - at, &used, &msg);

		FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -ENOMEM);
		if (r < 0) {
			return;
		}
		FUZZ_CHECK(used <= bytes.len - at);
		at += used;
		more = take(in, &msg, plan);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool on[RULES_MAX];
	struct ctm_policy policy = { .rules_on = on };
	struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_idmap *from = ctm_idmap_new();
	struct ctm_feed_in in = { 0 };
	struct ctm_plan *plan = NULL;

	for (size_t i = 0; i < RULES_MAX; i++) {
		on[i] = true;
	}
	FUZZ_CHECK(ctm_rules_n <= RULES_MAX);
	/* it overlaps the map */
	if (map && from && ctm_idmap_add_default(map) == 0 &&
	    ctm_idmap_add(from, CTM_UID, (struct ctm_range){ 0, 99000, 65536 }) == 0 &&
	    ctm_feed_in_init(&in, STREAMS) == 0) {
		policy.map = map;
		if (size > 0) {
			policy.clean = (enum ctm_clean)(data[0] % 3);
			policy.flatten = data[0] & 4;
			policy.convert = data[0] & 8;
			policy.raw_volume = data[0] & 16;
			policy.fix = data[0] & 32 ? ~0u : 0;
			policy.from = data[0] & 64 ? from : NULL;
			data++;
			size--;
		}
		if (ctm_plan_new(&policy, &plan) == 0) {
			read_all(&in, fuzz_bytes(data, size), plan);
		}
	}
	ctm_plan_free(plan);
	ctm_feed_in_done(&in);
	ctm_idmap_free(from);
	ctm_idmap_free(map);
	return 0;
}
