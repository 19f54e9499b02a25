/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The header of a solv file (libsolv's repo_write.c): "SOLV", a version, and six more numbers of
 * four bytes each, big endian: how many strings, relations, solvables, keys, schemata; flags.
 */
#include "rules/solv.h"

#include <string.h>

#define HEADER_LEN 32U

bool ctm_solv_damaged(struct ctm_bytes head, unsigned long long size)
{
	if (size < HEADER_LEN) {
		return true;
	}
	if (!head.p || head.len < 4) {
		return false; /* it was not read: nothing is known */
	}
	return memcmp(head.p, "SOLV", 4) != 0;
}
