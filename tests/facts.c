/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "facts.h"

#include <criterion/criterion.h>
#include <endian.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/acl.h>

#include "base/pathname.h"
#include "plan/fix.h"

const unsigned char caps_v2[20] = { 1, 0, 0, 2, 0, 0x20 };

struct ctm_bytes caps_v3(uint32_t rootid, unsigned char store[static 24])
{
	uint32_t raw = htole32(rootid);

	memcpy(store, caps_v2, sizeof(caps_v2));
	store[3] = 3;
	memcpy(store + 20, &raw, sizeof(raw));
	return (struct ctm_bytes){ .p = store, .len = 24 };
}

struct ctm_idmap *map_of(const char *spec)
{
	struct ctm_idmap *map = NULL;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_idmap_parse_spec(spec, &map, &err), 0, "%s", err.msg);
	return map;
}

struct ctm_fact fact_of(const char *path, uint32_t mode, uint32_t uid, uint32_t gid)
{
	uint64_t ino = 1469598103934665603U;

	for (const char *p = path; *p; p++) {
		ino = (ino ^ (unsigned char)*p) * 1099511628211U;
	}
	return (struct ctm_fact){
		.kind = CTM_FACT_INODE,
		.path = path,
		.path_len = strlen(path),
		.mode = mode & S_IFMT ? mode : mode | S_IFREG,
		.uid = { uid },
		.gid = { gid },
		.dev = 64,
		.ino = ino,
		.nlink = S_ISDIR(mode) ? 2 : 1,
	};
}

/* Not acl_from_text(3): it sorts the entries, and the kernel does not. */
struct ctm_bytes acl_of(const char *text, unsigned char *store)
{
	struct posix_acl_xattr_header header = { .a_version = htole32(POSIX_ACL_XATTR_VERSION) };
	size_t len = sizeof(header);

	memcpy(store, &header, sizeof(header));
	for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		struct posix_acl_xattr_entry raw = { .e_id = htole32(UINT32_MAX) };
		bool named = p[2] != ':';
		unsigned id = UINT32_MAX;
		uint16_t tag = 0;
		char perm[4];

		cr_assert_eq(named ? sscanf(p + 1, ":%u:%3[rwx-]", &id, perm) :
				     1 + sscanf(p + 1, "::%3[rwx-]", perm),
			     2, "%s", text);
		tag = *p == 'u' ? (named ? ACL_USER : ACL_USER_OBJ) : tag;
		tag = *p == 'g' ? (named ? ACL_GROUP : ACL_GROUP_OBJ) : tag;
		tag = *p == 'm' ? ACL_MASK : *p == 'o' ? ACL_OTHER : tag;
		raw.e_tag = htole16(tag);
		raw.e_perm = htole16((uint16_t)((perm[0] == 'r' ? ACL_READ : 0) |
						(perm[1] == 'w' ? ACL_WRITE : 0) |
						(perm[2] == 'x' ? ACL_EXECUTE : 0)));
		raw.e_id = htole32(id);
		memcpy(store + len, &raw, sizeof(raw));
		len += sizeof(raw);
	}
	return (struct ctm_bytes){ .p = store, .len = len };
}

struct ctm_plan *plan_of(const struct ctm_policy *policy, const struct ctm_fact *facts, size_t n)
{
	struct ctm_plan *plan = NULL;

	cr_assert_eq(ctm_plan_new(policy, &plan), 0);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(ctm_plan_fact(&facts[i], plan), 0);
	}
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_plan(plan);
	return plan;
}

static bool is_at(const char *path, size_t len, const char *want)
{
	return path && len == strlen(want) && memcmp(path, want, len) == 0;
}

const struct ctm_action *action_at(const struct ctm_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->actions.n; i++) {
		if (is_at(plan->actions.v[i].path, plan->actions.v[i].path_len, path)) {
			return &plan->actions.v[i];
		}
	}
	return NULL;
}

const struct ctm_finding *finding_at(const struct ctm_plan *plan, enum ctm_finding_code code,
				     const char *path)
{
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		if (f->code == code && (path ? is_at(f->path, f->path_len, path) : !f->path)) {
			return f;
		}
	}
	return NULL;
}

size_t findings_of(const struct ctm_plan *plan, enum ctm_finding_code code)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->findings.n; i++) {
		n += plan->findings.v[i].code == code;
	}
	return n;
}

static int finding_order(const struct ctm_finding *a, const struct ctm_finding *b)
{
	int cmp = (int)a->code - (int)b->code;

	if (cmp == 0) {
		cmp = ctm_path_cmp(a->path ? a->path : "", a->path_len, b->path ? b->path : "",
				   b->path_len);
	}
	return cmp ? cmp : a->kind - b->kind;
}

/*
 * Set-id bits that were lost come back when that is asked for, and nothing else of a mode changes.
 */
static bool adds_bits(const struct ctm_plan *plan, const struct ctm_action *a)
{
	return (plan->policy.fix & CTM_FIX_BITS) && (a->before.mode & ~a->after.mode) == 0 &&
	       ((a->before.mode ^ a->after.mode) & ~(uint32_t)(S_ISUID | S_ISGID)) == 0;
}

static void check_actions(const struct ctm_plan *plan)
{
	for (size_t i = 0; i < plan->actions.n; i++) {
		const struct ctm_action *a = &plan->actions.v[i];

		cr_assert(i == 0 || ctm_path_cmp(a[-1].path, a[-1].path_len, a->path, a->path_len) <
					    0,
			  "action %zu is out of order: %s", i, a->path);
		cr_assert_eq(a->path[a->path_len], '\0');
		if (a->kind == CTM_ACT_SET) {
			cr_assert_not(ctm_inode_state_eq(&a->before, &a->after), "%s", a->path);
			cr_assert(plan->policy.flatten || a->before.mode == a->after.mode ||
				  adds_bits(plan, a));
			cr_assert_neq(a->after.uid.v, CTM_ID_INVALID);
			cr_assert_neq(a->after.gid.v, CTM_ID_INVALID);
		} else {
			cr_assert(S_ISREG(a->before.mode) && a->nlink == 1 && a->rule);
		}
	}
}

static bool has_cause(const struct ctm_plan *plan, size_t action)
{
	const struct ctm_action *a = &plan->actions.v[action];

	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		if (f->action == action && f->code == a->cause &&
		    is_at(f->path, f->path_len, a->path)) {
			return true;
		}
	}
	return false;
}

void check_plan(const struct ctm_plan *plan)
{
	check_actions(plan);
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		cr_assert(f->code >= 0 && f->code < CTM_F_N);
		cr_assert(f->kind >= -1 && f->kind <= CTM_GID);
		cr_assert(i == 0 || finding_order(f - 1, f) <= 0, "finding %zu is out of order", i);
		cr_assert(f->action == CTM_NO_ACTION || f->action < plan->actions.n);
	}
	/* every action has the finding that asked for it */
	for (size_t i = 0; i < plan->actions.n; i++) {
		cr_assert(has_cause(plan, i), "%s has no cause", plan->actions.v[i].path);
	}
}
