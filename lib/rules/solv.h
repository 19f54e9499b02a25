/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Caches in libsolv's form, which dnf, dnf 5 and libzypp share.
 */
#ifndef CTM_RULES_SOLV_H
#define CTM_RULES_SOLV_H

#include <stdbool.h>

#include "base/bytes.h"

/** For ctm_rule.damaged: whether a file of this size with these first bytes is no such cache. */
bool ctm_solv_damaged(struct ctm_bytes head, unsigned long long size);

#endif
