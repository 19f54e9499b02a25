/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zypper and what else uses libzypp: its lock, and the caches of repositories in libsolv's form.
 *
 * The lock is an fcntl(2) lock on a pid file that stays, empty, when its process ends, and so is no
 * sign of anything by being there. A cache is built from the raw metadata whenever it is missing.
 */
#include "base/cleanup.h"
#include "rules/rules.h"
#include "rules/solv.h"

static const struct ctm_rule rows[] = {
	{
		.id = "zypper.pid",
		.at = "run/zypp.pid",
		.kind = CTM_RULE_LOCK,
		.why = "libzypp's lock on all of its data; it makes a new one",
	},
	{
		.id = "zypper.solv",
		.at = "var/cache/zypp/solv/*/solv",
		.kind = CTM_RULE_CACHE,
		.why = "libzypp's cache of a repository; it builds it again from the metadata",
		.damaged = ctm_solv_damaged,
	},
	{
		.id = "zypper.var-pid",
		.at = "var/run/zypp.pid",
		.kind = CTM_RULE_LOCK,
		.why = "libzypp's lock on all of its data; it makes a new one",
	},
};

static const char *const never[] = {
	"var/lib/zypp",
};

static const char *const dirs[] = {
	"var/cache/zypp",
	"var/lib/zypp",
	"var/log/zypp",
	"var/log/zypper.log",
};

const struct ctm_rules ctm_rules_zypper = {
	.name = "zypper",
	.present_if = "etc/zypp",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
