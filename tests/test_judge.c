/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judging one inode, and when a file at a rule's path is stale. */
#include "plan/judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "hex.h"
#include "id/acl.h"
#include "judge_rows.h"

struct store {
	unsigned char acl[512];
	unsigned char def[512];
	unsigned char cap[24];
};

static struct ctm_inode_state make(const struct state *from, struct store *store)
{
	struct ctm_inode_state st = { .mode = from->mode,
				      .uid = { from->uid },
				      .gid = { from->gid } };

	if (from->acl) {
		st.acl_access = acl_of(from->acl, store->acl);
	}
	if (from->def) {
		st.acl_default = acl_of(from->def, store->def);
	}
	if (from->cap == V2) {
		st.caps = CAPS_V2;
	} else if (from->cap == BAD) {
		st.caps = (struct ctm_bytes){ .p = "junk", .len = 4 };
	} else if (from->cap != NONE) {
		st.caps = caps_v3((uint32_t)from->cap, store->cap);
	}
	return st;
}

static void put_issues(const struct ctm_judgement *j, char *out, size_t size)
{
	size_t at = 0;

	*out = '\0';
	for (size_t i = 0; i < j->n; i++) {
		char id[16] = "-";

		if (j->issues[i].kind >= 0) {
			snprintf(id, sizeof(id), "%c%u", j->issues[i].kind == CTM_UID ? 'u' : 'g',
				 j->issues[i].id);
		}
		at += (size_t)snprintf(out + at, size - at, "%s%s:%s%s", i ? " " : "",
				       ctm_finding_info(j->issues[i].code)->code, id,
				       j->issues[i].left ? "!" : "");
	}
}

static void judge(const char *spec, bool flatten, const struct ctm_inode_state *before,
		  struct ctm_arena *arena, struct ctm_judgement *ret)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(spec);
	struct ctm_policy policy = { .map = map, .flatten = flatten };
	CLEANUP(ctm_lens_done) struct ctm_lens lens = { 0 };
	struct ctm_place place = { .nested = false };
	struct ctm_judge by;

	cr_assert_eq(ctm_lens_init(&lens, &policy), 0);
	cr_assert_eq(ctm_lens_settle(&lens, NULL), 0);
	cr_assert_eq(ctm_judge_init(&policy, &lens, &by), 0);
	cr_assert_eq(ctm_judge_inode(&by, before, &place, arena, ret), 0);
}

CASES(judge, inode, rows)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct store stores[2];
	struct ctm_inode_state before = make(&rows[*i].before, &stores[0]);
	struct ctm_inode_state want = make(&rows[*i].after, &stores[1]);
	struct ctm_judgement got;
	char issues[512];

	judge(rows[*i].map, rows[*i].flatten, &before, &arena, &got);
	put_issues(&got, issues, sizeof(issues));
	cr_assert_str_eq(issues, rows[*i].issues, "%s: %s", rows[*i].name, issues);
	cr_assert(got.after.uid.v == want.uid.v && got.after.gid.v == want.gid.v, "%s: %u:%u",
		  rows[*i].name, got.after.uid.v, got.after.gid.v);
	cr_assert_eq(got.after.mode, want.mode, "%s: %o", rows[*i].name, got.after.mode);
	cr_assert(ctm_bytes_eq(got.after.acl_access, want.acl_access), "%s: ACL", rows[*i].name);
	cr_assert(ctm_bytes_eq(got.after.acl_default, want.acl_default), "%s: default ACL",
		  rows[*i].name);
	cr_assert(ctm_bytes_eq(got.after.caps, want.caps), "%s: capability", rows[*i].name);
	cr_assert_eq(got.changes, !ctm_inode_state_eq(&before, &want), "%s: changes",
		     rows[*i].name);
	for (size_t k = 0; k < got.n && !got.changes; k++) {
		cr_assert(got.issues[k].left, "%s: nothing changes, so nothing is cured",
			  rows[*i].name);
	}
}

/* What was cured is not found again, what was left is. */
CASES(judge, twice, rows)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct store store;
	struct ctm_inode_state before = make(&rows[*i].before, &store);
	struct ctm_judgement first;
	struct ctm_judgement second;
	size_t left = 0;

	judge(rows[*i].map, rows[*i].flatten, &before, &arena, &first);
	judge(rows[*i].map, rows[*i].flatten, &first.after, &arena, &second);
	cr_assert_not(second.changes, "%s", rows[*i].name);
	for (size_t k = 0; k < first.n; k++) {
		left += first.issues[k].left;
	}
	cr_assert_eq(second.n, left, "%s", rows[*i].name);
}

