/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apk, versions 2 and 3: its lock, and downloads that were not finished.
 *
 * The lock is a flock(2) on a file below lib/apk/db that stays; some versions of apk 3 have it in
 * run. On a merged /usr the directory is below usr, and lib is a link, which is not followed. A
 * download has a name of its own in the cache until it is whole: ".apknew.NAME" (2) or "NAME.tmp"
 * (3). The indexes beside them come from the network, so they are not removed.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

static const struct ctm_rule rows[] = {
	{
		.id = "apk.cache-partial3",
		.at = "etc/apk/cache/*.tmp",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download; apk fetches it again",
	},
	{
		.id = "apk.cache-partial2",
		.at = "etc/apk/cache/.apknew.*",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download; apk fetches it again",
	},
	{
		.id = "apk.lock",
		.at = "lib/apk/db/lock",
		.kind = CTM_RULE_LOCK,
		.why = "apk's lock on its database; apk makes a new one",
	},
	{
		.id = "apk.run-lock",
		.at = "run/apk/db.lock",
		.kind = CTM_RULE_LOCK,
		.why = "apk's lock on its database; apk makes a new one",
	},
	{
		.id = "apk.usr-lock",
		.at = "usr/lib/apk/db/lock",
		.kind = CTM_RULE_LOCK,
		.why = "apk's lock on its database; apk makes a new one",
	},
	{
		.id = "apk.partial3",
		.at = "var/cache/apk/*.tmp",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download; apk fetches it again",
	},
	{
		.id = "apk.partial2",
		.at = "var/cache/apk/.apknew.*",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download; apk fetches it again",
	},
};

static const char *const never[] = {
	"etc/apk/keys",
	"etc/apk/world",
	"lib/apk/db/installed",
	"lib/apk/db/scripts.tar",
	"lib/apk/db/scripts.tar.gz",
	"lib/apk/db/triggers",
	"usr/lib/apk/db/installed",
	"usr/lib/apk/db/scripts.tar",
	"usr/lib/apk/db/scripts.tar.gz",
	"usr/lib/apk/db/triggers",
};

static const char *const dirs[] = {
	"etc/apk", "lib/apk", "usr/lib/apk", "var/cache/apk", "var/log/apk.log",
};

const struct ctm_rules ctm_rules_apk = {
	.name = "apk",
	.present_if = "etc/apk/world",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
