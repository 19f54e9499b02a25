/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers in lines that the kernel prints, as in /proc/locks. */
#ifndef CTM_BASE_NUMBER_H
#define CTM_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Reads the digits at *text, in base 10 or 16, and moves *text behind them. False, with *text and
 * *ret untouched: there is no digit, or the number is above max. Unlike strtoull(3) it takes no
 * blanks, no sign and no "0x".
 */
bool ctm_number_take(const char **text, int base, uint64_t max, uint64_t *ret);

/** Moves *text behind this string if it begins with it. */
bool ctm_word_take(const char **text, const char *word);

#endif
