/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * yum, up to Enterprise Linux 7: its pid file.
 *
 * yum waits for the process of that number as long as there is one. The file is below /run, in
 * memory while the container runs, so one on the volume was left by a run in a chroot.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

static const struct ctm_rule rows[] = {
	{
		.id = "yum.pid",
		.at = "run/yum.pid",
		.kind = CTM_RULE_PIDLOCK,
		.why = "the pid file of a yum that died; yum would wait for that number",
	},
	{
		.id = "yum.var-pid",
		.at = "var/run/yum.pid",
		.kind = CTM_RULE_PIDLOCK,
		.why = "the pid file of a yum that died; yum would wait for that number",
	},
};

static const char *const never[] = {
	"var/lib/yum",
};

static const char *const dirs[] = {
	"var/cache/yum",
	"var/lib/yum",
};

const struct ctm_rules ctm_rules_yum = {
	.name = "yum",
	.present_if = "etc/yum.conf",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
