/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The HA manager's resources and the replication jobs. */
#include "config/managed.h"

#include <string.h>

#include "cases.h"

#define HA                                              \
	"ct: 115\n\tgroup one\n\tstate started\n\n"     \
	"vm: 116\n\tstate started\n\n"                  \
	"ct: 117\n\tmax_restart 2\n\tstate ignored\n\n" \
	"ct: 118\n\tstate disabled\n\n"                 \
	"ct: 1190\n\tstate started\n"

#define JOBS                                               \
	"local: 115-0\n\ttarget pve2\n\tschedule */15\n\n" \
	"# local: 116-0\n"                                 \
	"local: 117-0\n\tdisable\n\ttarget pve2\n\n"       \
	"local: 118-0\n\tdisable 1\n\ttarget pve2\n\n"     \
	"local: 118-1\n\ttarget pve3\n\n"                  \
	"local: 1190-0\n\tdisable 0\n\ttarget pve2\n"

static const struct {
	bool replication;
	const char *text;
	unsigned int vmid;
	bool want;
} rows[] = {
	{ false, "", 115, false },
	{ false, HA, 115, true },
	{ false, HA, 116, false }, /* a VM */
	{ false, HA, 117, false }, /* ignored */
	{ false, HA, 118, true },  /* the HA manager stops it when somebody starts it */
	{ false, HA, 119, false },
	{ false, HA, 1190, true },
	{ false, HA, 11, false },
	{ false, "\tct: 115\n", 115, false }, /* a property */
	{ false, "ct 115\n", 115, false },
	{ true, "", 115, false },
	{ true, JOBS, 115, true },
	{ true, JOBS, 116, false },
	{ true, JOBS, 117, false },
	{ true, JOBS, 118, true }, /* the second job */
	{ true, JOBS, 119, false },
	{ true, JOBS, 1190, true },
	{ true, "local: 115\n", 115, false },
};

CASES(managed, find, rows)
{
	const struct ctm_bytes text = { rows[*i].text, strlen(rows[*i].text) };
	bool got = rows[*i].replication ? ctm_managed_replicated(text, rows[*i].vmid) :
					  ctm_managed_ha(text, rows[*i].vmid);

	cr_assert_eq(got, rows[*i].want, "row %zu: %u", *i, rows[*i].vmid);
}
