/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xbps: its lock, its database, and downloads that were not finished.
 *
 * Up to version 0.59 the lock is an fcntl(2) lock on the database itself, so that file is asked for
 * a holder and never removed; since then it is a flock(2) on a file of its own, which stays. A
 * download is NAME.part until it is whole.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

static const struct ctm_rule rows[] = {
	{
		.id = "xbps.partial",
		.at = "var/cache/xbps/*.part",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download of a package; xbps fetches it again",
	},
	{
		.id = "xbps.lock",
		.at = "var/db/xbps/lock",
		.kind = CTM_RULE_LOCK,
		.why = "xbps's lock on its database; xbps makes a new one",
	},
	{
		.id = "xbps.pkgdb",
		.at = "var/db/xbps/pkgdb-0.38.plist",
		.kind = CTM_RULE_DATABASE,
		.why = "the database of packages, which older versions of xbps lock",
	},
};

static const char *const never[] = {
	"var/db/xbps/keys",
	"var/db/xbps/pkgdb-0.38.plist",
};

static const char *const dirs[] = {
	"var/cache/xbps",
	"var/db/xbps",
};

const struct ctm_rules ctm_rules_xbps = {
	.name = "xbps",
	.present_if = "var/db/xbps",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
