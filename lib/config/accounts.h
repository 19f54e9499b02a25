/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * passwd(5) and group(5): the ids that a container's accounts have. Written by the container's
 * root, so nothing is believed: the ids are only shown.
 */
#ifndef CTM_CONFIG_ACCOUNTS_H
#define CTM_CONFIG_ACCOUNTS_H

#include "base/bytes.h"
#include "id/idmap.h"

enum ctm_accounts_file { CTM_ACCOUNTS_PASSWD, CTM_ACCOUNTS_GROUP };

/**
 * Calls fn for each id that a line names: uid and primary gid of passwd, the gid of group. name is
 * the account's, not terminated, and may hold any byte but a colon and a newline. Lines that are
 * none, and ids over 32 bits, are skipped. Stops when fn returns other than 0, and returns that.
 */
int ctm_accounts_each(enum ctm_accounts_file file, struct ctm_bytes text,
		      int (*fn)(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg),
		      void *arg);

#endif
