/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dnf 4: its pid files, and the caches of repositories in libsolv's form.
 *
 * A pid file is written under a flock(2) that is given back at once: what counts afterwards is the
 * file. dnf removes it at its end. It overwrites one whose process is gone, waits for a process of
 * that number, whoever it is by now, and gives up on a file with anything else in it. In a stopped
 * container none of them means anything.
 *
 * A cache is built from the metadata beside it whenever it is missing.
 */
#include "base/cleanup.h"
#include "rules/rules.h"
#include "rules/solv.h"

static const struct ctm_rule rows[] = {
	{
		.id = "dnf.solv",
		.at = "var/cache/dnf/*.solv",
		.kind = CTM_RULE_CACHE,
		.why = "dnf's cache of a repository; dnf builds it again from metadata",
		.damaged = ctm_solv_damaged,
	},
	{
		.id = "dnf.solvx",
		.at = "var/cache/dnf/*.solvx",
		.kind = CTM_RULE_CACHE,
		.why = "dnf's cache of part of a repository; dnf builds it again from metadata",
		.damaged = ctm_solv_damaged,
	},
	{
		.id = "dnf.download-lock",
		.at = "var/cache/dnf/download_lock.pid",
		.kind = CTM_RULE_PIDLOCK,
		.why = "left by a dnf that died while it downloaded",
	},
	{
		.id = "dnf.metadata-lock",
		.at = "var/cache/dnf/metadata_lock.pid",
		.kind = CTM_RULE_PIDLOCK,
		.why = "left by a dnf that died at work on its metadata",
	},
	{
		.id = "dnf.rpmdb-lock",
		.at = "var/lib/dnf/rpmdb_lock.pid",
		.kind = CTM_RULE_PIDLOCK,
		.why = "left by a dnf that died in a transaction",
	},
	{
		.id = "dnf.log-lock",
		.at = "var/log/log_lock.pid",
		.kind = CTM_RULE_PIDLOCK,
		.why = "left by a dnf that died while it changed log files",
	},
};

static const char *const never[] = {
	"var/lib/dnf/history.sqlite",
	"var/lib/dnf/modulefailsafe",
};

/* It ends when it cannot write its logs. */
static const char *const dirs[] = {
	"var/cache/dnf",   "var/lib/dnf",         "var/log/dnf.librepo.log",
	"var/log/dnf.log", "var/log/dnf.rpm.log", "var/log/hawkey.log",
};

const struct ctm_rules ctm_rules_dnf = {
	.name = "dnf",
	.present_if = "etc/dnf/dnf.conf",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