/* The bytes of setfacl -m g:4:rx,g:10:rx as getfattr shows them, and with the ids moved by hand. */
Test(judge, acl_bytes_of_the_kernel)
{
	static const char was[] = "0200000001000700ffffffff04000500ffffffff0800050004000000"
				  "080005000a00000010000500ffffffff20000500ffffffff";
	static const char is[] = "0200000001000700ffffffff04000500ffffffff08000500a4860100"
				 "08000500aa86010010000500ffffffff20000500ffffffff";
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	unsigned char raw[2][128];
	unsigned char made[512];
	struct ctm_inode_state before = {
		.mode = 0042755,
		.uid = { 100000 },
		.gid = { 100101 },
		.acl_access = from_hex(was, raw[0], sizeof(raw[0])),
	};
	struct ctm_judgement got;

	cr_assert(ctm_bytes_eq(before.acl_access,
			       acl_of("u::rwx,g::r-x,g:4:r-x,g:10:r-x,m::r-x,o::r-x", made)));
	judge(DEF, false, &before, &arena, &got);
	cr_assert(ctm_bytes_eq(got.after.acl_access, from_hex(is, raw[1], sizeof(raw[1]))));
}

/* setcap cap_net_raw=ep, then what the kernel stores for a file of a container with root 100000. */
Test(judge, capability_bytes_of_the_kernel)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	unsigned char raw[2][24];
	struct ctm_inode_state before = {
		.mode = 0100755,
		.caps = from_hex("0100000200200000000000000000000000000000", raw[0], 24),
	};
	struct ctm_bytes want =
		from_hex("0100000300200000000000000000000000000000a0860100", raw[1], 24);
	struct ctm_judgement got;

	judge(DEF, false, &before, &arena, &got);
	cr_assert(ctm_bytes_eq(got.after.caps, want));
}

Test(judge, map_without_root_is_mentioned)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode_state before = {
		.mode = 0100755, .uid = { 5 }, .gid = { 5 }, .caps = CAPS_V2
	};
	struct ctm_judgement got;

	judge(NO_ROOT, false, &before, &arena, &got);
	cr_assert(got.issues[0].text && strstr(got.issues[0].text, "no container root"));
}

Test(judge, flatten_says_what_is_lost)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode_state before = { .mode = 0106755, .caps = CAPS_V2 };
	struct ctm_judgement got;

	judge(DEF, true, &before, &arena, &got);
	cr_assert_str_eq(got.issues[0].text, "loses setuid, setgid and its capabilities");
	before.mode = 0100755;
	before.caps = (struct ctm_bytes){ 0 };
	judge(DEF, true, &before, &arena, &got);
	cr_assert_null(got.issues[0].text);
}

Test(judge, flatten_needs_a_root)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *none = map_of(NO_ROOT);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *half = map_of("u:0:100000:65536,g:1:100001:9");
	const struct ctm_lens lens = { 0 };
	struct ctm_policy policy = { .map = none, .flatten = true };
	struct ctm_judge by;

	cr_assert_eq(ctm_judge_init(&policy, &lens, &by), -EINVAL);
	policy.map = half;
	cr_assert_eq(ctm_judge_init(&policy, &lens, &by), -EINVAL);
	policy.map = NULL;
	cr_assert_eq(ctm_judge_init(&policy, &lens, &by), -EINVAL);
	policy = (struct ctm_policy){ .map = none };
	cr_assert_eq(ctm_judge_init(&policy, &lens, &by), 0);
}

Test(judge, malformed_acl_is_left_and_the_owner_repaired)
{
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode_state before = {
		.mode = 0040755,
		.acl_access = { .p = "\x02\0\0\0\x01", .len = 5 },
		.acl_default = { .p = "", .len = 0 },
	};
	struct ctm_judgement got;
	char issues[256];

	judge(DEF, false, &before, &arena, &got);
	put_issues(&got, issues, sizeof(issues));
	cr_assert_str_eq(issues, "own.host:u0 own.host:g0 err:-! err:-!");
	cr_assert_eq(got.issues[2].err, EINVAL);
	cr_assert_str_neq(got.issues[2].text, got.issues[3].text);
	cr_assert_eq(got.after.acl_access.p, before.acl_access.p);
	cr_assert_eq(got.after.acl_default.p, before.acl_default.p);
	cr_assert_eq(got.after.uid.v, 100000);
}

