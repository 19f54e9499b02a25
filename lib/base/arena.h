/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that is freed all at once: strings and xattr values of a plan.
 */
#ifndef CTM_BASE_ARENA_H
#define CTM_BASE_ARENA_H

#include <stddef.h>

#include "base/bytes.h"

struct ctm_arena_block;
struct ctm_spill;

/** Zero-initialise, or give it a spill before its first use. */
struct ctm_arena {
	struct ctm_arena_block *top;
	size_t used;             /* bytes handed out */
	struct ctm_spill *spill; /* where its blocks lie (base/spill.h); NULL: on the heap */
};

/** It can be used again, out of the same spill. */
void ctm_arena_done(struct ctm_arena *arena);
/** Aligned for any type; NULL when memory runs out. */
void *ctm_arena_alloc(struct ctm_arena *arena, size_t len);
/** Copies len bytes and adds a NUL. NULL when memory runs out. */
char *ctm_arena_dup(struct ctm_arena *arena, const void *p, size_t len);
/** Copies a value; an absent one (p NULL) stays absent. -ENOMEM. */
int ctm_arena_bytes(struct ctm_arena *arena, struct ctm_bytes in, struct ctm_bytes *ret);

#endif
