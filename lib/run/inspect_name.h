/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a name that was told really is one of an inode's.
 */
#ifndef CTM_RUN_INSPECT_NAME_H
#define CTM_RUN_INSPECT_NAME_H

#include "run/ops.h"

/** The argument of ctm_inspect_name(); borrowed. */
struct ctm_inspect_names {
	const struct ctm_ops *ops;
	void *fs;
};

/**
 * A ctm_policy.is_name: opens what stands at the path, no link followed and no mount crossed, and
 * compares device and inode. 1: it is that inode; 0: another one, or nothing that can be opened.
 */
int ctm_inspect_name(void *arg, const char *path, size_t len, uint64_t dev, uint64_t ino);

#endif
