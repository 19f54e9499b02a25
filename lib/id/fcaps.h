/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * security.capability (capabilities(7), linux/capability.h): VFS_CAP_REVISION_2 has no root id and
 * works on the host as well; revision 3 names the user namespace's root by its disk uid.
 */
#ifndef CTM_ID_FCAPS_H
#define CTM_ID_FCAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "id/idmap.h"

#define CTM_XATTR_CAPS   "security.capability"
#define CTM_FCAPS_V2_LEN 20
#define CTM_FCAPS_V3_LEN 24

struct ctm_fcaps {
	int revision; /* 2 or 3 */
	bool effective;
	uint64_t permitted;
	uint64_t inheritable;
	ctm_did rootid; /* revision 3; 0 otherwise */
};

/** -EINVAL: length and revision do not fit each other, revision 1 or unknown, unknown flag bits. */
int ctm_fcaps_parse(struct ctm_bytes raw, struct ctm_fcaps *ret);
/** Writes the on-disk form of caps->revision; returns its length (20 or 24). */
size_t ctm_fcaps_pack(const struct ctm_fcaps *caps, unsigned char out[static CTM_FCAPS_V3_LEN]);
/**
 * What getcap -n prints behind the name (libcap 2.66): "cap_net_raw=ep", "=ep cap_chown-ep" when
 * most capabilities share their sets, "cap_net_raw=ep [rootid=100000]" for revision 3. Names in
 * the order of the kernel's numbers; a bit without a name is its number. -ENOMEM.
 */
int ctm_fcaps_format(const struct ctm_fcaps *caps, struct ctm_buf *out);

#endif
