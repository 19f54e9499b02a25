/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of package managers' locks, caches and leftovers.
 */
#include "base/cleanup.h"
#include "plan/page.h"

#define EVERY_ENTRY                                                        \
	{                                                                  \
		"ctmend check -v TARGET", "every such file with its owner" \
	}
#define KEPT                                                                                \
	"Removed, and kept in the record of the run, so undo brings it back. --clean none " \
	"repairs "                                                                          \
	"the owner instead, --clean all removes healthy ones too."

static const struct ctm_page_row rows[] = {
	{
		.code = "pkg.held",
		.how = "Somebody runs a package manager in the tree through a mount or chroot on "
		       "the host, "
		       "or an older one hangs.",
		.repair = "Refused until the lock is free; --wait does not help here, since an "
			  "installation "
			  "takes as long as it takes.",
		.look = { { "ps -fp PID", "the process that the report names" },
			  { "lsof +D MOUNTPOINT/var/lib/dpkg", "who has the files open" } },
	},
	{
		.code = "pkg.lock",
		.how = "apt, dpkg or another manager ran in a chroot of the host's root and made "
		       "the lock "
		       "anew, or it died and left a lock that counts by being there.",
		.repair = KEPT,
		.look = { EVERY_ENTRY },
	},
	{
		.code = "pkg.cache",
		.how = "A run in a chroot wrote the cache anew, or a full disk or a crash cut it "
		       "off.",
		.repair = KEPT,
		.look = { EVERY_ENTRY,
			  { "pct exec ID -- apt-get update", "once it runs: whether the caches are "
							     "made "
							     "again" } },
	},
	{
		.code = "pkg.partial",
		.how = "A download by a run in a chroot was cut off.",
		.repair = KEPT,
		.look = { EVERY_ENTRY },
	},
	{
		.code = "pkg.large",
		.how = "The file is larger than what is kept of one run (256 MiB) or of all "
		       "records of a target (1 GiB), or than a tenth of the free space allows, or "
		       "earlier ones have used that up; or it is longer than 4 GiB. Holes do not "
		       "count. Or it stands where a lock is expected and is longer than 4096 "
		       "bytes: no lock is, so it is something else.",
		.repair = "The file stays and gets its owner.",
		.look = { { "ctmend history TARGET", "what the records take" },
			  { "ctmend history --prune TARGET", "removes what need not be kept" },
			  { "df -h /var/lib/ctmend", "the room for records" } },
	},
	{
		.code = "pkg.unfinished",
		.how = "dpkg was interrupted inside, often because it met files that it could not "
		       "change.",
		.repair = "Never touched. Ids are repaired, so that dpkg can finish by itself.",
		.look = { { "pct exec ID -- dpkg --audit", "packages that are not whole" },
			  { "pct exec ID -- dpkg --configure -a", "finishes the run; inside, once "
								  "it is "
								  "up" } },
	},
};

const struct ctm_page_table ctm_pages_pkg = { rows, ARRAY_LEN(rows) };
