/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hex.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct ctm_bytes from_hex(const char *hex, unsigned char *store, size_t size)
{
	size_t len = strlen(hex) / 2;

	cr_assert(strlen(hex) % 2 == 0 && len <= size, "bad hex in a test: %s", hex);
	for (size_t i = 0; i < len; i++) {
		unsigned byte;

		cr_assert_eq(sscanf(hex + 2 * i, "%2x", &byte), 1, "bad hex in a test: %s", hex);
		store[i] = (unsigned char)byte;
	}
	return (struct ctm_bytes){ .p = store, .len = len };
}
