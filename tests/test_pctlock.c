/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks of PVE::LXC::Config $confdesc, each with its own words. */
#include "config/pctlock.h"

#include <string.h>

#include "cases.h"

static const struct {
	const char *name;
	bool known;
} rows[] = {
	{ "backup", true },     { "create", true },
	{ "destroyed", true },  { "disk", true },
	{ "fstrim", true },     { "migrate", true },
	{ "mounted", true },    { "rollback", true },
	{ "snapshot", true },   { "snapshot-delete", true },
	{ "suspended", false }, { "Backup", false },
};

CASES(pctlock, each_is_explained, rows)
{
	const struct ctm_pctlock *lock = ctm_pctlock(rows[*i].name);

	cr_assert_eq(lock->name != NULL, rows[*i].known, "%s", rows[*i].name);
	cr_assert(!lock->name || strcmp(lock->name, rows[*i].name) == 0, "%s", rows[*i].name);
	cr_assert(lock->means && lock->means[0] && lock->look && lock->look[0] && lock->verb, "%s",
		  rows[*i].name);
	for (size_t k = 0; k < *i && rows[*i].known; k++) {
		cr_assert_str_neq(lock->means, ctm_pctlock(rows[k].name)->means, "%s and %s",
				  rows[*i].name, rows[k].name);
	}
}
