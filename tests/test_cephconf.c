/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cluster's id in a ceph.conf.
 */
#include "config/cephconf.h"

#include <errno.h>
#include <string.h>

#include "cases.h"

#define ID "01234567-89ab-cdef-0123-456789ABCDEF"

static const struct {
	const char *name;
	const char *text;
	int r;
} rows[] = {
	{ "as PVE writes it", "[global]\n\t auth_client_required = cephx\n\t fsid = " ID "\n", 0 },
	{ "no blanks", "[global]\nfsid=" ID, 0 },
	{ "many blanks", " [global] \n fsid \t=\t" ID " \r\n", 0 },
	{ "section in capitals", "[GLOBAL]\nfsid = " ID "\n", 0 },
	{ "the last one counts", "[global]\nfsid = nonsense\nfsid = " ID "\n", 0 },
	{ "section again", "[global]\na = b\n[osd]\nx = y\n[global]\nfsid = " ID "\n", 0 },
	{ "empty", "", -ENOENT },
	{ "other section", "[global]\na = b\n[mon]\nfsid = " ID "\n", -ENOENT },
	{ "before any section", "fsid = " ID "\n[global]\n", -ENOENT },
	{ "comment", "[global]\n# fsid = " ID "\n; fsid = " ID "\n", -ENOENT },
	{ "longer key", "[global]\nfsid2 = " ID "\nthe fsid = " ID "\n", -ENOENT },
	{ "no UUID", "[global]\nfsid = 0123\n", -EBADMSG },
	{ "the last one is none", "[global]\nfsid = " ID "\nfsid =\n", -EBADMSG },
	{ "a path in it", "[global]\nfsid = ../../../../../../../../../etc/passwd/..\n", -EBADMSG },
	{ "longer", "[global]\nfsid = " ID "0\n", -EBADMSG },
	{ "in quotes: for PVE's own parser", "[global]\nfsid = \"" ID "\"\n", -EBADMSG },
	{ "comment behind it: likewise", "[global]\nfsid = " ID " ; mine\n", -EBADMSG },
};
CASES(cephconf, fsid, rows)
{
	char fsid[CTM_CEPH_FSID] = "unset";
	int r = ctm_cephconf_fsid((struct ctm_bytes){ rows[*i].text, strlen(rows[*i].text) }, fsid);

	cr_assert_eq(r, rows[*i].r, "%s: %d", rows[*i].name, r);
	cr_assert(r < 0 || strcmp(fsid, ID) == 0, "%s: %s", rows[*i].name, fsid);
}
