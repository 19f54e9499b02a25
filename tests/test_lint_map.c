/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lint of the id map, from the lines of a configuration to findings. */
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"
#include "plan/lint.h"

#define PVE_GRANT "root:100000:65536\n"
#define MAP(u, g) "unprivileged: 1\nrootfs: local:115/vm-115-disk-0.raw\n" u g
#define U(t)      "lxc.idmap: u " t "\n"
#define G(t)      "lxc.idmap: g " t "\n"

/* The texts of all findings but map.asym, as "code text|code text|". */
static void check(const char *name, const char *conf, const char *subid, const char *want,
		  const char *asym)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	static const struct ctm_policy policy = { 0 };
	static const struct ctm_target_opts opts = { .keep_refused = true };
	const struct ctm_bytes grants = { subid, strlen(subid) };
	const struct ctm_lint_subids subids = { .text = { grants, grants } };
	struct ctm_err err = { 0 };
	const char *asym_text = NULL;

	make_cluster(&s);
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/115.conf", conf);
	cr_assert_eq(locate(&s, "115", &opts, &target, &err), 0, "%s: %s", name, err.msg);
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_eq(ctm_lint_map(target, &subids, plan), 0);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		if (f->code == CTM_F_MAP_ASYM) {
			asym_text = f->text;
			continue;
		}
		cr_assert_eq(ctm_buf_addf(&got, "%s %s|", ctm_finding_info(f->code)->code, f->text),
			     0);
	}
	cr_assert_str_eq(got.p ? got.p : "", want, "%s", name);
	cr_assert_str_eq(asym_text ? asym_text : "", asym, "%s", name);
}

static const struct {
	const char *name;
	const char *conf;
	const char *subid;
	const char *want;
	const char *asym;
} rows[] = {
	{ "the default needs nothing", MAP("", ""), "", "", "" },
	{ "privileged", "rootfs: local:115/vm-115-disk-0.raw\n", "", "", "" },
	{ "the default written out", MAP(U("0 100000 65536"), G("0 100000 65536")), "", "", "" },
	{ "two halves make the same map",
	  MAP(U("0 100000 1000") U("1000 101000 64536"), G("0 100000 65536")), "", "", "" },
	{ "one id passed through, as it should be",
	  MAP(U("0 100000 1005") U("1005 1005 1") U("1006 101006 64530"),
	      G("0 100000 1005") G("1005 1005 1") G("1006 101006 64530")),
	  PVE_GRANT "root:1005:1\n", "", "" },
	{ "the same without its grant",
	  MAP(U("0 100000 1005") U("1005 1005 1") U("1006 101006 64530"),
	      G("0 100000 1005") G("1005 1005 1") G("1006 101006 64530")),
	  PVE_GRANT,
	  "map.subid /etc/subgid lacks: root:1005:1|map.subid /etc/subuid lacks: root:1005:1|",
	  "" },
	{ "another base", MAP(U("0 200000 65536"), G("0 200000 65536")),
	  PVE_GRANT "root:200000:65536\n", "", "" },
	{ "another base, granted in part", MAP(U("0 200000 65536"), G("0 200000 65536")),
	  "root:200000:65535\n",
	  "map.subid /etc/subgid lacks: root:200000:65536|"
	  "map.subid /etc/subuid lacks: root:200000:65536|",
	  "" },
	{ "only a group is passed through",
	  MAP(U("0 100000 65536"), G("0 100000 44") G("44 44 1") G("45 100045 65491")),
	  "root:44:1\n", "", "line 3: u 0 100000 65536, but line 4: g 0 100000 44" },
	{ "gids on another base", MAP(U("0 200000 65536"), G("0 300000 65536")),
	  "root:200000:65536\nroot:300000:65536\n", "",
	  "line 3: u 0 200000 65536, but line 4: g 0 300000 65536" },
	{ "no gids", MAP(U("0 100000 65536"), ""), "",
	  "map.hole no gid at all: the container cannot start|", "" },
	{ "ranges meet in the container",
	  MAP(U("0 100000 2000") U("1000 300000 64536"), G("0 100000 65536")),
	  "root:300000:70000\n",
	  "map.overlap line 3: u 0 100000 2000 and line 4: u 1000 300000 64536 have uids in common "
	  "in the container|",
	  "line 3: u 0 100000 2000, but line 5: g 0 100000 65536" },
	{ "ranges meet on disk",
	  MAP(U("0 100000 1000") U("1000 100999 64536"), G("0 100000 65536")), "",
	  "map.overlap line 3: u 0 100000 1000 and line 4: u 1000 100999 64536 have uids in common "
	  "on disk|",
	  "line 3: u 0 100000 1000, but line 5: g 0 100000 65536" },
	{ "a hole of one",
	  MAP(U("0 100000 1000") U("1001 101001 64535"), G("0 100000 1000") G("1001 101001 64535")),
	  "", "map.hole gid 1000|map.hole uid 1000|", "" },
	{ "a hole of many",
	  MAP(U("0 100000 1000") U("2000 102000 63536"), G("0 100000 1000") G("2000 102000 63536")),
	  "", "map.hole gids 1000 to 1999|map.hole uids 1000 to 1999|", "" },
	{ "without root", MAP(U("1 100001 65535"), G("1 100001 65535")), "",
	  "map.hole gid 0, the container's root,|map.hole uid 0, the container's root,|", "" },
	{ "too short for nobody", MAP(U("0 100000 10000"), G("0 100000 65535")), "",
	  "map.hole uids 10000 to 65535, nobody (65534) among them|",
	  "line 3: u 0 100000 10000, but line 4: g 0 100000 65535" },
	{ "root passed through, the rest moved by one",
	  MAP(U("0 0 1") U("1 100000 65535"), G("0 100000 65536")), "",
	  "map.punch uid 0 is 0 on disk: the container's root is the host's|"
	  "map.punch uid 1 and those above are moved by 1: on disk 100000, not 100001|",
	  "line 3: u 0 0 1, but line 5: g 0 100000 65536" },
	{ "root passed through, the rest in place",
	  MAP(U("0 0 1") U("1 100001 65535"), G("0 100000 65536")), "",
	  "map.punch uid 0 is 0 on disk: the container's root is the host's|",
	  "line 3: u 0 0 1, but line 5: g 0 100000 65536" },
	{ "ids behind the passed one moved by one",
	  MAP(U("0 100000 1000") U("1000 1000 1") U("1001 101000 64535"), G("0 100000 65536")),
	  "root:1000:1\n",
	  "map.punch uid 1001 and those above are moved by 1: on disk 101000, not 101001|",
	  "line 3: u 0 100000 1000, but line 6: g 0 100000 65536" },
	{ "a generated map", /* cases.md B10's shape: the first thousand are the host's */
	  MAP(U("0 0 1026") U("1026 1026 1") U("1027 101027 64509"),
	      G("0 0 1026") G("1026 1026 1") G("1027 101027 64509")),
	  "root:0:65536\n",
	  "map.punch gid 0 is 0 on disk: the container's root is the host's|"
	  "map.punch uid 0 is 0 on disk: the container's root is the host's|",
	  "" },
	{ "with a line that is none, what is missing is not known",
	  MAP(U("0 0100000 65536"), G("0 300000 1000") G("500 400000 600")), "",
	  "map.overlap line 4: g 0 300000 1000 and line 5: g 500 400000 600 have gids in common in "
	  "the container|",
	  "" },
};

CASES(lint_map, findings, rows)
{
	check(rows[*i].name, rows[*i].conf, rows[*i].subid, rows[*i].want, rows[*i].asym);
}
