/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers for property tests: the same in every run, so that a failure can be repeated. Tests
 * name the round in their messages.
 */
#ifndef CTM_TESTS_PRNG_H
#define CTM_TESTS_PRNG_H

#include <stdint.h>

#define PRNG_SEED UINT64_C(0x0c0ffee123456789)

/** xorshift64*; the state must not be 0. */
static inline uint32_t prng(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

/** 0 to below - 1. */
static inline uint32_t prng_below(uint64_t *state, uint32_t below)
{
	return prng(state) % below;
}

#endif
