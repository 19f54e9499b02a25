/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the fuzz targets: bytes that nobody chose go in, and what must hold for any input is checked.
 *
 * One file for each target. make fuzz links them with libFuzzer; everywhere else driver.c replays
 * the inputs of fixtures/fuzz/TARGET.
 */
#ifndef CTM_TESTS_FUZZ_H
#define CTM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What must hold; abort() is what libFuzzer and the driver's caller take for a finding. */
#define FUZZ_CHECK(cond)                                                                 \
	do {                                                                             \
		if (!(cond)) {                                                           \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                         \
		}                                                                        \
	} while (0)

/** The input as a string, cut at the first NUL; to be freed. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size > 0) {
		memcpy(text, data, size);
	}
	text[size] = '\0';
	return text;
}

/** The input as bytes that are never NULL. */
static inline struct ctm_bytes fuzz_bytes(const uint8_t *data, size_t size)
{
	return (struct ctm_bytes){ size > 0 ? (const void *)data : "", size };
}

#endif
