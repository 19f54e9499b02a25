/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attribute values as getfattr -e hex prints them, without the 0x. */
#ifndef CTM_TESTS_HEX_H
#define CTM_TESTS_HEX_H

#include <stddef.h>

#include "base/bytes.h"

/**
 * Bytes of the hex digits, in store; fails the test when it is too small or the digits are none.
 */
struct ctm_bytes from_hex(const char *hex, unsigned char *store, size_t size);

#endif
