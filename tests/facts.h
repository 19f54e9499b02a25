/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts, maps and attribute values for tests of the planner.
 */
#ifndef CTM_TESTS_FACTS_H
#define CTM_TESTS_FACTS_H

#include "base/bytes.h"
#include "plan/plan.h"
#include "scan/fact.h"

/** ctm_idmap_parse_spec(); fails the test when the text is wrong. The caller frees it. */
struct ctm_idmap *map_of(const char *spec);

/**
 * An inode with one name. mode without a type is a regular file; (dev, ino) follow from the path.
 * The path is borrowed.
 */
struct ctm_fact fact_of(const char *path, uint32_t mode, uint32_t uid, uint32_t gid);

/** The bytes of an ACL "u::rwx,u:33:r-x,g::r-x,m::r-x,o::---", in store: 4 and 8 an entry. */
struct ctm_bytes acl_of(const char *text, unsigned char *store);

/** What the kernel stored for setcap cap_net_raw=ep, and the same as revision 3. */
#define CAPS_V2 ((struct ctm_bytes){ .p = caps_v2, .len = 20 })
extern const unsigned char caps_v2[20];
struct ctm_bytes caps_v3(uint32_t rootid, unsigned char store[static 24]);

/** A finished plan of these facts. The caller frees it. */
struct ctm_plan *plan_of(const struct ctm_policy *policy, const struct ctm_fact *facts, size_t n);

/** The action at a path, NULL when there is none. */
const struct ctm_action *action_at(const struct ctm_plan *plan, const char *path);
/** The first finding of a code at a path (NULL: of the volume), NULL when there is none. */
const struct ctm_finding *finding_at(const struct ctm_plan *plan, enum ctm_finding_code code,
				     const char *path);
size_t findings_of(const struct ctm_plan *plan, enum ctm_finding_code code);

/** Checks what must hold for every settled plan: order, indexes, actions that change something. */
void check_plan(const struct ctm_plan *plan);

#endif
