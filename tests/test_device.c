/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which device nodes a repair gives to a container, and when. */
#include "plan/device.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "plan/fix.h"

/* Numbers of Documentation/admin-guide/devices.txt. */
static const struct {
	uint32_t type;
	unsigned int major;
	unsigned int minor;
	bool want;
} kinds[] = {
	{ S_IFBLK, 8, 0, true },     { S_IFBLK, 0, 0, true },       { S_IFBLK, 1, 3, true },
	{ S_IFBLK, 7, 0, true },     { S_IFBLK, 253, 0, true },     { S_IFCHR, 0, 0, false },
	{ S_IFCHR, 0, 1, true },     { S_IFCHR, 1, 1, true },       { S_IFCHR, 1, 2, true },
	{ S_IFCHR, 1, 3, false },    { S_IFCHR, 1, 4, true },       { S_IFCHR, 1, 5, false },
	{ S_IFCHR, 1, 7, false },    { S_IFCHR, 1, 8, false },      { S_IFCHR, 1, 9, false },
	{ S_IFCHR, 1, 11, true },    { S_IFCHR, 1, 259, true },     { S_IFCHR, 257, 3, true },
	{ S_IFCHR, 4, 1, true },     { S_IFCHR, 5, 0, false },      { S_IFCHR, 5, 1, false },
	{ S_IFCHR, 5, 2, false },    { S_IFCHR, 5, 3, true },       { S_IFCHR, 10, 200, true },
	{ S_IFCHR, 10, 229, false }, { S_IFCHR, 10, 232, true },    { S_IFCHR, 21, 0, true },
	{ S_IFCHR, 136, 0, false },  { S_IFCHR, 136, 1000, false }, { S_IFCHR, 137, 0, true },
	{ S_IFREG, 8, 0, false },    { S_IFDIR, 8, 0, false },      { S_IFIFO, 8, 0, false },
};
CASES(device, gives_power, kinds)
{
	cr_assert_eq(ctm_device_gives_power(kinds[*i].type | 0600,
					    makedev(kinds[*i].major, kinds[*i].minor)),
		     kinds[*i].want, "%o %u:%u", kinds[*i].type, kinds[*i].major, kinds[*i].minor);
}

/* as makedev(3) has them */
#define DISK        0x800 /* 8:0 */
#define NULL_DEVICE 0x103 /* 1:3 */
#define KMSG        0x10b /* 1:11 */
#define OTHER       "300000"

static const struct {
	const char *name;
	uint32_t mode;
	uint64_t rdev;
	uint32_t uid;
	uint32_t gid;
	unsigned int fix;
	bool convert;
	bool flatten;
	const char *from;
	size_t device; /* findings own.device */
	bool moves;
} rows[] = {
	{ "a disk", S_IFBLK, DISK, 0, 6, 0, false, false, NULL, 2, false },
	{ "a disk, --fix device", S_IFBLK, DISK, 0, 6, CTM_FIX_DEVICE, false, false, NULL, 2,
	  true },
	{ "a disk, --convert", S_IFBLK, DISK, 0, 6, 0, true, false, NULL, 2, true },
	{ "a disk, other --fix", S_IFBLK, DISK, 0, 6, ~(unsigned int)CTM_FIX_DEVICE, false, false,
	  NULL, 2, false },
	{ "a disk, --flatten", S_IFBLK, DISK, 0, 6, 0, false, true, NULL, 2, false },
	{ "a disk of another map", S_IFBLK, DISK, 300000, 300006, 0, false, false, OTHER, 2,
	  false },
	{ "the same, --fix device", S_IFBLK, DISK, 300000, 300006, CTM_FIX_DEVICE, false, false,
	  OTHER, 2, true },
	{ "a disk of nobody's", S_IFBLK, DISK, 65534, 65534, CTM_FIX_OVERFLOW, false, false, NULL,
	  2, false },
	{ "a group alone", S_IFBLK, DISK, 0, 100006, 0, false, false, NULL, 1, false },
	{ "what is the container's already", S_IFBLK, DISK, 100000, 6, 0, false, false, NULL, 0,
	  true },
	{ "what is right", S_IFBLK, DISK, 100000, 100006, 0, false, false, NULL, 0, false },
	{ "what fits nothing", S_IFBLK, DISK, 70000, 70000, 0, false, false, NULL, 0, false },
	{ "null", S_IFCHR, NULL_DEVICE, 0, 0, 0, false, false, NULL, 0, true },
	{ "kmsg", S_IFCHR, KMSG, 0, 0, 0, false, false, NULL, 2, false },
};
CASES(device, judged, rows)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	CLEANUP(ctm_idmap_freep)
	struct ctm_idmap *from = rows[*i].from ? map_of(rows[*i].from) : NULL;
	const struct ctm_policy policy = {
		.map = map,
		.from = from,
		.fix = rows[*i].fix,
		.convert = rows[*i].convert,
		.flatten = rows[*i].flatten,
	};
	struct ctm_fact fact = fact_of("dev/x", rows[*i].mode | 0660, rows[*i].uid, rows[*i].gid);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_action *action;

	fact.rdev = rows[*i].rdev;
	plan = plan_of(&policy, &fact, 1);
	action = action_at(plan, "dev/x");
	check_plan(plan);
	cr_assert_eq(findings_of(plan, CTM_F_OWN_DEVICE), rows[*i].device, "%s: %zu", rows[*i].name,
		     findings_of(plan, CTM_F_OWN_DEVICE));
	cr_assert_eq(action != NULL, rows[*i].moves, "%s", rows[*i].name);
	cr_assert(!action || action->rdev == rows[*i].rdev, "%s", rows[*i].name);
}

/* An entry of an ACL opens the node to a user of the container, too. */
Test(device, acl_stays)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	const struct ctm_policy policy = { .map = map };
	struct ctm_fact fact = fact_of("dev/sda", S_IFBLK | 0660, 0, 6);
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	unsigned char store[128];

	fact.rdev = DISK;
	fact.acl_access = acl_of("u::rw-,u:1000:rw-,g::rw-,m::rw-,o::---", store);
	plan = plan_of(&policy, &fact, 1);
	cr_assert_eq(plan->actions.n, 0);
	cr_assert_eq(findings_of(plan, CTM_F_ACL_HOST), 1);
	cr_assert_str_eq(finding_at(plan, CTM_F_OWN_DEVICE, "dev/sda")->text, "block device 8:0");
}
