/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dnf 5: its locks, and the caches of repositories in libsolv's form.
 *
 * The locks are fcntl(2) locks. Caches are built from the metadata beside them whenever they are
 * missing.
 */
#include "base/cleanup.h"
#include "rules/rules.h"
#include "rules/solv.h"

static const struct ctm_rule rows[] = {
	{
		.id = "dnf5.transaction-lock",
		.at = "run/dnf/rpmtransaction.lock",
		.kind = CTM_RULE_LOCK,
		.why = "dnf's lock on transactions; dnf makes a new one",
	},
	{
		.id = "dnf5.system-lock",
		.at = "usr/lib/sysimage/libdnf5/system-repo.lock",
		.kind = CTM_RULE_LOCK,
		.why = "dnf's lock on the state of the system; dnf makes a new one",
	},
	{
		.id = "dnf5.solv",
		.at = "var/cache/libdnf5/*/solv/*.solv",
		.kind = CTM_RULE_CACHE,
		.why = "dnf's cache of a repository; dnf builds it again from metadata",
		.damaged = ctm_solv_damaged,
	},
	{
		.id = "dnf5.solvx",
		.at = "var/cache/libdnf5/*/solv/*.solvx",
		.kind = CTM_RULE_CACHE,
		.why = "dnf's cache of part of a repository; dnf builds it again from metadata",
		.damaged = ctm_solv_damaged,
	},
};

static const char *const never[] = {
	"usr/lib/sysimage/libdnf5/environments.toml",
	"usr/lib/sysimage/libdnf5/groups.toml",
	"usr/lib/sysimage/libdnf5/modules.toml",
	"usr/lib/sysimage/libdnf5/nevras.toml",
	"usr/lib/sysimage/libdnf5/offline",
	"usr/lib/sysimage/libdnf5/packages.toml",
	"usr/lib/sysimage/libdnf5/system.toml",
	"usr/lib/sysimage/libdnf5/transaction_history.sqlite",
};

static const char *const dirs[] = {
	"usr/lib/sysimage/libdnf5",
	"var/cache/libdnf5",
	"var/lib/dnf",
};

const struct ctm_rules ctm_rules_dnf5 = {
	.name = "dnf5",
	.present_if = "usr/bin/dnf5",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
