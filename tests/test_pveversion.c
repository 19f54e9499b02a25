/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pve-container's version in dpkg's status file.
 */
#include "target/pveversion.h"

#include "base/cleanup.h"
#include "cases.h"
#include "sysroot.h"

#define OTHER                                                  \
	"Package: pve-manager\nStatus: install ok installed\n" \
	"Version: 9.1.1\nDepends: pve-container (>= 6)\n\n"
#define OURS      "Package: pve-container\n"
#define INSTALLED "Status: install ok installed\n"

static const struct {
	const char *name;
	const char *text; /* NULL: no file */
	unsigned int major;
} rows[] = {
	{ "PVE 7", OTHER OURS INSTALLED "Priority: optional\nVersion: 4.4-7\n\n" OTHER, 4 },
	{ "PVE 8", OTHER OURS INSTALLED "Version: 5.3.5\n", 5 },
	{ "PVE 9, last in the file", OTHER OURS INSTALLED "Version: 6.1.10", 6 },
	{ "epoch", OURS INSTALLED "Version: 1:12.0-1\n", 12 },
	{ "long description",
	  OURS INSTALLED "Version: 6.1\nDescription: a\n b\n .\n Version: 1.0\n", 6 },
	{ "being upgraded", OURS "Status: install ok unpacked\nVersion: 5.0\n", 5 },
	{ "waiting for triggers", OURS "Status: install ok triggers-pending\nVersion: 5.0\n", 5 },
	{ "no file", NULL, 0 },
	{ "empty file", "", 0 },
	{ "not there", OTHER, 0 },
	{ "another package of a longer name",
	  "Package: pve-container-dev\n" INSTALLED "Version: 4.0\n", 0 },
	{ "removed", OURS "Status: deinstall ok config-files\nVersion: 4.0\n", 0 },
	{ "half installed", OURS "Status: install reinstreq half-installed\nVersion: 4.0\n", 0 },
	{ "no state", OURS "Version: 4.0\n", 0 },
	{ "no version", OURS INSTALLED "\n" OTHER, 0 },
	{ "version that is no number", OURS INSTALLED "Version: git4.0\n", 0 },
	{ "version without a point", OURS INSTALLED "Version: 20240101\n", 0 },
	{ "fields of two packages", OURS INSTALLED "\nPackage: x\nVersion: 4.0\n", 0 },
};
CASES(pveversion, container, rows)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	struct ctm_err err = { 0 };
	unsigned int major = 77;

	if (rows[*i].text) {
		sysroot_file(&s, "var/lib/dpkg/status", rows[*i].text);
	}
	cr_assert_eq(ctm_pveversion_container(&host, &major, &err), 0, "%s: %s", rows[*i].name,
		     err.msg);
	cr_assert_eq(major, rows[*i].major, "%s: %u", rows[*i].name, major);
}

Test(pveversion, unreadable)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	struct ctm_err err = { 0 };
	unsigned int major = 77;

	sysroot_dir(&s, "var/lib/dpkg/status");
	cr_assert_lt(ctm_pveversion_container(&host, &major, &err), 0);
	cr_assert_eq(err.code, CTM_SYS, "%s", err.msg);
	cr_assert_eq(major, 77);
}
