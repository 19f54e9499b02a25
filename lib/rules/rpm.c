/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rpm: its lock, and the environment of a Berkeley DB.
 *
 * The lock is an fcntl(2) lock. The database is in one of two places; where it has moved, the old
 * one is a link, which is not followed. The environment, three files or more, is what processes
 * that have the database open share: caches and locks, nothing of its own. rpm makes a new one when
 * there is none. The old ones are left by every rpm that ends, so their being there means nothing.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

static const struct ctm_rule rows[] = {
	{
		.id = "rpm.usr-lock",
		.at = "usr/lib/sysimage/rpm/.rpm.lock",
		.kind = CTM_RULE_LOCK,
		.why = "rpm's lock on its database; rpm makes a new one",
	},
	{
		.id = "rpm.lock",
		.at = "var/lib/rpm/.rpm.lock",
		.kind = CTM_RULE_LOCK,
		.why = "rpm's lock on its database; rpm makes a new one",
	},
	{
		.id = "rpm.environment",
		.at = "var/lib/rpm/__db.*",
		.kind = CTM_RULE_CACHE, /* locks are in it, and much more than a lock is long */
		.why = "what processes with rpm's database open have shared; rpm makes a new one",
	},
};

/* The other files there are indexes, which no row names. */
static const char *const never[] = {
	"usr/lib/sysimage/rpm/Index.db",
	"usr/lib/sysimage/rpm/Packages",
	"usr/lib/sysimage/rpm/Packages.db",
	"usr/lib/sysimage/rpm/rpmdb.sqlite",
	"usr/lib/sysimage/rpm/rpmdb.sqlite-shm",
	"usr/lib/sysimage/rpm/rpmdb.sqlite-wal",
	"var/lib/rpm/Index.db",
	"var/lib/rpm/Packages",
	"var/lib/rpm/Packages.db",
	"var/lib/rpm/rpmdb.sqlite",
	"var/lib/rpm/rpmdb.sqlite-shm",
	"var/lib/rpm/rpmdb.sqlite-wal",
};

static const char *const dirs[] = {
	"usr/lib/sysimage/rpm",
	"var/lib/rpm",
};

const struct ctm_rules ctm_rules_rpm = {
	.name = "rpm",
	.present_if = "usr/lib/rpm/macros",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
