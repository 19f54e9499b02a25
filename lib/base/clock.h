/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time that passes, for deadlines: it does not jump when somebody sets the clock.
 */
#ifndef CTM_BASE_CLOCK_H
#define CTM_BASE_CLOCK_H

#include <stdint.h>

/** Milliseconds of CLOCK_MONOTONIC (clock_gettime(2)), whose zero means nothing. Never fails. */
int64_t ctm_clock_ms(void);

#endif
