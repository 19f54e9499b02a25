/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lint of a container's configuration: sections, lines that nobody reads, the lock. */
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"
#include "plan/lint.h"

#define ROOTFS "rootfs: local:115/vm-115-disk-0.raw\n"
#define FLAG   "unprivileged: 1\n"
#define MAP    "lxc.idmap: u 0 200000 65536\nlxc.idmap: g 0 200000 65536\n"

static const struct {
	const char *name;
	const char *conf;
	const char *want; /* "code text|" of each finding */
} rows[] = {
	{ "unprivileged, no sections", ROOTFS FLAG, "" },
	{ "privileged, no sections", ROOTFS, "" },
	{ "the flag is in the snapshot alone", ROOTFS "\n[before]\n" ROOTFS FLAG "snaptime: 1\n",
	  "conf.section line 5, 'unprivileged: 1', stands in the snapshot section [before] "
	  "(line 3)|" },
	{ "the map is in the snapshot alone", ROOTFS "[before]\n" ROOTFS MAP,
	  "conf.section line 4, 'lxc.idmap: u 0 200000 65536', stands in the snapshot section "
	  "[before] (line 2)|" },
	{ "in two snapshots", ROOTFS "[one]\n" FLAG "[two]\n" FLAG,
	  "conf.section line 3, 'unprivileged: 1', stands in the snapshot section [one] "
	  "(line 2)|"
	  "conf.section line 5, 'unprivileged: 1', stands in the snapshot section [two] "
	  "(line 4)|" },
	{ "privileged everywhere", ROOTFS "[before]\n" ROOTFS "unprivileged: 0\n", "" },
	{ "a section that is none does not end the first", ROOTFS "[2nd]\n" FLAG,
	  "conf.unknown line 2: unable to parse, ignored: [2nd]|" },
	{ "pending flag", ROOTFS "[pve:pending]\n" FLAG,
	  "conf.section line 3, 'unprivileged: 1', stands in the section of pending changes "
	  "[pve:pending] (line 2)|" },
	{ "pending map of an unprivileged container", ROOTFS FLAG "[PVE:pending]\n" MAP,
	  "conf.section line 4, 'lxc.idmap: u 0 200000 65536', stands in the section of pending "
	  "changes [pve:pending] (line 3)|" },
	{ "pending flag of an unprivileged container", ROOTFS FLAG "[pve:pending]\n" FLAG, "" },
	{ "snapshot with the same map", ROOTFS FLAG "[before]\n" ROOTFS FLAG, "" },
	{ "snapshot with the same map, written out",
	  ROOTFS FLAG "[before]\nlxc.idmap: u 0 100000 65536\nlxc.idmap: g 0 100000 65536\n", "" },
	{ "snapshot without the flag", ROOTFS FLAG "[before]\n" ROOTFS,
	  "conf.snapshot the snapshot section [before] (line 3) has no map, it is privileged|" },
	{ "snapshot with a map of its own", ROOTFS FLAG "[before]\n" MAP,
	  "conf.snapshot the snapshot section [before] (line 3) has the map u 0 200000 65536, "
	  "g 0 200000 65536|" },
	{ "snapshot with a map of many lines",
	  ROOTFS FLAG "[before]\nlxc.idmap: u 0 100000 5\nlxc.idmap: u 5 5 1\n"
		      "lxc.idmap: u 6 100006 10\nlxc.idmap: g 0 100000 5\nlxc.idmap: g 5 5 1\n",
	  "conf.snapshot the snapshot section [before] (line 3) has the map u 0 100000 5, u 5 5 1, "
	  "u 6 100006 10, g 0 100000 5 ...|" },
	{ "snapshot with a map that cannot be read", ROOTFS FLAG "[before]\nlxc.idmap: b 0 1 1\n",
	  "conf.snapshot the snapshot section [before] (line 3) has a map that cannot be read "
	  "(line 4: id map \"b 0 1 1\": type \"b\" is neither u nor g)|" },
	{ "lines that PVE does not take", ROOTFS FLAG "Unprivileged: 1\n",
	  "conf.unknown line 3: unable to parse, ignored: Unprivileged: 1|" },
	{ "lock", ROOTFS FLAG "lock: backup\n",
	  "conf.lock backup: a backup (vzdump) is at work, or one has died|" },
};

CASES(lint_conf, findings, rows)
{
	SCRATCH(s);
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf got = { 0 };
	static const struct ctm_policy policy = { 0 };
	static const struct ctm_target_opts opts = { .keep_refused = true };
	struct ctm_err err = { 0 };

	make_cluster(&s);
	sysroot_file(&s, "etc/pve/nodes/pve1/lxc/115.conf", rows[*i].conf);
	cr_assert_eq(locate(&s, "115", &opts, &target, &err), 0, "%s: %s", rows[*i].name, err.msg);
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	cr_assert_eq(ctm_lint_sections(target, plan), 0);
	cr_assert_eq(ctm_lint_warnings(target, plan), 0);
	cr_assert_eq(ctm_lint_lock(target, plan), 0);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	for (size_t k = 0; k < plan->findings.n; k++) {
		const struct ctm_finding *f = &plan->findings.v[k];

		cr_assert_eq(ctm_buf_addf(&got, "%s %s|", ctm_finding_info(f->code)->code, f->text),
			     0);
	}
	cr_assert_str_eq(got.p ? got.p : "", rows[*i].want, "%s", rows[*i].name);
}
