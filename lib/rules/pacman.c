/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pacman: its lock, and downloads that were not finished.
 *
 * The lock is that the file exists: pacman makes it with O_EXCL, mode 0000, keeps it open, and
 * removes it at its end. One that is left stops every later run until somebody removes it. A
 * download is NAME.part until it is whole. The databases of repositories come from the network, so
 * they are not removed.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

static const struct ctm_rule rows[] = {
	{
		.id = "pacman.partial",
		.at = "var/cache/pacman/pkg/*.part",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download of a package; pacman fetches it again",
	},
	{
		.id = "pacman.download-partial",
		.at = "var/cache/pacman/pkg/download-*/*.part",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download of a package; pacman fetches it again",
	},
	{
		.id = "pacman.lock",
		.at = "var/lib/pacman/db.lck",
		.kind = CTM_RULE_PIDLOCK,
		.why = "the lock of a pacman that died; no other one works while it is there",
	},
	{
		.id = "pacman.sync-partial",
		.at = "var/lib/pacman/sync/*.part",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download of a database; pacman fetches it again",
	},
	{
		.id = "pacman.sync-download-partial",
		.at = "var/lib/pacman/sync/download-*/*.part",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download of a database; pacman fetches it again",
	},
};

static const char *const never[] = {
	"etc/pacman.d/gnupg",
	"var/lib/pacman/local",
};

static const char *const dirs[] = {
	"var/cache/pacman",
	"var/lib/pacman",
	"var/log/pacman.log",
};

const struct ctm_rules ctm_rules_pacman = {
	.name = "pacman",
	.present_if = "var/lib/pacman/local",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
