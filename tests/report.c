/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A finished exam of a small damaged container.
 */
#include "report.h"
#include "base/cleanup.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "facts.h"

static const bool rules_on[16] = { [0 ... 15] = true };

static struct ctm_exam *exam_of(const struct ctm_fact *facts, size_t n)
{
	struct ctm_exam *exam = calloc(1, sizeof(*exam));
	struct ctm_target *target = calloc(1, sizeof(*target));
	struct ctm_volume volume = { .kind = CTM_VOLUME_IMAGE };
	struct ctm_policy policy = { .raw_volume = true, .rules_on = rules_on };

	cr_assert(exam && target);
	volume.key = strdup("rootfs");
	volume.id = strdup("tank:115/vm-115-disk-0.raw");
	volume.path = strdup("/srv/tank/images/115/vm-115-disk-0.raw");
	volume.mp = strdup("/");
	volume.map = map_of("100000");
	policy.map = volume.map;
	target->kind = CTM_TARGET_PVE;
	target->vmid = 115;
	target->name = strdup("115");
	cr_assert_eq(ctm_vec_push(&target->volumes, &volume), 0);
	exam->target = target;
	exam->volume = &target->volumes.v[0];
	strcpy(exam->fstype, "ext4");
	exam->plan = plan_of(&policy, facts, n);
	exam->plan->totals.inodes = n;
	ctm_plan_digest(exam->plan, "test", exam->digest);
	cr_assert_eq(ctm_diagnose(exam->plan, NULL, &exam->diagnosis), 0);
	return exam;
}

struct ctm_exam *damaged_exam(void)
{
	static unsigned char acl[64];
	struct ctm_fact facts[] = {
		fact_of("var/lib/dpkg/lock", 0640, 0, 0),
		fact_of("usr/bin/arping", 04755, 0, 0),
		fact_of("etc/shadow", 0640, 0, 42),
		fact_of("srv/new\nline", 0644, 33, 33),
		fact_of("srv/acl", 0664, 100000, 100000),
		fact_of("etc/fixed", 0644, 0, 0),
		fact_of("opt/tool", 0755, 1029054284, 100000),
		fact_of("etc/hosts", 0644, 100000, 100000),
	};

	facts[1].caps = CAPS_V2;
	facts[4].acl_access = acl_of("u::rw-,u:33:rw-,g::r--,m::rw-,o::r--", acl);
	facts[5].attr = CTM_ATTR_IMMUTABLE;
	return exam_of(facts, sizeof(facts) / sizeof(facts[0]));
}

struct ctm_exam *undecided_exam(void)
{
	struct ctm_fact facts[] = {
		fact_of("srv/a", 0644, 65534, 65534),
		fact_of("etc/hosts", 0644, 100000, 100000),
	};

	return exam_of(facts, sizeof(facts) / sizeof(facts[0]));
}

struct ctm_exam *clean_exam(void)
{
	struct ctm_fact facts[] = {
		fact_of("", S_IFDIR | 0755, 100000, 100000),
		fact_of("etc/hosts", 0644, 100000, 100000),
	};

	return exam_of(facts, sizeof(facts) / sizeof(facts[0]));
}

char *text_of(int (*view)(FILE *, const struct ctm_report *), const struct ctm_report *rep)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	cr_assert_not_null(out);
	cr_assert_eq(view(out, rep), 0);
	cr_assert_eq(fclose(out), 0);
	return text;
}
