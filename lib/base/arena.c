/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that is freed all at once. Blocks grow from one page to BLOCK_MAX, so that an arena for
 * one inode stays small and one for a whole plan costs few calls of malloc(). In a file they are
 * larger: each is a mapping.
 */
#include "base/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/spill.h"

#define BLOCK_MIN  ((size_t)4096)
#define BLOCK_MAX  ((size_t)256 * 1024)
#define BLOCK_FILE ((size_t)16 << 20)

struct ctm_arena_block {
	struct ctm_arena_block *below;
	size_t size; /* of data */
	size_t used;
	_Alignas(max_align_t) unsigned char data[];
};

void ctm_arena_done(struct ctm_arena *arena)
{
	struct ctm_arena_block *block = arena->top;

	while (block) {
		struct ctm_arena_block *below = block->below;

		ctm_spill_drop(arena->spill, block, sizeof(*block) + block->size);
		block = below;
	}
	*arena = (struct ctm_arena){ .spill = arena->spill };
}

/* A block of its own for what is larger than a block should be, a fresh top for the rest. */
static void *alloc_block(struct ctm_arena *arena, size_t len)
{
	struct ctm_arena_block *top = arena->top;
	size_t size = top && top->size < BLOCK_MAX ? 2 * top->size : top ? BLOCK_MAX : BLOCK_MIN;
	struct ctm_arena_block *block;
	size_t bytes;
	bool own;

	if (!ctm_spill_fits(arena->spill, size + sizeof(*block))) {
		size = BLOCK_FILE - sizeof(*block);
	}
	own = len > size / 4;
	if (own) {
		size = len;
	}
	if (__builtin_add_overflow(sizeof(*block), size, &bytes)) {
		return NULL;
	}
	block = ctm_spill_alloc(arena->spill, bytes);
	if (!block) {
		return NULL;
	}
	/* Strings are looked at in another order than they came in. */
	ctm_spill_scattered(arena->spill, block);
	block->size = size;
	block->used = len;
	if (own && top) {
		/* the top still has room: it stays the one to be filled */
		block->below = top->below;
		top->below = block;
	} else {
		block->below = top;
		arena->top = block;
	}
	arena->used += len;
	return block->data;
}

static void *alloc_aligned(struct ctm_arena *arena, size_t len, size_t align)
{
	struct ctm_arena_block *top = arena->top;
	size_t pad;

	if (len == 0) {
		len = 1;
	}
	if (top) {
		pad = -top->used & (align - 1);
		if (pad <= top->size - top->used && len <= top->size - top->used - pad) {
			void *p = top->data + top->used + pad;

			top->used += pad + len;
			arena->used += pad + len;
			return p;
		}
	}
	return alloc_block(arena, len);
}

void *ctm_arena_alloc(struct ctm_arena *arena, size_t len)
{
	return alloc_aligned(arena, len, _Alignof(max_align_t));
}

char *ctm_arena_dup(struct ctm_arena *arena, const void *p, size_t len)
{
	char *copy;

	if (len == SIZE_MAX) {
		return NULL;
	}
	copy = alloc_aligned(arena, len + 1, 1);
	if (!copy) {
		return NULL;
	}
	if (len > 0) {
		memcpy(copy, p, len);
	}
	copy[len] = '\0';
	return copy;
}

int ctm_arena_bytes(struct ctm_arena *arena, struct ctm_bytes in, struct ctm_bytes *ret)
{
	const char *copy;

	if (!in.p) {
		*ret = (struct ctm_bytes){ 0 };
		return 0;
	}
	copy = ctm_arena_dup(arena, in.p, in.len);
	if (!copy) {
		return -ENOMEM;
	}
	*ret = (struct ctm_bytes){ .p = copy, .len = in.len };
	return 0;
}
