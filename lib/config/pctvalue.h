/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of ordinary keys in a Proxmox VE container's configuration, checked as pve-container's
 * check_type does.
 */
#ifndef CTM_CONFIG_PCTVALUE_H
#define CTM_CONFIG_PCTVALUE_H

#include "base/bytes.h"
#include "base/err.h"

/**
 * The form in which PVE keeps the value: booleans as "1" and "0", integers without leading
 * zeros, all else as it is. *ret points into text or to static storage. CTM_REFUSED with the
 * reason for an unknown key and for a value that is none; PVE then keeps the text.
 */
int ctm_pctvalue_check(struct ctm_bytes key, const char *text, struct ctm_bytes *ret,
		       struct ctm_err *err);

#endif
