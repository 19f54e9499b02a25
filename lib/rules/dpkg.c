/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dpkg: its locks, and the journal of an interrupted run.
 *
 * The three locks are fcntl locks (dpkg's lib/dpkg/file.c): bound to the open file and gone with
 * the process. As files they are in the way only when the container's root may not open them.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

static const struct ctm_rule rows[] = {
	{
		.id = "dpkg.lock",
		.at = "var/lib/dpkg/lock",
		.kind = CTM_RULE_LOCK,
		.why = "dpkg's lock on its database; dpkg makes a new one",
	},
	{
		.id = "dpkg.lock-frontend",
		.at = "var/lib/dpkg/lock-frontend",
		.kind = CTM_RULE_LOCK,
		.why = "the lock of apt and other front ends of dpkg; they make a new one",
	},
	{
		.id = "dpkg.triggers-lock",
		.at = "var/lib/dpkg/triggers/Lock",
		.kind = CTM_RULE_LOCK,
		.why = "dpkg's lock on pending triggers; dpkg makes a new one",
	},
	{
		.id = "dpkg.updates",
		.at = "var/lib/dpkg/updates/*",
		.kind = CTM_RULE_UNFINISHED,
		.why = "dpkg's journal: changes of an interrupted run, not yet in its status file",
	},
};

/* debconf's databases lie in a cache, and hold the answers that its user gave. */
static const char *const never[] = {
	"var/cache/debconf/config.dat",
	"var/cache/debconf/passwords.dat",
	"var/cache/debconf/templates.dat",
	"var/lib/dpkg/alternatives",
	"var/lib/dpkg/available",
	"var/lib/dpkg/diversions",
	"var/lib/dpkg/info",
	"var/lib/dpkg/statoverride",
	"var/lib/dpkg/status",
	"var/lib/dpkg/updates",
};

static const char *const dirs[] = { "var/cache/debconf", "var/lib/dpkg" };

const struct ctm_rules ctm_rules_dpkg = {
	.name = "dpkg",
	.present_if = "var/lib/dpkg/status",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