/* As many named entries as an attribute may hold: all are moved, a few are listed. */
Test(judge, huge_acl)
{
	static unsigned char raw[4 + 8 * 8000];
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_inode_state before = { .mode = 0100644, .uid = { 100000 }, .gid = { 100000 } };
	struct ctm_judgement got;
	size_t left = 0;

	raw[0] = 2;
	for (uint32_t k = 0; k < 8000; k++) {
		/* every fourth fits nothing; the rest is the host's */
		uint32_t id = k % 4 == 3 ? 70000 + k : k;
		unsigned char *e = raw + 4 + 8 * k;

		e[0] = k % 2 ? 2 : 8;
		e[2] = 4;
		memcpy(e + 4, &id, sizeof(id));
	}
	before.acl_access = (struct ctm_bytes){ .p = raw, .len = sizeof(raw) };
	judge(DEF, false, &before, &arena, &got);
	cr_assert_eq(got.n, 2 * CTM_ISSUES_OF_CODE);
	for (size_t k = 0; k < got.n; k++) {
		left += got.issues[k].left;
	}
	cr_assert_eq(left, CTM_ISSUES_OF_CODE, "what stays is listed beside what moves");
	cr_assert_not_null(got.issues[got.n - 1].text);
	for (int k = 0; k < 8000; k++) {
		struct ctm_acl_entry e = ctm_acl_get(got.after.acl_access, k);
		uint32_t want = k % 4 == 3 ? 70000 + (uint32_t)k : 100000 + (uint32_t)k;

		cr_assert_eq(e.id, want, "entry %d: %u", k, e.id);
	}
}

static bool always(struct ctm_bytes head, unsigned long long size)
{
	(void)head;
	(void)size;
	return true;
}

static const struct ctm_rule a_lock = { .id = "x.lock", .at = "x", .kind = CTM_RULE_LOCK };
static const struct ctm_rule a_pid = { .id = "x.pid", .at = "x", .kind = CTM_RULE_PIDLOCK };
static const struct ctm_rule a_cache = { .id = "x.c",
					 .at = "x",
					 .kind = CTM_RULE_CACHE,
					 .damaged = always };
static const struct ctm_rule plain_cache = { .id = "x.c", .at = "x", .kind = CTM_RULE_CACHE };
static const struct ctm_rule a_leftover = { .id = "x.l", .at = "x", .kind = CTM_RULE_LEFTOVER };
static const struct ctm_rule a_journal = { .id = "x.j", .at = "x", .kind = CTM_RULE_UNFINISHED };

static const struct {
	const struct ctm_rule *rule;
	uint32_t uid;
	uint32_t gid;
	bool with_content;
	enum ctm_stale want;
} stales[] = {
	{ &a_lock, 100000, 100000, true, CTM_STALE_NOT },
	{ &a_lock, 0, 0, true, CTM_STALE_OWNER },
	{ &a_lock, 0, 100000, true, CTM_STALE_OWNER },
	{ &a_lock, 100000, 0, true, CTM_STALE_OWNER },
	{ &a_lock, 70000, 100000, true, CTM_STALE_OWNER },
	/* as good as the rest of a tree that is on another base, or was copied through the map */
	{ &a_lock, 165536, 165536, true, CTM_STALE_NOT },
	{ &a_lock, 65534, 65534, true, CTM_STALE_NOT },
	{ &a_lock, 165536, 0, true, CTM_STALE_OWNER },
	{ &a_pid, 165536, 165536, true, CTM_STALE_EXISTS },
	{ &a_cache, 165536, 165536, true, CTM_STALE_CONTENT },
	{ &a_pid, 100000, 100000, true, CTM_STALE_EXISTS },
	{ &a_pid, 100000, 100000, false, CTM_STALE_EXISTS },
	{ &a_pid, 0, 0, true, CTM_STALE_OWNER },
	{ &a_cache, 100000, 100000, true, CTM_STALE_CONTENT },
	{ &a_cache, 100000, 100000, false, CTM_STALE_NOT },
	{ &a_cache, 0, 0, false, CTM_STALE_OWNER },
	{ &plain_cache, 100000, 100000, true, CTM_STALE_NOT },
	{ &a_leftover, 100042, 100000, true, CTM_STALE_NOT },
	{ &a_leftover, 42, 0, true, CTM_STALE_OWNER },
	{ &a_journal, 0, 0, true, CTM_STALE_NOT },
};

CASES(judge, stale, stales)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(DEF);
	CLEANUP(ctm_lens_done) struct ctm_lens lens = { 0 };
	struct ctm_fact fact = fact_of("x", 0640, stales[*i].uid, stales[*i].gid);
	struct ctm_id_count root = { 165536, 10 };
	const struct ctm_scan_totals totals = {
		.inodes = 100,
		.ids = { { .v = &root, .n = 1 }, { .v = &root, .n = 1 } },
	};
	const struct ctm_policy policy = { .map = map };
	struct ctm_place place = { .nested = false };
	struct ctm_judge by;

	cr_assert_eq(ctm_lens_init(&lens, &policy), 0);
	cr_assert_eq(ctm_lens_settle(&lens, &totals), 0);
	cr_assert_eq(ctm_judge_init(&policy, &lens, &by), 0);
	cr_assert_eq(ctm_judge_stale(&by, stales[*i].rule, &fact, &place, stales[*i].with_content),
		     stales[*i].want, "row %zu", *i);
	/* content is asked of plain files alone */
	fact.mode = S_IFDIR | 0755;
	cr_assert_neq(ctm_judge_stale(&by, stales[*i].rule, &fact, &place, true),
		      CTM_STALE_CONTENT);
}
