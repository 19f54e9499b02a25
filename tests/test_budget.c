/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the room that saved files may take. */
#include "run/budget.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cases.h"
#include "scratch.h"

static const struct {
	const char *name;
	const char *make; /* below the sysroot */
} rows[] = {
	{ "nothing is there", NULL },
	{ "a part of the way is there", "var" },
};

/* Free space moves while the test runs, so a tenth of it is known but roughly. */
CASES(budget, of_the_file_system, rows)
{
	SCRATCH(dir);
	const struct ctm_host host = { .sysroot = dir.path };
	const uint64_t most = (uint64_t)256 << 20;
	struct statvfs st;
	struct stat none;
	uint64_t budget = 0;
	uint64_t tenth;

	cr_assert(!rows[*i].make || mkdirat(dir.fd, rows[*i].make, 0755) == 0);
	cr_assert_eq(ctm_budget(&host, &budget, NULL), 0, "%s", rows[*i].name);
	cr_assert_eq(statvfs(dir.path, &st), 0);
	tenth = (uint64_t)st.f_bavail * st.f_frsize / 10;
	if (tenth > 2 * most) {
		cr_assert_eq(budget, most, "%s: %ju", rows[*i].name, (uintmax_t)budget);
	} else {
		cr_assert_leq(budget, most, "%s", rows[*i].name);
		cr_assert_geq(budget, tenth / 2 < most ? tenth / 2 : most, "%s", rows[*i].name);
	}
	cr_assert_eq(fstatat(dir.fd, "var/lib", &none, 0), -1, "%s: asking makes nothing",
		     rows[*i].name);
}
