/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a volume's identity (target/identity.h) from what is attached.
 */
#ifndef CTM_TARGET_VOLIDENT_H
#define CTM_TARGET_VOLIDENT_H

#include "base/err.h"
#include "target/dirvol.h"
#include "target/fsprobe.h"
#include "target/identity.h"
#include "target/target.h"

/**
 * A directory volume. UUID: of the btrfs, or of the file system on the block device that is
 * mounted; a zfs has statfs(2)'s f_fsid, which is made of the dataset's guid; "" where there is
 * none (tmpfs, nfs).
 */
int ctm_volident_dir(const struct ctm_volume *vol, const struct ctm_dirvol *dir, int root,
		     struct ctm_identity *ret, struct ctm_err *err);
/** A device or image with what was found on it. path: as the host names it for good. */
int ctm_volident_raw(const struct ctm_volume *vol, const char *path,
		     const struct ctm_fsprobe *probe, int root, struct ctm_identity *ret,
		     struct ctm_err *err);

#endif
