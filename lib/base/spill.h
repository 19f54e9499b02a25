/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory for what grows with a volume's damage and has no end that is known beforehand.
 *
 * Up to a limit it is the heap's. What is asked for beyond it lies in unlinked files, mapped
 * shared: the kernel writes their pages out and takes them back when it needs memory, so that the
 * process itself never holds more than the limit. To whoever uses it both are the same. Such files
 * are gone with the process, whatever ends it.
 *
 *	ctm_spill_new("/var/tmp", 64 << 20, &spill)
 *	struct ctm_arena arena = { .spill = spill };	    its blocks
 *	ctm_spill_push(spill, &vec, &one)		    a growing array
 *	p = ctm_spill_zeros(spill, n, sizeof(*p))	    an array for a while
 *	ctm_spill_drop(spill, p, n * sizeof(*p))
 *	ctm_spill_free(spill)				    and all that is left of it in files
 *
 * A NULL spill is the heap without a limit: nobody has to care whether there is one.
 *
 * Room in the files is reserved (fallocate(2)), so that a full disk is an error here and no SIGBUS
 * later; on a file system that cannot reserve, zeros are written. They take at most half of what
 * was free when the first of them was made. A disk that fails under a mapped page does end the
 * process; at that time nothing of a volume has been changed but by a record that is sealed.
 *
 * What lies there is believed, pointers as well. So a file is made only where nobody but this
 * kernel writes it (base/localfs.h); its name is gone at once, and it is readable for this user
 * alone.
 *
 * No child process has these mappings (MADV_DONTFORK): one that reads a hostile tree could write
 * what its parent will go by.
 *
 * For one thread.
 */
#ifndef CTM_BASE_SPILL_H
#define CTM_BASE_SPILL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct ctm_spill;

/**
 * memory: bytes of the heap. dir: where the files are made, when the first is needed; copied. NULL:
 * there is nothing beyond the limit, and what would need it fails with -EFBIG. -ENOMEM.
 */
int ctm_spill_new(const char *dir, size_t memory, struct ctm_spill **ret);
/** Accepts NULL. What it gave out of the heap is the caller's to drop; the rest is gone. */
void ctm_spill_free(struct ctm_spill *spill);
static inline void ctm_spill_freep(struct ctm_spill **spill)
{
	ctm_spill_free(*spill);
}

/** As malloc(); of a file, whole pages. NULL: see ctm_spill_error(). */
void *ctm_spill_alloc(struct ctm_spill *spill, size_t len);
/** As calloc(): an array of zeros, to be dropped as n * size bytes. */
void *ctm_spill_zeros(struct ctm_spill *spill, size_t n, size_t size);
/**
 * As realloc(): p was given out for old bytes, or is NULL. What is in a file is not copied when it
 * grows. NULL: p is as it was.
 */
void *ctm_spill_grow(struct ctm_spill *spill, void *p, size_t old, size_t len);
/** Gives back what was given out for len bytes; accepts NULL. */
void ctm_spill_drop(struct ctm_spill *spill, void *p, size_t len);

/** Whether so many bytes more would still be the heap's. */
bool ctm_spill_fits(const struct ctm_spill *spill, size_t len);
/**
 * Why there was no room in a file, since the beginning: -ENOSPC (half of what was free is used, or
 * the disk is full), -EFBIG (no directory), -EMEDIUMTYPE (a
 * file system that others may write), another errno of making or growing one; 0: nothing was
 * refused but perhaps by the heap.
 */
int ctm_spill_error(const struct ctm_spill *spill);
/** Bytes in files now. */
uint64_t ctm_spill_filed(const struct ctm_spill *spill);
/** The directory, or NULL. */
const char *ctm_spill_dir(const struct ctm_spill *spill);

/**
 * What was given out at p will be read here and there: nothing around a page is read ahead, which
 * would be megabytes on some disks. Does nothing to the heap; p may be NULL.
 */
void ctm_spill_scattered(struct ctm_spill *spill, const void *p);

/**
 * What lies in files leaves the process's resident set. It stays in the page cache as long as the
 * kernel has nothing better to do with the memory.
 */
void ctm_spill_rest(struct ctm_spill *spill);
/** The same now and then: to be called for each element of a long pass. */
void ctm_spill_pass(struct ctm_spill *spill);

/* --- growing arrays: CTM_VEC() of base/vec.h --- */

void *ctm_spill_vec_grow_(struct ctm_spill *spill, void *v, size_t *cap, size_t n, size_t size);

/** As ctm_vec_push(). -ENOMEM, whatever the reason. */
#define ctm_spill_push(spill, vec, elem)                                               \
	({                                                                             \
		__typeof__(*(vec)->v) e_ = *(elem);                                    \
		void *v_ = ctm_spill_vec_grow_(spill, (vec)->v, &(vec)->cap, (vec)->n, \
					       sizeof(__typeof__(e_)));                \
		if (v_) {                                                              \
			(vec)->v = v_;                                                 \
			(vec)->v[(vec)->n++] = e_;                                     \
		}                                                                      \
		v_ ? 0 : -ENOMEM;                                                      \
	})

#define ctm_spill_vec_done(spill, vec)                                           \
	do {                                                                     \
		ctm_spill_drop(spill, (vec)->v, (vec)->cap * sizeof(*(vec)->v)); \
		(vec)->v = NULL;                                                 \
		(vec)->n = 0;                                                    \
		(vec)->cap = 0;                                                  \
	} while (0)

#endif
